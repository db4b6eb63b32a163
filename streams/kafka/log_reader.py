"""Read what a log holds by now, from one offset to another, and no further."""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from agents.errors import Unavailable
from schemas import codec
from schemas.codec import Undecodable
from schemas.envelope import Received
from schemas.topics import BY_NAME
from streams.kafka.security import Security
from streams.kafka.time_slice import TimeSlice

# Such a reader never waits for what is yet to come. By the client's defaults each read that reaches a partition's end
# leaves a fetch behind it that the broker holds for half a second, and every next one to that broker waits for it.
PROMPT: Mapping[str, int] = {"fetch_max_wait_ms": 10}
POLL_SIZE = 500
# A consumer without a group hears of its topics when it first asks for them, and asks again so much later.
RETRY_MS = 20

Ranges = Mapping[TopicPartition, tuple[int, int]]


def reader(bootstrap: str, security: Security) -> AIOKafkaConsumer:
    """A consumer without a group, so that nobody's offsets move; not yet started."""
    return AIOKafkaConsumer(
        bootstrap_servers=bootstrap,
        enable_auto_commit=False,
        retry_backoff_ms=RETRY_MS,
        **PROMPT,
        **security.client_options(),
    )


@asynccontextmanager
async def opened(bootstrap: str, security: Security, what: str) -> AsyncIterator[AIOKafkaConsumer]:
    """A started `reader`; raises `Unavailable` of `what` when the broker does not answer, now or later."""
    consumer = reader(bootstrap, security)
    try:
        await consumer.start()
        yield consumer
    except KafkaError as error:
        raise Unavailable(what, str(error) or type(error).__name__) from error
    finally:
        await consumer.stop()


async def full_ranges(consumer: AIOKafkaConsumer, topic: str, partitions: Iterable[int]) -> Ranges:
    """The whole of each partition that holds anything: its first offset, and the one after its last."""
    asked = [TopicPartition(topic, partition) for partition in partitions]
    firsts, ends = await consumer.beginning_offsets(asked), await consumer.end_offsets(asked)
    return {tp: (firsts[tp], ends[tp]) for tp in asked if firsts[tp] < ends[tp]}


async def written_since(consumer: AIOKafkaConsumer, ranges: Ranges, since: Mapping[int, int] | None) -> Ranges:
    """What was written since a time of each partition, in ms; of a partition that has none, nothing."""
    if since is None:
        return ranges
    asked = {tp: max(since[tp.partition], 0) for tp in ranges if tp.partition in since}
    found = await consumer.offsets_for_times(asked) if asked else {}
    begins = {tp: ranges[tp][1] if found.get(tp) is None else found[tp].offset for tp in asked}
    return {tp: (max(begins[tp], ranges[tp][0]), ranges[tp][1]) for tp in asked}


async def events(consumer: AIOKafkaConsumer, ranges: Ranges) -> AsyncIterator[Received[Any]]:
    """The events of these offsets; what cannot be read as one was an outsider's, and nobody acted on it."""
    mine = TimeSlice()
    async for batch in batches(consumer, ranges):
        for record in batch:
            await mine.check()
            try:
                received = codec.decode_record(BY_NAME[record.topic], record)
            except Undecodable:
                continue
            yield received


async def records(consumer: AIOKafkaConsumer, ranges: Ranges) -> list[Any]:
    """The records of these offsets (first, one after the last); what retention or compaction took is passed over."""
    return [record async for batch in batches(consumer, ranges) for record in batch]


async def batches(consumer: AIOKafkaConsumer, ranges: Ranges) -> AsyncIterator[list[Any]]:
    """The same in batches, each of one partition; those of a partition in order."""
    left = {tp: end for tp, (begin, end) in ranges.items() if begin < end}
    if not left:
        return
    consumer.assign(list(left))
    for tp in left:
        consumer.seek(tp, ranges[tp][0])
    while left:
        for tp, batch in (await consumer.getmany(*left, timeout_ms=500, max_records=POLL_SIZE)).items():
            yield [record for record in batch if record.offset < ranges[tp][1]]
        for tp, end in list(left.items()):
            if await consumer.position(tp) >= end:
                del left[tp]
