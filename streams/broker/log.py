"""The log of one partition: segments on disk, and readers waiting for more.

An append is one write to the operating system's page cache: killing the broker loses no acknowledged record.
Files are synced when a segment is closed and on a clean stop, not per append: a power cut may lose the last moments.
"""

import asyncio
import os
from array import array
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from streams.broker import batch as batches
from streams.broker.errors import BrokerFailed, Code, RequestRefused
from streams.broker.journal import AppendFile, sync_directory
from streams.kafka.record_batches import CONTROL, HEADER_SIZE, Batch, header, intact

INDEX_EVERY = 4096
MAX_PRODUCERS = 1_000
MAX_SEQUENCE = 0x7FFFFFFF
MAX_BATCHES = 5  # the maximum of a client's batches in flight, as in Kafka


class Segment(AppendFile):
    """One file of the log and its sparse index: an entry about every 4 KiB, in memory, rebuilt on load."""

    def __init__(self, directory: Path, base: int) -> None:
        super().__init__(directory / f"{base:020d}.log")
        self.base = base
        self.max_timestamp = -1
        self._offsets = array("q")
        self._positions = array("q")
        self._newest_before = array("q")  # maximum timestamp of all batches before the entry

    def load(self, last: bool) -> Iterator[Batch]:
        """Every batch of the file.

        The last file of a log is checked by CRC and truncated at the first invalid batch; an earlier one was synced
        when it was closed, so damage there is not a torn write and is reported instead.
        """
        raw, expected = self.path.read_bytes(), self.base
        for at, batch in batches.walk(raw, 0, len(raw)):
            if batch.base_offset != expected or (last and not intact(raw, batch, at)):
                break
            self._index(batch, expected, at)
            yield batch
            self.size = at + batch.size
            expected += batch.last_delta + 1
        if self.size < len(raw):
            if not last:
                raise BrokerFailed(f"{self.path} is damaged at byte {self.size}; restore the file.")
            os.truncate(self.path, self.size)

    def add(self, batch: Batch, records: bytes, offset: int) -> None:
        """Write all or nothing; OSError when the disk refuses."""
        at = self.size
        # The CRC starts after the base offset, so it stays valid.
        self.append(offset.to_bytes(8, "big") + records[8:])
        self._index(batch, offset, at)

    def _index(self, batch: Batch, offset: int, at: int) -> None:
        if not self._positions or at >= self._positions[-1] + INDEX_EVERY:
            self._offsets.append(offset)
            self._positions.append(at)
            self._newest_before.append(self.max_timestamp)
        self.max_timestamp = max(self.max_timestamp, batch.max_timestamp)

    def records_from(self, offset: int, budget: int, whole_first: bool) -> bytes:
        """Whole batches from the one that contains `offset`, within `budget` bytes."""
        entry = self._positions[bisect_right(self._offsets, offset) - 1]
        start, first = next(
            (at, batch) for at, batch in self._batches(entry) if batch.base_offset + batch.last_delta >= offset
        )
        if first.size > budget:
            return self.read(first.size, start) if whole_first else b""
        end, limit = self.size, start + budget
        if limit < end:
            entry = self._positions[bisect_right(self._positions, limit) - 1]
            end = next(at for at, batch in self._batches(max(entry, start)) if at + batch.size > limit)
        return self.read(end - start, start)

    def first_at_or_after(self, timestamp: int) -> tuple[int, int]:
        """Offset and timestamp of the first record not older; (-1, -1) without one."""
        entry = max(bisect_left(self._newest_before, timestamp) - 1, 0)
        for at, batch in self._batches(self._positions[entry]):
            if batch.max_timestamp >= timestamp:
                return batches.first_at_or_after(self.read(batch.size, at), timestamp)
        return -1, -1

    def _batches(self, at: int) -> Iterator[tuple[int, Batch]]:
        """Position and header of each batch from this position."""
        while at < self.size:
            window, start = self.read(INDEX_EVERY, at), at
            while at - start + HEADER_SIZE <= len(window):
                batch = header(window, at - start)
                yield at, batch
                at += batch.size

    def age_from(self) -> float:
        """Seconds since the epoch of the newest record; of the last write where records have no time."""
        return self.max_timestamp / 1000 if self.max_timestamp >= 0 else self.path.stat().st_mtime


class Producers:
    """The last batches of each idempotent producer of a partition; limited to the latest producers.

    Not stored: loading a log feeds every header through `record` again, so it is as durable as the log.
    """

    def __init__(self) -> None:
        self._sent: dict[int, deque[Batch]] = {}

    def repeated(self, batch: Batch) -> int | None:
        """The offset of an identical stored batch, None for the next one; RequestRefused for others."""
        sent = self._sent.get(batch.producer_id)
        if sent is None:
            return None
        if batch.epoch < sent[-1].epoch:
            raise RequestRefused(Code.INVALID_PRODUCER_EPOCH, "a newer producer has taken over")
        if batch.epoch > sent[-1].epoch:
            if batch.base_sequence != 0:
                raise RequestRefused(Code.OUT_OF_ORDER_SEQUENCE_NUMBER, "a new epoch starts at sequence 0")
            return None
        for known in sent:
            if (known.base_sequence, known.last_delta) == (batch.base_sequence, batch.last_delta):
                return known.base_offset
        if batch.base_sequence != (sent[-1].base_sequence + sent[-1].last_delta + 1) & MAX_SEQUENCE:
            raise RequestRefused(Code.OUT_OF_ORDER_SEQUENCE_NUMBER, "a batch before this one is missing")
        return None

    def record(self, batch: Batch, offset: int) -> None:
        # Logs of an older broker may have transaction markers, which are not batches of a producer.
        if batch.producer_id < 0 or batch.attributes & CONTROL:
            return
        sent = self._sent.pop(batch.producer_id, None)
        if sent is None or batch.epoch != sent[-1].epoch:
            sent = deque(maxlen=MAX_BATCHES)
        sent.append(batch._replace(base_offset=offset))
        self._sent[batch.producer_id] = sent
        if len(self._sent) > MAX_PRODUCERS:
            del self._sent[next(iter(self._sent))]


class PartitionLog:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._segments: list[Segment] = []
        self._producers = Producers()
        self.waiting: set[asyncio.Event] = set()  # set when there is more to read, or when the log is closed
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
                self._producers.record(batch, self.end)
                self.end += batch.last_delta + 1
            self._segments.append(segment)

    @property
    def start(self) -> int:
        return self._segments[0].base if self._segments else self.end

    def append(self, batch: Batch, records: bytes, segment_bytes: int) -> int:
        """The base offset of the batch: a new one, or that of its earlier delivery."""
        repeated = self._producers.repeated(batch)
        if repeated is not None:
            return repeated
        offset = self.end
        try:
            self._active(len(records), segment_bytes).add(batch, records, offset)
        except OSError as e:
            raise RequestRefused(Code.KAFKA_STORAGE_ERROR, str(e)) from e
        self.end += batch.last_delta + 1
        self._producers.record(batch, offset)
        for event in self.waiting:
            event.set()
        return offset

    def _active(self, incoming: int, segment_bytes: int) -> Segment:
        if not self._segments:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._segments.append(Segment(self._directory, self.end))
        segment = self._segments[-1]
        return self._roll() if segment.size and segment.size + incoming > segment_bytes else segment

    def _roll(self) -> Segment:
        self._segments[-1].close()
        segment = Segment(self._directory, self.end)
        # The file's name keeps the end offset, even after everything before it was removed.
        segment.append(b"")
        sync_directory(self._directory)
        self._segments.append(segment)
        return segment

    def read(self, offset: int, budget: int, whole_first: bool) -> bytes:
        """Whole batches within `budget` bytes; the first even if larger, when `whole_first`."""
        if not self.start <= offset <= self.end:
            raise RequestRefused(Code.OFFSET_OUT_OF_RANGE)
        if offset == self.end:
            return b""
        at = bisect_right(self._segments, offset, key=lambda segment: segment.base) - 1
        try:
            return self._segments[at].records_from(offset, max(budget, 0), whole_first)
        except OSError as e:
            raise RequestRefused(Code.KAFKA_STORAGE_ERROR, str(e)) from e

    def first_at_or_after(self, timestamp: int) -> tuple[int, int]:
        """Offset and timestamp of the first record not older than this, (-1, -1) where there is none."""
        newer = (segment for segment in self._segments if segment.max_timestamp >= timestamp)
        found = next(newer, None)
        return (-1, -1) if found is None else found.first_at_or_after(timestamp)

    def retain(self, retention_ms: int, retention_bytes: int, now: float) -> None:
        """Remove the oldest files beyond age or size; -1 means no limit."""

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

    def close(self) -> None:
        for segment in self._segments:
            segment.close()

    def remove(self) -> None:
        for segment in self._segments:
            segment.remove()
        if self._directory.is_dir():
            self._directory.rmdir()
        for event in self.waiting:
            event.set()
