"""The log of one partition: segments on disk, and whoever waits for more.

An append is one write to the operating system's page cache: killing the broker loses nothing it acknowledged.
Files are synced when a segment is closed and on a clean stop, not per append: a power cut may cost the last moments.
"""

import asyncio
import time
from bisect import bisect_right
from pathlib import Path

from streams.broker import batch as batches
from streams.broker.batch import Batch
from streams.broker.errors import BrokerFailed, Code, RequestRefused
from streams.broker.journal import sync_directory
from streams.broker.producers import Producers
from streams.broker.segment import Segment


class PartitionLog:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._segments: list[Segment] = []
        self._producers = Producers()
        self.waiting: set[asyncio.Event] = set()  # set when there is more to read, or nothing any more
        self.end = 0
        self._load()

    def _load(self) -> None:
        bases = sorted(int(path.stem) for path in self._directory.glob("*.log"))
        for base in bases:
            segment = Segment(self._directory, base)
            if self._segments and base != self.end:
                raise BrokerFailed(f"{self._directory} lacks offsets {self.end} to {base}; restore the file.")
            self.end = base
            for batch in segment.load(last=base == bases[-1]):
                self._producers.record(batch, self.end, max(batch.max_timestamp, 0))
                self.end += batch.last_delta + 1
            self._segments.append(segment)

    @property
    def start(self) -> int:
        return self._segments[0].base if self._segments else self.end

    def append(self, batch: Batch, records: bytes, segment_bytes: int) -> int:
        """The base offset of the batch: a new one, or the one it got when it was sent before."""
        repeated = self._producers.repeated(batch)
        if repeated is not None:
            return repeated
        offset = self.end
        try:
            self._active(len(records), segment_bytes).append(batch, batches.rebase(records, offset), offset)
        except OSError as e:
            raise RequestRefused(Code.KAFKA_STORAGE_ERROR, str(e)) from e
        self.end += batch.last_delta + 1
        self._producers.record(batch, offset, time.time_ns() // 1_000_000)
        self._wake()
        return offset

    def _active(self, incoming: int, segment_bytes: int) -> Segment:
        if not self._segments:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._segments.append(Segment(self._directory, self.end))
        segment = self._segments[-1]
        return self._roll() if segment.size and segment.size + incoming > segment_bytes else segment

    def _roll(self) -> Segment:
        self._segments[-1].close(sync=True)
        segment = Segment(self._directory, self.end)
        # The file's name keeps the end offset, even after everything in front of it was removed.
        segment.create()
        sync_directory(self._directory)
        self._segments.append(segment)
        return segment

    def read(self, offset: int, budget: int, whole_first: bool) -> bytes:
        """Whole batches within `budget` bytes; the first even if larger, when `whole_first`."""
        if offset >= self.end:
            return b""
        at = bisect_right(self._segments, offset, key=lambda segment: segment.base) - 1
        try:
            return self._segments[at].read(offset, max(budget, 0), whole_first)
        except OSError as e:
            raise RequestRefused(Code.KAFKA_STORAGE_ERROR, str(e)) from e

    def first_at_or_after(self, timestamp: int) -> tuple[int, int]:
        """Offset and timestamp of the first record not older than this, (-1, -1) where there is none."""
        newer = (segment for segment in self._segments if segment.max_timestamp >= timestamp)
        found = next(newer, None)
        return (-1, -1) if found is None else found.first_at_or_after(timestamp)

    def retain(self, retention_ms: int, retention_bytes: int, now: float) -> None:
        """Remove the oldest files beyond age or size; -1 is no limit."""

        def expired(segment: Segment) -> bool:
            return retention_ms >= 0 and segment.size > 0 and now - segment.age_from() > retention_ms / 1000

        if self._segments and expired(self._segments[-1]):
            self._roll()
        size = sum(segment.size for segment in self._segments)
        while len(self._segments) > 1:
            oldest = self._segments[0]
            size -= oldest.size
            if not expired(oldest) and not 0 <= retention_bytes <= size:
                break
            self._segments.pop(0).remove()
        self._producers.forget_idle(int(now * 1000))

    def _wake(self) -> None:
        for event in self.waiting:
            event.set()

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
