"""Append-only files: of whole pieces, or of JSON lines that survive a torn last one and are compacted by rename."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

from streams.broker.errors import BrokerFailed, Code, RequestRefused


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
        """All lines; a torn last one is truncated, so that nothing is appended to it."""
        path = self._file.path
        raw = path.read_bytes() if path.exists() else b""
        entries, sound = [], 0
        for line in raw.splitlines(keepends=True):
            try:
                if not line.endswith(b"\n"):
                    break
                entries.append(orjson.loads(line))
            except orjson.JSONDecodeError as e:
                if sound + len(line) < len(raw):
                    raise BrokerFailed(f"{path} is damaged at byte {sound}; restore the file.") from e
                break
            sound += len(line)
        if sound < len(raw):
            os.truncate(path, sound)
        self._file.size, self.lines = sound, len(entries)
        return entries

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
        path = self._file.path
        fresh = AppendFile(path.with_suffix(".new"))
        fresh.remove()
        try:
            fresh.append(b"".join(lines))
        finally:
            fresh.close()
        self.close()
        fresh.path.rename(path)
        sync_directory(path.parent)
        self._file.size, self.lines = fresh.size, len(lines)

    def close(self) -> None:
        self._file.close()


def sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
