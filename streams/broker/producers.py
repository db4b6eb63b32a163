"""What one partition knows of its producers: recent sequences, open and aborted transactions.

Never stored: loading a log feeds every header through `record` again, so it is as durable as the log.
"""

from collections import deque
from dataclasses import dataclass, field

from streams.broker.batch import Batch
from streams.broker.errors import Code, RequestRefused

MAX_BATCHES = 5  # what clients may have in flight, and Kafka's number
IDLE_MS = 86_400_000


@dataclass(slots=True)
class SentBatch:
    first_sequence: int
    last_sequence: int
    base_offset: int


@dataclass(slots=True)
class ProducerState:
    epoch: int
    sent: deque[SentBatch] = field(default_factory=lambda: deque(maxlen=MAX_BATCHES))
    seen_ms: int = 0


@dataclass(frozen=True, slots=True)
class Aborted:
    producer_id: int
    first_offset: int
    marker_offset: int


class Producers:
    def __init__(self) -> None:
        self._known: dict[int, ProducerState] = {}
        self.open: dict[int, int] = {}
        self.aborted: list[Aborted] = []

    def repeated(self, batch: Batch) -> int | None:
        """The offset an identical batch already has, None for the next one; Refused for anything else."""
        known = self._known.get(batch.producer_id)
        if known is None:
            return None
        if batch.epoch < known.epoch:
            raise RequestRefused(Code.INVALID_PRODUCER_EPOCH, "a newer producer has taken over")
        if batch.epoch > known.epoch or not known.sent:
            if batch.epoch > known.epoch and batch.base_sequence != 0:
                raise RequestRefused(Code.OUT_OF_ORDER_SEQUENCE_NUMBER, "a new epoch starts at sequence 0")
            return None
        for sent in known.sent:
            if (sent.first_sequence, sent.last_sequence) == (batch.base_sequence, batch.last_sequence):
                return sent.base_offset
        if batch.base_sequence != (known.sent[-1].last_sequence + 1) & 0x7FFFFFFF:
            raise RequestRefused(Code.OUT_OF_ORDER_SEQUENCE_NUMBER, "a batch before this one is missing")
        return None

    def record(self, batch: Batch, offset: int, now_ms: int) -> None:
        if batch.producer_id < 0:
            return
        known = self._known.get(batch.producer_id)
        if known is None or batch.epoch != known.epoch:
            known = self._known[batch.producer_id] = ProducerState(batch.epoch)
        known.seen_ms = now_ms
        known.sent.append(SentBatch(batch.base_sequence, batch.last_sequence, offset))
        if batch.transactional:
            self.open.setdefault(batch.producer_id, offset)

    def end(self, batch: Batch, offset: int, commit: bool, now_ms: int) -> None:
        """A transaction marker was written at `offset`."""
        known = self._known.get(batch.producer_id)
        if known is None or batch.epoch != known.epoch:
            # A marker of a newer epoch fences whoever still holds the older one.
            known = self._known[batch.producer_id] = ProducerState(batch.epoch)
        known.seen_ms = now_ms
        first = self.open.pop(batch.producer_id, None)
        if first is not None and not commit:
            self.aborted.append(Aborted(batch.producer_id, first, offset))

    def epoch(self, producer_id: int) -> int:
        known = self._known.get(producer_id)
        return -1 if known is None else known.epoch

    def last_stable(self, log_end: int) -> int:
        return min(self.open.values(), default=log_end)

    def aborted_between(self, start: int, end: int) -> list[tuple[int, int]]:
        return [
            (a.producer_id, a.first_offset) for a in self.aborted if a.marker_offset >= start and a.first_offset < end
        ]

    def forget(self, log_start: int, now_ms: int) -> None:
        """Drop what no fetch and no retry can ask for any more."""
        self.aborted = [a for a in self.aborted if a.marker_offset >= log_start]
        idle = [pid for pid, known in self._known.items() if now_ms - known.seen_ms > IDLE_MS and pid not in self.open]
        for pid in idle:
            del self._known[pid]
