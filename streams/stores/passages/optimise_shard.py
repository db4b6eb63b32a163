"""`python -m streams.stores.passages.optimise_shard SHARD`: copy a shard when told where to, and optimise the copy.

Not for hands: `edge_optimiser` starts it, and lets nothing be written to the shard until `COPIED`.
Its parent's death ends it; the exit code is 0 when the copy is whole, and on the disk.
"""

import ctypes
import errno
import os
import shutil
import signal
import sys
from pathlib import Path

import qdrant_edge as edge

COPY, COPIED = b"copy to ", b"copied\n"
PR_SET_PDEATHSIG = 1
# The copy, and what its new segments take beside the old ones while they are made.
ROOM = 3
NICE = 19
BLOCK = 2**20


def main() -> int:
    source = Path(sys.argv[1])
    _end_with_parent()
    os.nice(NICE)
    asked = sys.stdin.buffer.readline()
    if not asked.startswith(COPY):
        return 1
    target = Path(os.fsdecode(asked.removeprefix(COPY).removesuffix(b"\n")))
    if shutil.disk_usage(source.parent).free < ROOM * _size(source):
        return 1
    shutil.copytree(source, target, copy_function=_copy)
    sys.stdout.buffer.write(COPIED)
    sys.stdout.buffer.flush()
    shard = edge.EdgeShard.load(str(target))
    shard.optimize()
    shard.flush()
    shard.close()
    for path in (*_files(target), target.parent):
        _sync(path)
    return 0


def _end_with_parent() -> None:
    # The engine computes under Python's lock: a thread that watches the parent would not have its turn.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _copy(source: str, target: str) -> None:
    """A file without its holes: the engine makes many, of 32 MB each."""
    with Path(source).open("rb") as old, Path(target).open("wb") as new:
        new.truncate(os.fstat(old.fileno()).st_size)
        at = 0
        while (found := _filled(old.fileno(), at)) is not None:
            for start in range(*found, BLOCK):
                os.pwrite(new.fileno(), os.pread(old.fileno(), min(BLOCK, found[1] - start), start), start)
            at = found[1]


def _filled(file: int, at: int) -> tuple[int, int] | None:
    """Where the next part of a file begins and ends that is no hole."""
    try:
        start = os.lseek(file, at, os.SEEK_DATA)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return None
        raise
    return start, os.lseek(file, start, os.SEEK_HOLE)


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def _size(folder: Path) -> int:
    """Bytes that its files take on the disk, without the holes in them."""
    return sum(path.stat().st_blocks * 512 for path in _files(folder))


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


if __name__ == "__main__":
    sys.exit(main())
