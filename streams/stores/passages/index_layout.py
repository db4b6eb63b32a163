"""Version note of the embedded index's directory: an index that another version wrote is emptied and rebuilt."""

import contextlib
import ctypes
import mmap
import shutil
from collections.abc import Mapping
from pathlib import Path

import orjson

from agents.ports.models import Embedder
from streams.stores.damage import mark_unfilled
from streams.stores.ownership import Ownership
from streams.stores.passages.points import COLLECTIONS, TERMS, IncompatibleIndex

NOTE, POINTS = "embedder", "points"
# The codes that are kept beside the vectors; without them a search takes twice as long.
CODES = "turbo_4"
# The engine's own settings of a shard. It takes the size of its write-ahead log from this file alone.
SHARD = "edge_config.json"
LOG = {"segment_capacity": 4 << 20, "segment_queue_len": 0, "retain_closed": 1}


def note_of(embedder: str, size: int) -> str:
    """The text of the note: embedder, vector size, code of vectors, rule of terms."""
    return f"{embedder} {size} {CODES} {TERMS}"


def check(directory: Path, embedder: Embedder) -> None:
    """Write the note into a new directory; raises `IncompatibleIndex` where it differs from what is used now."""
    note, used = directory / NOTE, note_of(type(embedder).__name__, embedder.size)
    if not note.exists():
        note.write_text(used)
    elif (written := _written(note)) != used:
        raise IncompatibleIndex(
            f"{directory} was written with {written}, not {used}: remove it, then fill it again with "
            "`fathom replay --mode rebuild`"
        )


def clear_if_outdated(directory: Path) -> bool:
    """Remove the points of an index that an earlier version wrote, and mark it unfilled; true if there was one.

    Raises `DirectoryInUse`. An index of another embedder stays: a user who chose another model may go back.
    """
    note = directory / NOTE
    if not note.exists() or {CODES, TERMS} <= {*_written(note).split()}:
        return False
    owned = Ownership(directory)
    try:
        mark_unfilled(directory)
        # The note last: a death before it leaves an index that is still outdated.
        for name in COLLECTIONS:
            for path in (*directory.glob(name), *directory.glob(f"{name}-*"), *directory.glob(f"{name}.at*")):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        note.unlink()
    finally:
        owned.release()
    return True


def bound_log(shard: Path) -> None:
    """Let a shard's write-ahead log grow by files of 4 MB; makes the directory of a new shard.

    By default they have 32 MB, one that was flushed stays, and an opening reads all of them into memory.
    """
    file = shard / SHARD
    settings = orjson.loads(file.read_bytes()) if file.exists() else {}
    if settings.get("wal_options") != LOG:
        shard.mkdir(exist_ok=True)
        fresh = file.with_suffix(".fresh")
        fresh.write_bytes(orjson.dumps({**settings, "wal_options": LOG}))
        fresh.replace(file)


def unmap_what_opening_read(directory: Path) -> None:
    """Give back the pages of the index's files that the engine read as it opened them, on Linux.

    It reads whole files, most of them holes: 2 to 4 MB for each field of each collection, with nothing in them.
    What a search needs is mapped again when it is read; nothing is lost, for the pages belong to files.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    with contextlib.suppress(FileNotFoundError), open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            place, *_, path = line.rstrip("\n").split(maxsplit=5)
            if Path(path).is_relative_to(directory):
                start, end = (int(each, 16) for each in place.split("-"))
                libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), mmap.MADV_DONTNEED)


def note_points(directory: Path, sizes: Mapping[str, int]) -> None:
    """Note how many points each collection has when it is closed: the engine opens some damaged files with fewer."""
    (directory / POINTS).write_bytes(orjson.dumps(sizes))


def lacks_points(directory: Path, sizes: Mapping[str, int]) -> bool:
    """Whether a collection has fewer points than when it was closed in order; the note is of use once."""
    note = directory / POINTS
    try:
        closed = orjson.loads(note.read_bytes())
    except FileNotFoundError:
        return False  # the process was killed, and the engine's own log has what it had not written
    except orjson.JSONDecodeError:
        return True
    note.unlink()
    return any(sizes.get(name, 0) < count for name, count in closed.items())


def _written(note: Path) -> str:
    # What is no text is no version that we know.
    return note.read_text(errors="replace")
