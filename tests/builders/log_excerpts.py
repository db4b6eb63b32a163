"""Excerpts of the in-memory log of a pipeline, some of it expired."""

from collections.abc import AsyncGenerator, Collection, Sequence
from datetime import timedelta

from schemas.base import Source
from schemas.topics import BY_NAME
from streams.kafka.records import Record
from streams.testing.log import MemoryLog


class MemoryExcerpts:
    """`LogExcerpts` over an in-memory log; topics of `expired` have lost their records. `reads` counts what is read."""

    def __init__(self, log: MemoryLog, expired: Collection[str] = ()) -> None:
        self._log = log
        self._expired = expired
        self.reads: dict[str, int] = {}

    async def after(
        self, topic: str, keys: Collection[str], since: int, most: int
    ) -> AsyncGenerator[Sequence[Record], None]:
        partitions = {sum(key.encode()) % self._log.partitions for key in keys}
        there = (each for each in self._of(topic) if not keys or each.partition in partitions)
        records = [each for each in there if each.timestamp >= since]
        for record in records[:most]:
            self.reads[topic] = self.reads.get(topic, 0) + 1
            yield [record]

    async def newest(self, topic: str, keys: Collection[str]) -> AsyncGenerator[Sequence[Record], None]:
        del keys
        for record in reversed(self._of(topic)):
            yield [record]

    async def at(self, place: Source) -> Record | None:
        there = (each for each in self._of(place.topic) if (each.partition, each.offset) == place_of(place))
        return next(there, None)

    async def kept_from(self, topic: str, keys: Collection[str]) -> int | None:
        del keys
        return min((each.timestamp for each in self._of(topic)), default=None)

    async def retention(self, topic: str) -> timedelta | None:
        return BY_NAME[topic].retention

    def _of(self, topic: str) -> list[Record]:
        return [] if topic in self._expired else self._log.of(topic)


def place_of(source: Source) -> tuple[int, int]:
    return source.partition, source.offset
