"""Topics that are read in step: a record waits until what was written before it to its sister topics has been read.

Kafka has no order across topics. Where topics are co-partitioned there can be one, partition by partition: of the
records at hand the oldest goes first, and none goes while a sister partition may still hold an older one. This is the
rule of Kafka Streams (KIP-353, KIP-695), with the fetch responses saying who is at the end of its log. A timestamp is
a whole millisecond, in which a client can be told that one record is stored and write the next: of records of one
millisecond those of the topic that is named first go first.
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
# As long as a cluster takes to find a new leader for a partition. A sister that is silent longer is not waited for.
LIMIT_S = 15.0
SILENT = "%s-%s: not read for %.0f s, so what belongs to it goes on without; see that the partition has a leader"


class Fetched(NamedTuple):
    """What the fetches say of a partition: whether we are at its end, and when it was last answered for (ms)."""

    at_end: bool
    at: int


NEVER = Fetched(at_end=False, at=-1)


def in_time_order(batch: Batch) -> Iterator[tuple[TopicPartition, Sequence[ConsumerRecord]]]:
    """A batch of several topics in runs of one partition each, what was written first first; offset order is kept.

    What was written in one millisecond comes in the order of the batch.
    """
    if len({tp.topic for tp in batch}) < 2:
        yield from batch.items()
        return
    written = merge(*(zip(repeat(tp), records) for tp, records in batch.items()), key=lambda one: one[1].timestamp)
    for tp, run in groupby(written, key=lambda one: one[0]):
        yield tp, [raw for _, raw in run]


class CopartitionMerger:
    """Keeps records back until their sisters, the partitions of the same number of the other `topics`, are as far."""

    def __init__(
        self, topics: Sequence[str] = (), *, limit_s: float = LIMIT_S, clock: Callable[[], float] = monotonic
    ) -> None:
        self._topics = {topic: place for place, topic in enumerate(topics)}
        self._limit_s = limit_s
        self._clock = clock
        self._kept: dict[TopicPartition, list[ConsumerRecord]] = {}
        self._read_at: dict[TopicPartition, int] = {}
        self._waiting_since: dict[int, float] = {}
        # Who was silent for too long, and its last answer: from the next one on it is waited for again.
        self._silent: dict[TopicPartition, int] = {}

    @property
    def kept(self) -> Set[TopicPartition]:
        """The partitions of which something is kept: more of them is not wanted yet."""
        return self._kept.keys()

    def clear(self) -> None:
        """Forget all: somebody else reads it now, or it is read again."""
        for memory in (self._kept, self._read_at, self._waiting_since, self._silent):
            memory.clear()

    def drop(self, tp: TopicPartition) -> None:
        """Forget what is kept of a partition: it is fetched again."""
        self._kept.pop(tp, None)

    def release(
        self, batch: Batch, reading: Collection[TopicPartition], fetched: Callable[[TopicPartition], Fetched]
    ) -> Batch:
        """What may be handed over of the batch and of what was kept; `reading` are the partitions that are read now."""
        if not self._topics:
            return batch
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
        # At its end is only who was there when the newest of the others was read.
        since = max(self._read_at[tp] for tp in kept)
        behind = [tp for tp in sisters if self._is_behind(tp, fetched(tp), since)]
        if self._has_waited(number):
            for tp in behind:
                if tp not in self._kept:
                    LOGGER.warning(SILENT, *tp, self._limit_s)
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
            self._waiting_since.setdefault(number, self._clock())

    def _is_behind(self, tp: TopicPartition, found: Fetched, since: int) -> bool:
        if self._silent.get(tp) == found.at:
            return False
        self._silent.pop(tp, None)
        return not found.at_end or found.at < since

    def _has_waited(self, number: int) -> bool:
        return self._clock() - self._waiting_since.get(number, float("inf")) >= self._limit_s

    def _newest(self, tp: TopicPartition) -> tuple[float, int]:
        """The newest of what is kept: up to there nothing older can come. Of none, nothing is known."""
        return max((self._place(tp, raw) for raw in self._kept.get(tp, ())), default=(float("-inf"), 0))

    def _place(self, tp: TopicPartition, raw: ConsumerRecord) -> tuple[float, int]:
        """Where a record belongs among those of its sisters."""
        return raw.timestamp, self._topics[tp.topic]
