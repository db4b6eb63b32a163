"""An append-only file of JSON lines that survives a torn last line and is compacted by rename."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

from streams.broker.errors import BrokerFailed, Code, RequestRefused


class Journal:
    """Lines go to the operating system at once; `sync=True` also to the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1
        self._size = 0
        self.lines = 0

    def replay(self) -> list[Any]:
        """Every line ever appended; a torn last one is cut off, so that nothing is appended behind it."""
        raw = self._path.read_bytes() if self._path.exists() else b""
        entries, sound = [], 0
        for line in raw.splitlines(keepends=True):
            try:
                if not line.endswith(b"\n"):
                    break
                entries.append(orjson.loads(line))
            except orjson.JSONDecodeError as e:
                if sound + len(line) < len(raw):
                    raise BrokerFailed(f"{self._path} is damaged at byte {sound}; restore the file.") from e
                break
            sound += len(line)
        if sound < len(raw):
            os.truncate(self._path, sound)
        self._size, self.lines = sound, len(entries)
        return entries

    def append(self, entries: Iterable[Any], sync: bool = False) -> None:
        if self._descriptor < 0:
            self._descriptor = _open(self._path, os.O_APPEND)
        lines = _lines(entries)
        raw = b"".join(lines)
        try:
            _write(self._descriptor, raw)
        except OSError as e:
            # Half a line would damage the file as soon as the next one follows it.
            os.ftruncate(self._descriptor, self._size)
            raise RequestRefused(Code.KAFKA_STORAGE_ERROR, str(e)) from e
        self._size += len(raw)
        self.lines += len(lines)
        if sync:
            os.fsync(self._descriptor)

    def rewrite(self, entries: Iterable[Any]) -> None:
        """Replace all lines by these, at once or not at all."""
        fresh = self._path.with_suffix(".new")
        lines = _lines(entries)
        descriptor = _open(fresh, os.O_TRUNC)
        try:
            _write(descriptor, b"".join(lines))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        self.close()
        fresh.rename(self._path)
        sync_directory(self._path.parent)
        self._size, self.lines = sum(map(len, lines)), len(lines)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.fsync(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1


def sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _lines(entries: Iterable[Any]) -> list[bytes]:
    return [orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE) for entry in entries]


def _open(path: Path, flags: int) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | flags, 0o600)


def _write(descriptor: int, raw: bytes) -> None:
    while raw:
        raw = raw[os.write(descriptor, raw) :]
