"""The records of several topics in the order of time, read window by window."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace

from aiokafka import ConsumerRecord, TopicPartition

from streams.replay.log import Log, PartitionRange

# The maximum of records of a window, unless that many were written within the shortest one.
MOST, SHORTEST_MS = 5_000, 1_000

Ends = Mapping[TopicPartition, int]


class Timeline:
    """The topics of a log up to their ends when it was opened; of equal times, the topic named first comes first."""

    def __init__(self, log: Log, topics: Sequence[str], whole: Sequence[PartitionRange]) -> None:
        self._log = log
        self._rank = {topic: place for place, topic in enumerate(topics)}
        self._whole = {span.tp: span for span in whole}

    @classmethod
    async def of(cls, log: Log, topics: Sequence[str]) -> "Timeline":
        """The timeline of topics; those the broker lacks have no records."""
        return cls(log, topics, [span for topic in topics for span in await log.spans(topic)])

    def __len__(self) -> int:
        return sum(map(len, self._whole.values()))

    @property
    def spans(self) -> list[PartitionRange]:
        return [*self._whole.values()]

    async def windows(self) -> AsyncIterator[list[ConsumerRecord]]:
        """The records, window after window, each in the order of time."""
        period = await self._log.period(self.spans)
        if period is None:
            return
        first = {tp: span.begin for tp, span in self._whole.items()}
        last = {tp: span.end for tp, span in self._whole.items()}
        newest: dict[TopicPartition, int] = {}
        async for begins, ends in self._divided(first, last, *period):
            spans = [replace(span, begin=begins[tp], end=ends[tp]) for tp, span in self._whole.items()]
            yield await self._sorted([span for span in spans if len(span)], newest)

    async def _divided(self, begins: Ends, ends: Ends, since: int, until: int) -> AsyncIterator[tuple[Ends, Ends]]:
        count = sum(ends[tp] - begins[tp] for tp in ends)
        if count <= MOST or until - since <= SHORTEST_MS:
            if count:
                yield begins, ends
            return
        middle = (since + until) // 2
        cut = await self._at(middle, begins, ends)
        async for window in self._divided(begins, cut, since, middle):
            yield window
        async for window in self._divided(cut, ends, middle, until):
            yield window

    async def _at(self, time: int, begins: Ends, ends: Ends) -> Ends:
        """The offsets that a time divides the range at."""
        found = {span.tp: span.begin for topic in self._rank for span in await self._log.spans(topic, time)}
        return {tp: min(max(found.get(tp, end), begins[tp]), end) for tp, end in ends.items()}

    async def _sorted(self, spans: Sequence[PartitionRange], newest: dict[TopicPartition, int]) -> list[ConsumerRecord]:
        found: list[tuple[int, int, int, int, ConsumerRecord]] = []
        async for batch in self._log.read(spans):
            for record in batch:
                tp = TopicPartition(record.topic, record.partition)
                # A producer's clock may go back: the order within a partition is that of its offsets.
                newest[tp] = max(newest.get(tp, 0), record.timestamp)
                found.append((newest[tp], self._rank[record.topic], record.partition, record.offset, record))
        return [record for *_, record in sorted(found, key=lambda each: each[:4])]
