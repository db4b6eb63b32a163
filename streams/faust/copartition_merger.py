"""Reading of co-partitioned topics in step: a record waits until older records of its sister partitions have been read.

Kafka has no order across topics, but co-partitioned topics can have one, partition by partition: of the available
records the oldest goes first, and none goes while a sister partition may still have an older one. This is the rule of
Kafka Streams (KIP-353, KIP-695); the fetch responses tell the ends of the logs. A timestamp is a whole millisecond, in
which a client may get the acknowledgement of one record and write the next: records of one millisecond go in the order
of their topics.
"""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from heapq import merge
from itertools import groupby, repeat
from time import monotonic
from typing import NamedTuple

from aiokafka import ConsumerRecord, TopicPartition

LOGGER = logging.getLogger("fathom.group")
Batch = Mapping[TopicPartition, Sequence[ConsumerRecord]]
# The time a cluster takes to find a new leader for a partition. A sister that is silent longer is not waited for.
LIMIT_S = 15.0
# At most so much of the time between two calls counts: while records wait to be taken, nothing is fetched.
MOST_BETWEEN_S = 1.0
SILENT = "%s-%s: not read for %.0f s, so what belongs to it goes on without; see that the partition has a leader"


class Fetched(NamedTuple):
    """The fetch state of a partition: whether we are at its end, and the time of its last response (ms)."""

    at_end: bool
    at: int


NEVER = Fetched(at_end=False, at=-1)


def in_time_order(batch: Batch) -> Iterator[tuple[TopicPartition, Sequence[ConsumerRecord]]]:
    """A batch of several topics in runs of one partition each, oldest first; offset order is kept.

    Records of one millisecond are in the order of the batch.
    """
    if len({tp.topic for tp in batch}) < 2:
        yield from batch.items()
        return
    written = merge(*(zip(repeat(tp), records) for tp, records in batch.items()), key=lambda one: one[1].timestamp)
    for tp, run in groupby(written, key=lambda one: one[0]):
        yield tp, [raw for _, raw in run]


class CopartitionMerger:
    """Holds records back until their sisters, the same partitions of the other `topics`, are as far."""

    def __init__(self, topics: Sequence[str] = (), *, clock: Callable[[], float] = monotonic) -> None:
        self._topics = {topic: place for place, topic in enumerate(topics)}
        self._clock = clock
        self._looked_at = clock()
        # Seconds of reading: those in which records wait to be taken do not count.
        self._read_s = 0.0
        self._kept: dict[TopicPartition, list[ConsumerRecord]] = {}
        self._read_at: dict[TopicPartition, int] = {}
        self._waiting_since: dict[int, float] = {}
        # Partitions silent for too long, with their last response: after the next one they are waited for again.
        self._silent: dict[TopicPartition, int] = {}

    @property
    def kept(self) -> Set[TopicPartition]:
        """The partitions with records held back, which are not fetched."""
        return self._kept.keys()

    def clear(self) -> None:
        """Discard everything: the partitions are revoked, or read again."""
        for memory in (self._kept, self._read_at, self._waiting_since, self._silent):
            memory.clear()

    def drop(self, tp: TopicPartition) -> None:
        """Discard the held records of a partition: it is fetched again."""
        self._kept.pop(tp, None)

    def release(
        self, batch: Batch, reading: Collection[TopicPartition], fetched: Callable[[TopicPartition], Fetched]
    ) -> Batch:
        """The records of the batch and of those held that may go now; `reading` are the partitions currently read."""
        if not self._topics:
            return batch
        now = self._clock()
        self._read_s += min(now - self._looked_at, MOST_BETWEEN_S)
        self._looked_at = now
        released: dict[TopicPartition, Sequence[ConsumerRecord]] = {}
        for tp, records in batch.items():
            if tp.topic in self._topics:
                self._kept.setdefault(tp, []).extend(records)
                self._read_at[tp] = fetched(tp).at
            else:
                released[tp] = records
        for number in {tp.partition for tp in self._kept}:
            sisters = [tp for tp in reading if tp.partition == number and tp.topic in self._topics]
            released.update(self._released(number, sisters, fetched))
        return released

    def _released(
        self, number: int, sisters: Collection[TopicPartition], fetched: Callable[[TopicPartition], Fetched]
    ) -> Iterator[tuple[TopicPartition, Sequence[ConsumerRecord]]]:
        kept = sorted((tp for tp in self._kept if tp.partition == number), key=lambda tp: self._topics[tp.topic])
        # A partition counts as at its end only as of a response at or after the newest read of the others.
        since = max(self._read_at[tp] for tp in kept)
        behind = [tp for tp in sisters if self._is_behind(tp, fetched(tp), since)]
        if self._has_waited(number):
            for tp in behind:
                if tp not in self._kept:
                    LOGGER.warning(SILENT, *tp, LIMIT_S)
                    self._silent[tp] = fetched(tp).at
            behind = [tp for tp in behind if tp in self._kept]
        until = min((self._newest(tp) for tp in behind), default=(float("inf"), 0))
        went = False
        for tp in kept:
            records = self._kept[tp]
            count = next((n for n, raw in enumerate(records) if self._place(tp, raw) > until), len(records))
            if count:
                went = True
                yield tp, records[:count]
            if count == len(records):
                del self._kept[tp]
            else:
                self._kept[tp] = records[count:]
        if went or not any(tp in self._kept for tp in kept):
            self._waiting_since.pop(number, None)
        else:
            self._waiting_since.setdefault(number, self._read_s)

    def _is_behind(self, tp: TopicPartition, found: Fetched, since: int) -> bool:
        if self._silent.get(tp) == found.at:
            return False
        self._silent.pop(tp, None)
        return not found.at_end or found.at < since

    def _has_waited(self, number: int) -> bool:
        return self._read_s - self._waiting_since.get(number, float("inf")) >= LIMIT_S

    def _newest(self, tp: TopicPartition) -> tuple[float, int]:
        """The position of the newest held record, before which no older one can come; minus infinity without any."""
        return max((self._place(tp, raw) for raw in self._kept.get(tp, ())), default=(float("-inf"), 0))

    def _place(self, tp: TopicPartition, raw: ConsumerRecord) -> tuple[float, int]:
        """The position of a record among those of its sisters."""
        return raw.timestamp, self._topics[tp.topic]
