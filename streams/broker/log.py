"""The log of one partition: segments on disk, the newest batches also in memory, and whoever waits for more.

An append is one write to the operating system's page cache: killing the broker loses nothing it acknowledged.
Files are synced when a segment is closed and on a clean stop, not per append: a power cut may cost the last moments.
"""

import time
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path

from streams.broker import batch as batches
from streams.broker.batch import Batch
from streams.broker.errors import BrokerFailed, Code, RequestRefused
from streams.broker.journal import sync_directory
from streams.broker.producers import Producers
from streams.broker.segment import Segment

TAIL_BYTES = 65_536
UNLIMITED = -1


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class PartitionLog:
    def __init__(self, directory: Path, start: int = 0) -> None:
        self._directory = directory
        self._segments: list[Segment] = []
        self._tail: list[bytes] = []
        self._tail_offsets: list[int] = []
        self._tail_size = 0
        self.producers = Producers()
        self.waiting: set[Callable[[], None]] = set()
        self.start = start
        self.end = 0
        self._load()

    def _load(self) -> None:
        bases = sorted(int(path.stem) for path in self._directory.glob("*.log"))
        for base in bases:
            segment = Segment(self._directory, base)
            if self._segments and base != self.end:
                raise BrokerFailed(f"{self._directory} lacks offsets {self.end} to {base}; restore the file.")
            self.end = base
            for batch, commit in segment.load(last=base == bases[-1]):
                seen = max(batch.max_timestamp, 0)
                if batch.control:
                    self.producers.end(batch, self.end, commit, seen)
                else:
                    self.producers.record(batch, self.end, seen)
                self.end += batch.last_delta + 1
            self._segments.append(segment)
        self.start = min(max(self.start, bases[0] if bases else 0), self.end)

    @property
    def last_stable(self) -> int:
        return self.producers.last_stable(self.end) if self.producers.open else self.end

    @property
    def size(self) -> int:
        return sum(segment.size for segment in self._segments)

    def append(self, batch: Batch, records: bytes, segment_bytes: int) -> int:
        """The base offset of the batch: a new one, or the one it got when it was sent before."""
        if batch.producer_id >= 0:
            repeated = self.producers.repeated(batch)
            if repeated is not None:
                return repeated
        offset = self._store(batch, records, segment_bytes)
        self.producers.record(batch, offset, now_ms())
        self._wake()
        return offset

    def append_marker(self, producer_id: int, epoch: int, commit: bool, segment_bytes: int) -> None:
        raw = batches.marker(producer_id, epoch, commit, now_ms())
        batch = batches.header(raw)
        self.producers.end(batch, self._store(batch, raw, segment_bytes), commit, now_ms())
        self._wake()

    def _store(self, batch: Batch, records: bytes, segment_bytes: int) -> int:
        offset = self.end
        raw = batches.rebase(records, offset)
        try:
            segment = self._active(len(raw), segment_bytes)
            segment.append(raw)
        except OSError as e:
            raise RequestRefused(Code.KAFKA_STORAGE_ERROR, str(e)) from e
        segment.index(batch, offset)
        self.end += batch.last_delta + 1
        self._remember(raw, offset)
        return offset

    def _active(self, incoming: int, segment_bytes: int) -> Segment:
        if not self._segments:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._segments.append(Segment(self._directory, self.end))
        segment = self._segments[-1]
        if segment.size and segment.size + incoming > segment_bytes:
            segment = self._roll()
        return segment

    def _roll(self) -> Segment:
        self._segments[-1].close(sync=True)
        segment = Segment(self._directory, self.end)
        # The file's name keeps the end offset, even after everything in front of it was removed.
        segment.append(b"")
        sync_directory(self._directory)
        self._segments.append(segment)
        return segment

    def _remember(self, raw: bytes, offset: int) -> None:
        self._tail.append(raw)
        self._tail_offsets.append(offset)
        self._tail_size += len(raw)
        if self._tail_size > TAIL_BYTES:
            drop = 0
            while self._tail_size > TAIL_BYTES // 2 and drop < len(self._tail):
                self._tail_size -= len(self._tail[drop])
                drop += 1
            del self._tail[:drop], self._tail_offsets[:drop]

    def read(self, offset: int, limit: int, budget: int, whole_first: bool) -> bytes:
        """Whole batches below `limit` within `budget` bytes; the first even if larger, when `whole_first`."""
        if offset >= limit:
            return b""
        if self._tail_offsets and offset >= self._tail_offsets[0]:
            return self._read_tail(offset, limit, budget, whole_first)
        at = bisect_right(self._segments, offset, key=lambda s: s.base) - 1
        try:
            return self._segments[at].read(offset, limit, max(budget, 0), whole_first)
        except OSError as e:
            raise RequestRefused(Code.KAFKA_STORAGE_ERROR, str(e)) from e

    def _read_tail(self, offset: int, limit: int, budget: int, whole_first: bool) -> bytes:
        first = at = bisect_right(self._tail_offsets, offset) - 1
        size = 0
        while at < len(self._tail) and self._tail_offsets[at] < limit:
            size += len(self._tail[at])
            if size > budget and not (whole_first and at == first):
                break
            at += 1
        return b"".join(self._tail[first:at])

    def first_at_or_after(self, timestamp: int) -> tuple[int, int]:
        """Offset and timestamp of the first record not older than this, (-1, -1) where there is none."""
        for segment in self._segments:
            if segment.max_timestamp >= timestamp:
                offset, found = segment.first_at_or_after(timestamp, self.start)
                if offset >= 0:
                    return offset, found
        return -1, -1

    def retain(self, retention_ms: int, retention_bytes: int, now: float) -> int:
        """Remove the oldest files beyond age or size, as far as no open transaction needs them; the new start."""
        if retention_ms >= 0 and self._segments:
            newest = self._segments[-1]
            if newest.size and now - newest.age_from() > retention_ms / 1000:
                self._roll()
        while len(self._segments) > 1 and self._segments[1].base <= self.last_stable:
            oldest = self._segments[0]
            expired = retention_ms >= 0 and now - oldest.age_from() > retention_ms / 1000
            oversized = 0 <= retention_bytes <= self.size - oldest.size
            if not (expired or oversized):
                break
            self._drop_oldest()
        self.producers.forget(self.start, int(now * 1000))
        return self.start

    def advance_start(self, offset: int) -> None:
        """Hide everything below the offset, and remove the files that hold nothing else."""
        self.start = max(self.start, offset)
        while len(self._segments) > 1 and self._segments[1].base <= self.start:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        self._segments.pop(0).remove()
        self.start = max(self.start, self._segments[0].base)
        if self._tail_offsets and self._tail_offsets[0] < self.start:
            keep = bisect_right(self._tail_offsets, self.start - 1)
            self._tail_size -= sum(map(len, self._tail[:keep]))
            del self._tail[:keep], self._tail_offsets[:keep]

    def _wake(self) -> None:
        if self.waiting:
            waiting, self.waiting = self.waiting, set()
            for wake in waiting:
                wake()

    def close(self, sync: bool = True) -> None:
        for segment in self._segments:
            segment.close(sync)
        self._wake()

    def remove(self) -> None:
        self.close(sync=False)
        for segment in self._segments:
            segment.remove()
        if self._directory.is_dir():
            self._directory.rmdir()
