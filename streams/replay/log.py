"""Topics read again from a point in time, by a reader of no group: offsets of workers are neither used nor moved."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from streams.kafka.records import Record
from streams.kafka.security import PLAINTEXT, Security
from streams.kafka.topics_admin import existing, unavailable

LARGEST = 4_000_000
POLL_MS = 500
BATCH = 500


@dataclass(frozen=True, slots=True)
class PartitionRange:
    """What is read of a partition: from `begin` up to before `end`; the log itself begins at `kept_from`."""

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
    """The topics that a broker had when the log was opened, `counts` by name, read up to their ends as they are."""

    def __init__(self, consumer: AIOKafkaConsumer, counts: Mapping[str, int]) -> None:
        self._consumer = consumer
        # Of its own, a consumer knows only what it was assigned last.
        self._counts = counts

    def partitions(self, topic: str) -> int:
        """How many partitions a topic has; 0 when there is no such topic."""
        return self._counts.get(topic, 0)

    async def spans(self, topic: str, since: int | None = None) -> list[PartitionRange]:
        """All partitions of a topic up to their ends now, from the first record at `since` (ms) on; None: from the
        beginning.
        """
        tps = [TopicPartition(topic, number) for number in range(self.partitions(topic))]
        if not tps:
            return []
        kept = await self._consumer.beginning_offsets(tps)
        ends = await self._consumer.end_offsets(tps)
        begins = dict(kept)
        if since is not None:
            found = await self._consumer.offsets_for_times(dict.fromkeys(tps, max(since, 0)))
            begins = {tp: ends[tp] if found.get(tp) is None else max(found[tp].offset, kept[tp]) for tp in tps}
        return [PartitionRange(tp.topic, tp.partition, begins[tp], ends[tp], kept[tp]) for tp in tps]

    async def read(
        self, spans: Iterable[PartitionRange], *, most: int = BATCH
    ) -> AsyncGenerator[Sequence[Record], None]:
        """The records of the spans in batches; those of one partition in their order."""
        wanted = [span for span in spans if len(span)]
        left = {span.tp: span.end for span in wanted}
        self._consumer.assign([*left])
        for span in wanted:
            self._consumer.seek(span.tp, span.begin)
        while left:
            for tp, found in (await self._consumer.getmany(*left, timeout_ms=POLL_MS, max_records=most)).items():
                if batch := [_record(each) for each in found if each.offset < left[tp]]:
                    yield batch
            for tp in list(left):
                # Not the last record's offset: a control record may be what ends a partition.
                if await self._consumer.position(tp) >= left[tp]:
                    del left[tp]
                    self._consumer.pause(tp)

    async def first(self, span: PartitionRange) -> Record | None:
        """The first record of a span."""
        async with aclosing(self.read([span], most=1)) as batches:
            async for batch in batches:
                return batch[0]
        return None

    async def period(self, spans: Sequence[PartitionRange]) -> tuple[int, int] | None:
        """The times (ms) of the first and the last records of the spans; None when there are none."""
        times = []
        for span in spans:
            if not len(span):
                continue
            for begin in {span.begin, span.end - 1}:
                found = await self.first(PartitionRange(span.topic, span.partition, begin, span.end, span.kept_from))
                times += [] if found is None else [found.timestamp]
        return (min(times), max(times)) if times else None


@asynccontextmanager
async def opened(bootstrap: str, security: Security = PLAINTEXT) -> AsyncIterator[Log]:
    """The log of a broker; raises `Unavailable` when none answers."""
    counts = await existing(bootstrap, security)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap,
        client_id="fathom-replay",
        enable_auto_commit=False,
        fetch_max_wait_ms=100,
        max_partition_fetch_bytes=LARGEST,
        **security.client_options(),
    )
    try:
        try:
            await consumer.start()
        except KafkaError as error:
            raise await unavailable(bootstrap, security, error) from error
        # A consumer that is stopped before its own task has begun raises its cancellation.
        await asyncio.sleep(0)
        yield Log(consumer, counts)
    finally:
        await consumer.stop()


def _record(found: Any) -> Record:
    return Record(
        found.topic,
        found.partition,
        found.offset,
        found.timestamp,
        found.key,
        found.value,
        tuple((name, bytes(value or b"")) for name, value in found.headers),
    )
