"""Where this checkout is: for tests that read its files or run commands in it."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
