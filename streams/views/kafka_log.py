"""The log of a view on Kafka: partitions are read in portions, by a consumer without a group."""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import AsyncGenerator, Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Generic, TypeVar

from aiokafka import AIOKafkaConsumer

from streams.kafka.log_reader import Ranges, opened
from streams.kafka.security import PLAINTEXT, Security

R = TypeVar("R")
# Clocks of those who write may differ by this much, or be set back.
SLACK_MS = 2_000
# Records of the log that are held at once, unless one partition alone has more.
MAX_BUFFERED = 10_000


class KafkaViewLog(ABC, Generic[R]):
    """`ViewLog` on the topics of one view, which `what` names in errors."""

    what: str

    def __init__(self, bootstrap: str, security: Security = PLAINTEXT) -> None:
        self._bootstrap = bootstrap
        self._security = security

    async def read(
        self, partitions: Collection[int], span: timedelta | None
    ) -> AsyncGenerator[Mapping[int, Sequence[R]], None]:
        """The records of each partition: of its last `span` of time, with None all; in portions."""
        async with opened(self._bootstrap, self._security, self.what) as consumer:
            ranges = await self.ranges(consumer, partitions, span)
            for some in portions(ranges, partitions):
                mine = {tp: ends for tp, ends in ranges.items() if tp.partition in some}
                yield await self.decoded(consumer, mine, some)

    @abstractmethod
    async def ranges(self, consumer: AIOKafkaConsumer, partitions: Collection[int], span: timedelta | None) -> Ranges:
        """The offsets to read."""

    @abstractmethod
    async def decoded(
        self, consumer: AIOKafkaConsumer, ranges: Ranges, partitions: Collection[int]
    ) -> Mapping[int, Sequence[R]]:
        """What these offsets hold, with an entry for each partition."""


def portions(ranges: Ranges, partitions: Iterable[int]) -> list[list[int]]:
    """The partitions in groups that are read at once: many that are short, or one that is long."""
    sizes: dict[int, int] = defaultdict(int)
    for tp, (begin, end) in ranges.items():
        sizes[tp.partition] += end - begin
    groups: list[list[int]] = []
    filled = 0
    for partition in sorted(partitions):
        if not groups or filled + sizes[partition] > MAX_BUFFERED:
            groups.append([])
            filled = 0
        groups[-1].append(partition)
        filled += sizes[partition]
    return groups


def milliseconds(span: timedelta) -> int:
    """A span with the slack of clocks."""
    return int(span.total_seconds() * 1000) + SLACK_MS
