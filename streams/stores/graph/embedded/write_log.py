"""SQLite's log of writes beside a database, as https://www.sqlite.org/fileformat2.html#walformat describes it."""

import struct
from pathlib import Path

HEADER_BYTES = 32
PAGE_BYTES = 4096
# Page number, pages of the database after a commit (else 0), salt of the log, checksums.
FRAME, FRAME_BYTES = struct.Struct(">II8s8x"), 24


def size(database: Path) -> int:
    """How many bytes the log has."""
    try:
        return _beside(database).stat().st_size
    except FileNotFoundError:
        return 0


def committed_pages(database: Path) -> int:
    """How many pages the log has up to its last commit, readable or not.

    SQLite reads a log up to the first page with a wrong checksum, and says nothing of what follows.
    """
    if not size(database):
        return 0
    last, salt = 0, None
    with _beside(database).open("rb") as log:
        log.seek(HEADER_BYTES)
        number = 0
        while len(header := log.read(FRAME_BYTES)) == FRAME_BYTES:
            number += 1
            _, commits, own = FRAME.unpack(header)
            salt = own if salt is None else salt
            if commits and own == salt:
                last = number
            log.seek(PAGE_BYTES, 1)
    return last


def _beside(database: Path) -> Path:
    return database.with_name(f"{database.name}-wal")
