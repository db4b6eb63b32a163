"""Rereading of topics from a point in time, without a group: offsets of workers are neither used nor moved."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from streams.kafka import log_reader
from streams.kafka.log_reader import batches, bounds_of, first_records, written_since
from streams.kafka.security import PLAINTEXT, Security
from streams.kafka.topics_admin import existing


@dataclass(frozen=True, slots=True)
class PartitionRange:
    """The range to read of a partition: from `begin` up to before `end`; the log itself starts at `kept_from`."""

    topic: str
    partition: int
    begin: int
    end: int
    kept_from: int

    @property
    def tp(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)

    def __len__(self) -> int:
        return max(self.end - self.begin, 0)


class Log:
    """The topics of a broker when the log was opened, with partition `counts` by name, readable up to their ends."""

    def __init__(self, consumer: AIOKafkaConsumer, counts: Mapping[str, int]) -> None:
        self._consumer = consumer
        # A consumer itself knows only its last assignment.
        self._counts = counts

    def partitions(self, topic: str) -> int:
        """The partition count of a topic; 0 for an unknown topic."""
        return self._counts.get(topic, 0)

    async def spans(self, topic: str, since: int | None = None) -> list[PartitionRange]:
        """All partitions of a topic up to their current ends, from the first record at `since` (ms) on; None: from the
        beginning.
        """
        return await self.spans_of([topic], since)

    async def spans_of(self, topics: Iterable[str], since: int | None = None) -> list[PartitionRange]:
        """The same of several topics, which takes no longer."""
        asked = [TopicPartition(topic, number) for topic in topics for number in range(self.partitions(topic))]
        kept = await bounds_of(self._consumer, asked)
        times = None if since is None else dict.fromkeys((tp.partition for tp in asked), since)
        found = await written_since(self._consumer, kept, times)
        return [PartitionRange(tp.topic, tp.partition, *found[tp], first) for tp, (first, _) in kept.items()]

    def read(self, spans: Iterable[PartitionRange]) -> AsyncGenerator[list[ConsumerRecord], None]:
        """The records of the spans in batches; those of one partition in their order."""
        return batches(self._consumer, {span.tp: (span.begin, span.end) for span in spans})

    async def first(self, span: PartitionRange) -> ConsumerRecord | None:
        """The first record of a span."""
        return (await first_records(self._consumer, {span.tp: (span.begin, span.end)})).get(span.tp)

    async def period(self, spans: Sequence[PartitionRange]) -> tuple[int, int] | None:
        """The times (ms) of the first and the last record of the spans; None for none."""
        edges = [replace(span, begin=begin) for span in spans if len(span) for begin in {span.begin, span.end - 1}]
        times = [found.timestamp for edge in edges if (found := await self.first(edge)) is not None]
        return (min(times), max(times)) if times else None


@asynccontextmanager
async def opened(bootstrap: str, security: Security = PLAINTEXT) -> AsyncIterator[Log]:
    """The log of a broker; raises `Unavailable` when the broker does not answer."""
    counts = await existing(bootstrap, security)
    options = {"client_id": "fathom-replay"}
    async with log_reader.opened(bootstrap, security, "broker", **options) as consumer:
        # A consumer stopped before its own task has started raises the task's cancellation.
        await asyncio.sleep(0)
        yield Log(consumer, counts)
