"""One file of a partition's log and its sparse index: an entry about every 4 KiB, in memory, rebuilt on load."""

import mmap
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from pathlib import Path

from streams.broker import batch as batches
from streams.broker.batch import HEADER_SIZE, Batch
from streams.broker.errors import BrokerFailed
from streams.broker.journal import AppendFile

INDEX_EVERY = 4096


class Segment:
    def __init__(self, directory: Path, base: int) -> None:
        self.base = base
        self.size = 0
        self.max_timestamp = -1
        self._file = AppendFile(directory / f"{base:020d}.log")
        self._offsets = array("q")
        self._positions = array("q")
        self._newest_before = array("q")  # max timestamp of all batches in front of the entry

    def load(self, last: bool) -> Iterator[Batch]:
        """Every batch of the file.

        The last file of a log is checked by CRC and truncated where it stops being sound; an earlier one was synced
        when it was closed, so damage there is not a torn write and is reported instead.
        """
        path = self._file.path
        length = path.stat().st_size
        expected = self.base
        if length:
            with path.open("rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as file:
                view = memoryview(file)
                for at, batch in batches.walk(view, 0, length):
                    if batch.base_offset != expected or (last and not batches.intact(view, batch, at)):
                        break
                    self._index(batch, expected)
                    yield batch
                    expected += batch.last_delta + 1
                view.release()
        if self.size < length and not last:
            raise BrokerFailed(f"{path} is damaged at byte {self.size}; restore the file.")
        self._file.cut(self.size)

    def append(self, batch: Batch, raw: bytes, offset: int) -> None:
        """Write whole or not at all; OSError when the disk refuses."""
        self._file.append(raw)
        self._index(batch, offset)

    def create(self) -> None:
        self._file.append(b"")

    def _index(self, batch: Batch, offset: int) -> None:
        if not self._positions or self.size >= self._positions[-1] + INDEX_EVERY:
            self._offsets.append(offset)
            self._positions.append(self.size)
            self._newest_before.append(self.max_timestamp)
        self.size += batch.size
        self.max_timestamp = max(self.max_timestamp, batch.max_timestamp)

    def read(self, offset: int, budget: int, whole_first: bool) -> bytes:
        """Whole batches from the one that holds `offset`, within `budget` bytes."""
        entry = self._positions[bisect_right(self._offsets, offset) - 1]
        start, first = next((at, batch) for at, batch in self._batches(entry) if batch.last_offset >= offset)
        if first.size > budget:
            return self._file.read(first.size, start) if whole_first else b""
        end = self.size
        if start + budget < end:
            entry = self._positions[bisect_right(self._positions, start + budget) - 1]
            end = next(at for at, b in self._batches(max(entry, start)) if at + b.size > start + budget)
        return self._file.read(end - start, start)

    def first_at_or_after(self, timestamp: int) -> tuple[int, int]:
        """Offset and timestamp of the first record not older; (-1, -1) without one."""
        entry = max(bisect_left(self._newest_before, timestamp) - 1, 0)
        for at, batch in self._batches(self._positions[entry]):
            if batch.max_timestamp >= timestamp:
                return batches.first_at_or_after(self._file.read(batch.size, at), timestamp)
        return -1, -1

    def _batches(self, at: int) -> Iterator[tuple[int, Batch]]:
        """Position and header of each batch from this position on."""
        while at < self.size:
            window, start = self._file.read(INDEX_EVERY, at), at
            while at - start + HEADER_SIZE <= len(window):
                batch = batches.header(window, at - start)
                yield at, batch
                at += batch.size

    def age_from(self) -> float:
        """Seconds since the epoch of the newest record; of the last write where records carry no time."""
        return self.max_timestamp / 1000 if self.max_timestamp >= 0 else self._file.path.stat().st_mtime

    def close(self, sync: bool) -> None:
        if sync:
            self._file.sync()
        self._file.close()

    def remove(self) -> None:
        self._file.close()
        self._file.path.unlink(missing_ok=True)
