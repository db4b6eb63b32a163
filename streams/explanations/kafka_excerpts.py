"""Excerpts of the log on a broker: short reads of a few partitions, by one reader without a group."""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from datetime import timedelta

from aiokafka import AIOKafkaConsumer, ConsumerRecord

from schemas.base import Source
from streams.kafka import log_reader
from streams.kafka.producer import partition_of

# Records of a partition in the first window backwards; each is twice as long as the one before, up to the most.
FIRST_WINDOW, LONGEST_WINDOW = 500, 16_000

Retention = Callable[[str], Awaitable[timedelta | None]]


class KafkaExcerpts:
    """`LogExcerpts` on a broker with these partition counts; a search backwards ends after some seconds.

    `cut_at` is the time (ms) down to which a search that took too long has come.
    """

    def __init__(
        self, consumer: AIOKafkaConsumer, counts: Mapping[str, int], retention: Retention, seconds: float
    ) -> None:
        self._consumer = consumer
        self._counts = counts
        self._retention = retention
        self._until = time.monotonic() + seconds
        self.cut_at: int | None = None

    async def after(
        self, topic: str, keys: Collection[str], since: int, most: int
    ) -> AsyncGenerator[Sequence[ConsumerRecord], None]:
        """Records written since a time (ms), oldest first, at most so many of each partition."""
        numbers = self._numbers(topic, keys)
        there = await log_reader.bounds(self._consumer, topic, numbers)
        found = await log_reader.written_since(self._consumer, there, dict.fromkeys(numbers, since))
        ranges = {tp: (begin, min(end, begin + most)) for tp, (begin, end) in found.items()}
        async with aclosing(log_reader.batches(self._consumer, ranges)) as batches:
            async for batch in batches:
                yield batch

    async def newest(self, topic: str, keys: Collection[str]) -> AsyncGenerator[Sequence[ConsumerRecord], None]:
        """Batches of records, the newest first; without keys of all partitions."""
        there = await log_reader.bounds(self._consumer, topic, self._numbers(topic, keys))
        windows = log_reader.newest_first(self._consumer, there, FIRST_WINDOW, LONGEST_WINDOW)
        async with aclosing(windows) as read:
            async for records, left in read:
                yield records
                if time.monotonic() > self._until and any(begin < end for begin, end in left.values()):
                    self.cut_at = min((record.timestamp for record in records), default=0)
                    return

    async def at(self, place: Source) -> ConsumerRecord | None:
        """The record there, None where it is no more."""
        if place.partition >= self._counts.get(place.topic, 0):
            return None
        there = await log_reader.bounds(self._consumer, place.topic, [place.partition])
        [(tp, (begin, end))] = there.items()
        if not begin <= place.offset < end:
            return None
        found = await log_reader.records(self._consumer, {tp: (place.offset, place.offset + 1)})
        return found[0] if found else None

    async def kept_from(self, topic: str, keys: Collection[str]) -> int | None:
        """The time (ms) of the first record that is kept; None without any."""
        there = await log_reader.bounds(self._consumer, topic, self._numbers(topic, keys))
        first = await log_reader.first_records(self._consumer, there)
        return min((record.timestamp for record in first.values()), default=None)

    async def retention(self, topic: str) -> timedelta | None:
        """How long the topic keeps its records, as the broker says."""
        return await self._retention(topic)

    def _numbers(self, topic: str, keys: Collection[str]) -> list[int]:
        count = self._counts.get(topic, 0)
        return sorted({partition_of(key, count) for key in keys} if keys and count else range(count))
