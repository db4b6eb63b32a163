"""Append-only files: of whole pieces, or of JSON lines that survive a torn last one and are compacted by rename."""

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from streams.broker.errors import BrokerFailed, Code, RequestRefused

LOGGER = logging.getLogger("fathom.broker")
# What is kept of a damaged file, beside it, until somebody removes it.
DAMAGED = ".damaged"
RESTORE = "take the file from a backup, or take that line out of it: `up` makes its own topics again with their records"


@contextmanager
def named(path: Path) -> Iterator[None]:
    """The use of a descriptor: its errors name the file."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


class AppendFile:
    """A private file of `size` bytes, opened on the first append; pieces go to the operating system at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self._descriptor = -1

    def append(self, piece: bytes) -> None:
        """Write all or nothing; OSError when the disk refuses."""
        if self._descriptor < 0:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._descriptor = os.open(self.path, flags, 0o600)
        written = 0
        try:
            with named(self.path):
                while written < len(piece):
                    written += os.write(self._descriptor, piece[written:])
        except OSError:
            # A partial piece would corrupt the file as soon as the next one follows it.
            os.ftruncate(self._descriptor, self.size)
            raise
        self.size += len(piece)

    def read(self, size: int, at: int) -> bytes:
        if self._descriptor >= 0:
            return os.pread(self._descriptor, size, at)
        # Files that are not written are opened per read: a long history must not hold one descriptor per file.
        with self.path.open("rb", buffering=0) as file:
            return os.pread(file.fileno(), size, at)

    def sync(self) -> None:
        if self._descriptor >= 0:
            with named(self.path):
                os.fsync(self._descriptor)

    def close(self, sync: bool = True) -> None:
        if self._descriptor >= 0:
            if sync:
                self.sync()
            os.close(self._descriptor)
            self._descriptor = -1

    def remove(self) -> None:
        self.close(sync=False)
        self.path.unlink(missing_ok=True)


class Journal:
    """A file of JSON lines, written to the operating system at once; `sync=True` also to the disk."""

    def __init__(self, path: Path) -> None:
        self._file = AppendFile(path)
        self.lines = 0

    def replay(self) -> list[Any]:
        """All lines; a torn last one is truncated, so that nothing follows it. Raises `BrokerFailed` for damage."""
        entries, damaged = self._read()
        for at in damaged:
            raise BrokerFailed(f"{self._file.path} is damaged at byte {at}; {RESTORE}")
        return entries

    def salvage(self, fits: Callable[[Any], bool]) -> list[Any]:
        """All whole lines that fit; where there are others, too, the file is kept beside it as it was."""
        entries, damaged = self._read(fits)
        if damaged:
            path = self._file.path
            kept = path.with_name(f"{path.name}{DAMAGED}")
            replace_file(kept, path.read_bytes())
            LOGGER.error(
                "%s is damaged at byte %d: %d of its lines are left out, the file as it was is %s; %s",
                path, damaged[0], len(damaged), kept, "see docs/backup.md#damaged-files, and remove it when you have",
            )  # fmt: skip
            self.rewrite(entries)
        return entries

    def _read(self, fits: Callable[[Any], bool] = lambda _: True) -> tuple[list[Any], list[int]]:
        """The whole lines, and where others begin; a torn last one is truncated."""
        path = self._file.path
        raw = path.read_bytes() if path.exists() else b""
        entries, damaged, at, sound = [], [], 0, 0
        for line in raw.splitlines(keepends=True):
            try:
                entry = orjson.loads(line) if line.endswith(b"\n") else None
            except orjson.JSONDecodeError:
                entry = None
            if entry is not None and fits(entry):
                entries.append(entry)
                sound = at + len(line)
            else:
                damaged.append(at)
            at += len(line)
        # A line behind which nothing is whole may be of a write that was interrupted.
        damaged = [each for each in damaged if each < sound]
        if sound < len(raw):
            os.truncate(path, sound)
        self._file.size, self.lines = sound, len(entries)
        return entries, damaged

    def append(self, entries: Iterable[object], sync: bool = False) -> None:
        lines = [orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE) for entry in entries]
        try:
            self._file.append(b"".join(lines))
        except OSError as e:
            raise RequestRefused(Code.KAFKA_STORAGE_ERROR, str(e)) from e
        self.lines += len(lines)
        if sync:
            self._file.sync()

    def rewrite(self, entries: Iterable[object]) -> None:
        """Replace all lines by these, atomically."""
        lines = [orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE) for entry in entries]
        content = b"".join(lines)
        self.close(sync=False)
        replace_file(self._file.path, content)
        self._file.size, self.lines = len(content), len(lines)

    def sync(self) -> None:
        self._file.sync()

    def close(self, sync: bool = True) -> None:
        self._file.close(sync)


def replace_file(path: Path, content: bytes, sync: bool = True) -> None:
    """Put a private file of this content in the place of a file, wholly or not at all; with `sync` on the disk."""
    fresh = AppendFile(path.with_name(f"{path.name}.new"))
    fresh.remove()
    try:
        fresh.append(content)
    finally:
        fresh.close(sync)
    fresh.path.rename(path)
    if sync:
        sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with named(path):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
