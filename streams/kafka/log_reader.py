"""Reading of the current content of a log, between two offsets."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaError

from agents.errors import Unavailable
from schemas import codec
from schemas.base import Event
from schemas.codec import Undecodable
from schemas.envelope import Received
from schemas.topics import BY_NAME
from streams.kafka import clients
from streams.kafka.security import Security
from streams.kafka.time_slice import TimeSlice

POLL_SIZE, POLL_MS = 500, 500
# A consumer without a group learns of its topics when it first asks for them, and asks again after this time.
RETRY_MS = 5

Ranges = Mapping[TopicPartition, tuple[int, int]]


@asynccontextmanager
async def opened(bootstrap: str, security: Security, what: str, **options: Any) -> AsyncIterator[AIOKafkaConsumer]:
    """A consumer without a group; raises `Unavailable` for `what` when the broker does not answer, now or later."""
    consumer = clients.new_consumer(bootstrap, security, retry_backoff_ms=RETRY_MS, **options)
    try:
        await consumer.start()
        yield consumer
    except KafkaError as error:
        raise Unavailable(what, str(error) or type(error).__name__) from error
    finally:
        await consumer.stop()


async def bounds(consumer: AIOKafkaConsumer, topic: str, partitions: Iterable[int]) -> Ranges:
    """The first offset of each partition, and the one after the last."""
    return await bounds_of(consumer, [TopicPartition(topic, partition) for partition in partitions])


async def bounds_of(consumer: AIOKafkaConsumer, asked: Sequence[TopicPartition]) -> Ranges:
    """The same of partitions of several topics: a reader takes as long to learn of one topic as of all."""
    firsts, ends = await consumer.beginning_offsets(asked), await consumer.end_offsets(asked)
    return {tp: (firsts[tp], ends[tp]) for tp in asked}


async def full_ranges(consumer: AIOKafkaConsumer, topic: str, partitions: Iterable[int]) -> Ranges:
    """The whole of each non-empty partition."""
    return {tp: ends for tp, ends in (await bounds(consumer, topic, partitions)).items() if ends[0] < ends[1]}


async def written_since(consumer: AIOKafkaConsumer, ranges: Ranges, since: Mapping[int, int] | None) -> Ranges:
    """The ranges written since a time (ms) of each partition; empty for a partition without a time."""
    if since is None:
        return ranges
    asked = {tp: max(since[tp.partition], 0) for tp in ranges if tp.partition in since}
    found = await consumer.offsets_for_times(asked) if asked else {}
    begins = {tp: ranges[tp][1] if found.get(tp) is None else found[tp].offset for tp in asked}
    return {tp: (max(begins[tp], ranges[tp][0]), ranges[tp][1]) for tp in asked}


async def events(consumer: AIOKafkaConsumer, ranges: Ranges) -> AsyncIterator[Received[Event]]:
    """The events in these ranges; undecodable records are an outsider's and had no effect."""
    mine = TimeSlice()
    async for batch in batches(consumer, ranges):
        for record in batch:
            await mine.check()
            try:
                received = codec.decode_record(BY_NAME[record.topic], record)
            except Undecodable:
                continue
            yield received


async def records(consumer: AIOKafkaConsumer, ranges: Ranges) -> list[ConsumerRecord]:
    """The records in these ranges; those removed by retention or compaction are skipped."""
    return [record async for batch in batches(consumer, ranges) for record in batch]


async def newest_first(
    consumer: AIOKafkaConsumer, ranges: Ranges, window: int, longest: int
) -> AsyncGenerator[tuple[list[ConsumerRecord], Ranges]]:
    """The records in these ranges window by window backwards, with what is left before each; once without any.

    A window has so many records of each partition, and twice as many as the one before it, up to the longest.
    """
    left = ranges
    while True:
        starts = {tp: max(begin, end - window) for tp, (begin, end) in left.items()}
        found = await records(consumer, {tp: (starts[tp], end) for tp, (_, end) in left.items()})
        left = {tp: (begin, starts[tp]) for tp, (begin, _) in left.items()}
        yield found, left
        if all(begin >= end for begin, end in left.values()):
            return
        window = min(2 * window, longest)


async def first_records(consumer: AIOKafkaConsumer, ranges: Ranges) -> dict[TopicPartition, ConsumerRecord]:
    """The first record of each non-empty range."""
    found: dict[TopicPartition, ConsumerRecord] = {}
    wanted = {tp for tp, (begin, end) in ranges.items() if begin < end}
    async with aclosing(batches(consumer, ranges, most=4 * len(wanted))) as read:
        async for batch in read:
            tp = TopicPartition(batch[0].topic, batch[0].partition)
            found.setdefault(tp, batch[0])
            if found.keys() == wanted:
                break
    return found


async def batches(
    consumer: AIOKafkaConsumer, ranges: Ranges, *, most: int = POLL_SIZE
) -> AsyncGenerator[list[ConsumerRecord], None]:
    """The records in these ranges in batches, each of one partition; those of a partition in order."""
    left = {tp: end for tp, (begin, end) in ranges.items() if begin < end}
    if not left:
        return
    consumer.assign(list(left))
    for tp in left:
        consumer.seek(tp, ranges[tp][0])
    while left:
        for tp, found in (await consumer.getmany(*left, timeout_ms=POLL_MS, max_records=most)).items():
            if batch := [record for record in found if record.offset < ranges[tp][1]]:
                yield batch
        for tp, end in list(left.items()):
            # Not the last record's offset: a partition may end with a control record.
            if await consumer.position(tp) >= end:
                del left[tp]
                consumer.pause(tp)
