"""What one partition knows of its idempotent producers: the epoch and the last batches of each.

Never stored: loading a log feeds every header through `record` again, so it is as durable as the log.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from streams.broker.batch import CONTROL, Batch
from streams.broker.errors import Code, RequestRefused

MAX_BATCHES = 5  # what clients may have in flight, and Kafka's number
IDLE_MS = 86_400_000


class SentBatch(NamedTuple):
    first_sequence: int
    last_sequence: int
    base_offset: int


@dataclass(slots=True)
class ProducerState:
    epoch: int
    sent: deque[SentBatch] = field(default_factory=lambda: deque(maxlen=MAX_BATCHES))
    seen_ms: int = 0


class Producers:
    def __init__(self) -> None:
        self._known: dict[int, ProducerState] = {}

    def repeated(self, batch: Batch) -> int | None:
        """The offset an identical batch already has, None for the next one; RequestRefused for anything else."""
        known = self._known.get(batch.producer_id)
        if known is None:
            return None
        if batch.epoch < known.epoch:
            raise RequestRefused(Code.INVALID_PRODUCER_EPOCH, "a newer producer has taken over")
        if batch.epoch > known.epoch:
            if batch.base_sequence != 0:
                raise RequestRefused(Code.OUT_OF_ORDER_SEQUENCE_NUMBER, "a new epoch starts at sequence 0")
            return None
        for sent in known.sent:
            if (sent.first_sequence, sent.last_sequence) == (batch.base_sequence, batch.last_sequence):
                return sent.base_offset
        if batch.base_sequence != (known.sent[-1].last_sequence + 1) & 0x7FFFFFFF:
            raise RequestRefused(Code.OUT_OF_ORDER_SEQUENCE_NUMBER, "a batch before this one is missing")
        return None

    def record(self, batch: Batch, offset: int, now_ms: int) -> None:
        # An older broker knew transactions; their markers in its logs are no batches of a producer.
        if batch.producer_id < 0 or batch.attributes & CONTROL:
            return
        known = self._known.get(batch.producer_id)
        if known is None or batch.epoch != known.epoch:
            known = self._known[batch.producer_id] = ProducerState(batch.epoch)
        known.seen_ms = now_ms
        known.sent.append(SentBatch(batch.base_sequence, batch.last_sequence, offset))

    def forget_idle(self, now_ms: int) -> None:
        """Drop producers whose last batch is too old to be sent again."""
        self._known = {id: known for id, known in self._known.items() if now_ms - known.seen_ms <= IDLE_MS}
