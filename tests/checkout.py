"""Where this checkout is: for tests that read its files or run commands in it."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# The end of a command that hangs, in seconds: on a machine ten times slower than usual every command ends before.
HANG_S = 240
