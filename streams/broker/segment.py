"""One file of a partition's log and its sparse index: an entry about every 4 KiB, in memory, rebuilt on load."""

import mmap
import os
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from pathlib import Path

from streams.broker import batch as batches
from streams.broker.batch import HEADER_SIZE, Batch
from streams.broker.errors import BrokerFailed

INDEX_EVERY = 4096


class Segment:
    def __init__(self, directory: Path, base: int) -> None:
        self.base = base
        self.path = directory / f"{base:020d}.log"
        self.size = 0
        self.max_timestamp = -1
        self._offsets = array("q")
        self._positions = array("q")
        self._newest_before = array("q")  # max timestamp of all batches in front of the entry
        self._descriptor = -1

    def index(self, batch: Batch, offset: int) -> None:
        """Account for a batch that stands at the end of the file."""
        if not self._positions or self.size >= self._positions[-1] + INDEX_EVERY:
            self._offsets.append(offset)
            self._positions.append(self.size)
            self._newest_before.append(self.max_timestamp)
        self.size += batch.size
        self.max_timestamp = max(self.max_timestamp, batch.max_timestamp)

    def load(self, last: bool) -> Iterator[tuple[Batch, bool]]:
        """Every batch of the file with whether it commits (markers only).

        The last file of a log is checked by CRC and truncated where it stops being sound; an earlier one was synced
        when it was closed, so damage there is not a torn write and is reported instead.
        """
        length = self.path.stat().st_size
        expected = self.base
        if length:
            with self.path.open("rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as file:
                view = memoryview(file)
                for at, batch in batches.walk(view, 0, length):
                    if batch.base_offset != expected or (last and not batches.intact(view, batch, at)):
                        break
                    self.index(batch, expected)
                    yield batch, batch.control and batches.commits(view, at)
                    expected += batch.last_delta + 1
                view.release()
        if self.size < length:
            if not last:
                raise BrokerFailed(f"{self.path} is damaged at byte {self.size}; restore the file.")
            os.truncate(self.path, self.size)

    def append(self, raw: bytes) -> None:
        """Write whole or not at all; OSError when the disk refuses."""
        if self._descriptor < 0:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._descriptor = os.open(self.path, flags, 0o600)
        written = 0
        try:
            written = os.write(self._descriptor, raw)
            while written < len(raw):
                written += os.write(self._descriptor, raw[written:])
        except OSError:
            # Half a batch in the file would hide every batch appended after it.
            os.ftruncate(self._descriptor, self.size)
            raise

    def read(self, offset: int, limit: int, budget: int, whole_first: bool) -> bytes:
        """Whole batches from the one that holds `offset`, below offset `limit`, within `budget` bytes."""
        entry = bisect_right(self._offsets, offset) - 1
        start = self._positions[entry]
        window = self._pread(INDEX_EVERY + HEADER_SIZE + budget, start)
        first = end = -1
        for at in _starts(window):
            batch = batches.header(window, at)
            if batch.base_offset + batch.last_delta < offset:
                continue
            if batch.base_offset >= limit:
                break
            if first < 0:
                first = at
                if batch.size > budget or at + batch.size > len(window):
                    return self._pread(batch.size, start + at) if whole_first else b""
            if at + batch.size - first > budget or at + batch.size > len(window):
                break
            end = at + batch.size
        return window[first:end] if end > 0 else b""

    def first_at_or_after(self, timestamp: int, start: int) -> tuple[int, int]:
        """Offset and timestamp of the first record not older, from offset `start` on; (-1, -1) without one."""
        entry = max(bisect_left(self._newest_before, timestamp) - 1, 0)
        at = self._positions[entry]
        while at < self.size:
            batch = batches.header(self._pread(HEADER_SIZE, at))
            if batch.max_timestamp >= timestamp and batch.base_offset + batch.last_delta >= start:
                offset, found = batches.first_at_or_after(self._pread(batch.size, at), timestamp)
                return max(offset, start), found
            at += batch.size
        return -1, -1

    def age_from(self) -> float:
        """Seconds since the epoch of the newest record; of the last write where records carry no time."""
        return self.max_timestamp / 1000 if self.max_timestamp >= 0 else self.path.stat().st_mtime

    def close(self, sync: bool) -> None:
        if self._descriptor >= 0:
            if sync:
                os.fsync(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def remove(self) -> None:
        self.close(sync=False)
        self.path.unlink(missing_ok=True)

    def _pread(self, size: int, at: int) -> bytes:
        if self._descriptor >= 0:
            return os.pread(self._descriptor, size, at)
        # Closed segments are opened per read: a long history must not hold one descriptor per file.
        descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.pread(descriptor, size, at)
        finally:
            os.close(descriptor)


def _starts(window: bytes) -> Iterator[int]:
    """Where each batch starts whose header, at least, lies in the window."""
    at = 0
    while at + HEADER_SIZE <= len(window):
        yield at
        at += batches.header(window, at).size
