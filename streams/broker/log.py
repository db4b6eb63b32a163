"""The log of one partition: segments on disk, and readers waiting for more.

An append is one write to the operating system's page cache: killing the broker loses no acknowledged record.
Files are synced when a segment is closed and on a clean stop, not per append: a power cut may lose the last moments.
"""

import asyncio
import shutil
from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from streams.broker.errors import BrokerFailed, Code, RequestRefused
from streams.broker.journal import sync_directory
from streams.broker.segment import DamagedError, ProducerRows, Segment
from streams.kafka.record_batches import CONTROL, Batch

MAX_PRODUCERS = 1_000
MAX_SEQUENCE = 0x7FFFFFFF
MAX_BATCHES = 5  # the maximum of a client's batches in flight, as in Kafka

T = TypeVar("T")
Work = Callable[[], None]


def at_once(work: Work) -> None:
    """Do the work here and now."""
    work()


class Sent(NamedTuple):
    """A stored batch of an idempotent producer."""

    epoch: int
    base_sequence: int
    last_delta: int
    offset: int


class Producers:
    """The last batches of each idempotent producer of a partition; limited to the latest producers.

    Stored with each closed segment; loading a log feeds the headers behind it through `record` again, so it is as
    durable as the log.
    """

    def __init__(self) -> None:
        self._sent: dict[int, deque[Sent]] = {}

    def rows(self) -> ProducerRows:
        """What is known, to be stored: producer id, epoch, sequence, records but one, offset."""
        return [[producer, *each] for producer, sent in self._sent.items() for each in sent]

    def restore(self, rows: ProducerRows) -> None:
        """Know what was stored, and nothing else."""
        self._sent = {}
        for producer, *sent in rows:
            self._sent.setdefault(producer, deque(maxlen=MAX_BATCHES)).append(Sent(*sent))

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
                return known.offset
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
        sent.append(Sent(batch.epoch, batch.base_sequence, batch.last_delta, offset))
        self._sent[batch.producer_id] = sent
        if len(self._sent) > MAX_PRODUCERS:
            del self._sent[next(iter(self._sent))]


class PartitionLog:
    """The log in a directory.

    `end` is the offset after the last record, where a clean stop has stated it. `later` is given work that may wait for
    the disk, to be done in order.
    """

    def __init__(self, directory: Path, end: int | None = None, later: Callable[[Work], object] = at_once) -> None:
        self._directory = directory
        self._later = later
        self._segments: list[Segment] = []
        self._producers = Producers()
        self.waiting: set[asyncio.Event] = set()  # set when there is more to read, or when the log is closed
        self.end = 0
        self._load(end)

    def _load(self, end: int | None) -> None:
        bases = sorted(int(path.stem) for path in self._directory.glob("*.log"))
        if end and not bases:
            # All files are missing, and somebody has read what was in them.
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            bases = [0]
        for base, following in zip(bases, [*bases, end][1:], strict=True):
            segment = Segment(self._directory, base)
            self._take(segment, following)
            self._segments.append(segment)
            self.end = segment.end
            if base != bases[-1] and following is not None and self.end > following:
                raise BrokerFailed(f"{segment.path} has offsets up to {self.end}, of the next file too; restore both.")

    def _take(self, segment: Segment, following: int | None) -> None:
        """Load a segment: what was stored of it, else what it contains."""
        stored = segment.recall(following)
        if stored is not None:
            self._producers.restore(stored)
            return
        for batch in segment.examine(following):
            self._producers.record(batch, batch.base_offset)
        if following is not None:
            segment.finished(self._producers.rows())()

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
            segment = self._active(len(records), segment_bytes)
            self._mending(segment, lambda: segment.add(batch, records, offset))
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
        segment = Segment(self._directory, self.end)
        # The file's name keeps the end offset, even after everything before it was removed.
        segment.append(b"")
        self._later(self._finished(self._segments[-1]))
        self._later(partial(sync_directory, self._directory))
        self._segments.append(segment)
        return segment

    def read(self, offset: int, budget: int, whole_first: bool) -> bytes:
        """Whole batches within `budget` bytes; the first even if larger, when `whole_first`."""
        if not self.start <= offset <= self.end:
            raise RequestRefused(Code.OFFSET_OUT_OF_RANGE)
        if offset == self.end:
            return b""
        segment = self._segments[bisect_right(self._segments, offset, key=lambda segment: segment.base) - 1]
        try:
            return self._mending(segment, lambda: segment.records_from(offset, max(budget, 0), whole_first))
        except (OSError, DamagedError) as e:
            raise RequestRefused(Code.KAFKA_STORAGE_ERROR, str(e)) from e

    def first_at_or_after(self, timestamp: int) -> tuple[int, int]:
        """Offset and timestamp of the first record not older than this, (-1, -1) where there is none."""
        newer = (segment for segment in self._segments if segment.max_timestamp >= timestamp)
        found = next(newer, None)
        return (-1, -1) if found is None else self._mending(found, lambda: found.first_at_or_after(timestamp))

    @staticmethod
    def _mending(segment: Segment, work: Callable[[], T]) -> T:
        """The result of work on a segment; where the work finds damage, that is set aside first."""
        try:
            return work()
        except DamagedError:
            segment.examine(segment.end)
            return work()

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
            # Behind the end offset, which the next file's name keeps.
            self._later(self._segments.pop(0).remove)

    def sync(self) -> None:
        """Put everything on the disk; in the thread that does the work given to `later`."""
        for segment in self._segments[-1:]:
            segment.sync()

    def close(self) -> None:
        """Put everything on the disk, and store what the last segment contains; after the work given to `later`."""
        if self._segments:
            self._finished(self._segments[-1])()

    def _finished(self, segment: Segment) -> Work:
        return self._mending(segment, lambda: segment.finished(self._producers.rows()))

    def remove(self) -> None:
        """Remove all files; after the work given to `later`."""
        for segment in self._segments:
            segment.close(sync=False)
        if self._directory.is_dir():
            shutil.rmtree(self._directory)
        for event in self.waiting:
            event.set()
