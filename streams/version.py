"""The running version; imports next to nothing, because `--version` waits for it."""

import re
from importlib import metadata
from pathlib import Path

DISTRIBUTION = "fathom-context"


def version() -> str:
    """The version of the installed distribution, or of the checkout this file lies in."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return _of_checkout(Path(__file__).parents[1] / "pyproject.toml")


def _of_checkout(project: Path) -> str:
    try:
        found = re.search(r'^version = "(.+)"$', project.read_text(), re.MULTILINE)
    except OSError:
        return "unknown"
    return found.group(1) if found else "unknown"
