"""Commands and paths as they can be typed where Fathom was started."""

import shlex
import shutil
import sys
from pathlib import Path


def fathom_command() -> str:
    """`fathom` where that is on the PATH, else the path of the one beside this Python, from the current folder."""
    beside = Path(sys.executable).with_name("fathom")
    found = shutil.which("fathom")
    if not beside.exists():
        return "fathom" if found else f"{Path(sys.executable).name} -m streams"
    if found and Path(found).samefile(beside):
        return "fathom"
    return from_here(beside)


def from_here(path: Path) -> str:
    """A path as it can be typed: relative where it is in the current folder, quoted where it must be."""
    here = Path.cwd()
    return shlex.quote(str(path.relative_to(here) if path.is_relative_to(here) else path))
