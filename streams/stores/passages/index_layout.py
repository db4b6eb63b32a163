"""How the embedded index lies on disk; one from an earlier version is a view like any other, and is made anew."""

import shutil
from pathlib import Path

from agents.ports.models import Embedder
from streams.stores.ownership import Ownership
from streams.stores.passages.points import COLLECTIONS, TERMS, IncompatibleIndex

NOTE = "embedder"
# How vectors are coded beside themselves; without their codes a search takes twice as long.
CODES = "turbo_4"


def note_of(embedder: str, size: int) -> str:
    """What the note of an index says: whose vectors, of how many numbers, and by which rule its terms were made."""
    return f"{embedder} {size} {CODES} {TERMS}"


def check(directory: Path, embedder: Embedder) -> None:
    """Leave the note in a new directory; raises `IncompatibleIndex` where it says that the points are others."""
    note, used = directory / NOTE, note_of(type(embedder).__name__, embedder.size)
    if not note.exists():
        note.write_text(used)
    elif note.read_text() != used:
        raise IncompatibleIndex(
            f"{directory} was written with {note.read_text()}, not {used}: remove it, then fill it again with "
            "`fathom replay --mode rebuild`"
        )


def clear_if_outdated(directory: Path) -> bool:
    """Remove the points of an index whose terms another version made, so that the log fills it again; whether it was.

    Raises `DirectoryInUse`. An index of other vectors is left alone: whoever chose another model may go back.
    """
    note = directory / NOTE
    if not note.exists() or {CODES, TERMS} <= {*note.read_text().split()}:
        return False
    owned = Ownership(directory)
    try:
        # The note last: a death before it leaves an index that is still outdated.
        for name in COLLECTIONS:
            for path in (*directory.glob(name), *directory.glob(f"{name}-*"), *directory.glob(f"{name}.at*")):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        note.unlink()
    finally:
        owned.release()
    return True
