"""What the commands that talk to a broker share: finding it, one producer, one reader, and an ending in a sentence."""

import logging
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import uvloop
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaConnectionError

from streams import config, home
from streams.edges.errors import CONFIG, DOWN, CommandFailed

T = TypeVar("T")

LARGEST = 4_000_000
POLL_MS = 200


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a command's coroutine; what aiokafka would log on the way is ours to say, in one sentence."""
    for chatty in ("aiokafka", "asyncio"):
        logging.getLogger(chatty).setLevel(logging.CRITICAL + 1)
    return uvloop.run(main)


def bootstrap_of(broker: str | None) -> str:
    """host:port of the broker that is meant; raises `CommandFailed` when nothing runs in its directory."""
    address = config.load(broker=broker).broker
    directory = home.home_of(address)
    if directory is None:
        return address
    found = home.running(directory)
    if found is None:
        raise CommandFailed(
            f"nothing is running in {directory}; start `fathom up --data {directory}` in another terminal, "
            "or name a broker with --broker",
            DOWN,
        )
    return found.bootstrap


def _unreachable(bootstrap: str) -> CommandFailed:
    return CommandFailed(f"no broker answers at {bootstrap}; check that it runs and that the address is right", DOWN)


@asynccontextmanager
async def producing(bootstrap: str) -> AsyncIterator[AIOKafkaProducer]:
    """An idempotent producer that waits a little to fill its batches."""
    producer = AIOKafkaProducer(
        bootstrap_servers=bootstrap,
        client_id="fathom-cli",
        acks="all",
        enable_idempotence=True,
        linger_ms=2,
        max_request_size=LARGEST,
    )
    try:
        await producer.start()
    except KafkaConnectionError:
        await producer.stop()
        raise _unreachable(bootstrap) from None
    try:
        yield producer
    finally:
        await producer.stop()


@asynccontextmanager
async def reading(
    bootstrap: str, partitions: Iterable[TopicPartition], *, from_beginning: bool = False
) -> AsyncIterator[AIOKafkaConsumer]:
    """A reader of no group that stands at the ends (or beginnings) of partitions, as they are now."""
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap,
        client_id="fathom-cli",
        enable_auto_commit=False,
        fetch_max_wait_ms=POLL_MS,
        max_partition_fetch_bytes=LARGEST,
    )
    try:
        await consumer.start()
    except KafkaConnectionError:
        await consumer.stop()
        raise _unreachable(bootstrap) from None
    try:
        wanted = list(partitions)
        consumer.assign(wanted)
        find = consumer.beginning_offsets if from_beginning else consumer.end_offsets
        # Sought now: left to the first read, what is sent in between would be missed.
        for tp, offset in (await find(wanted)).items():
            consumer.seek(tp, offset)
        yield consumer
    finally:
        await consumer.stop()


@asynccontextmanager
async def administering(bootstrap: str) -> AsyncIterator[AIOKafkaAdminClient]:
    """A client for topics and groups."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap, client_id="fathom-cli")
    try:
        await admin.start()
    except KafkaConnectionError:
        await admin.close()
        raise _unreachable(bootstrap) from None
    try:
        yield admin
    finally:
        await admin.close()


async def partition_counts(bootstrap: str) -> dict[str, int]:
    """How many partitions each topic of the broker has."""
    async with administering(bootstrap) as admin:
        described = await admin.describe_topics()
    return {topic["topic"]: len(topic["partitions"]) for topic in described if not topic["error_code"]}


def partitions_of(counts: Mapping[str, int], topics: Iterable[str]) -> list[TopicPartition]:
    """All partitions of the topics; raises `CommandFailed` for one that does not exist."""
    found = []
    for topic in topics:
        if topic not in counts:
            raise CommandFailed(
                f"the broker has no topic {topic}; `fathom topics apply` makes all that are missing", CONFIG
            )
        found += [TopicPartition(topic, number) for number in range(counts[topic])]
    return found


async def poll(consumer: AIOKafkaConsumer, timeout: float) -> list[ConsumerRecord]:
    """The next records of all partitions, by their time; none when `timeout` seconds passed."""
    batches = await consumer.getmany(timeout_ms=max(int(timeout * 1000), 1))
    records = [record for batch in batches.values() for record in batch]
    return sorted(records, key=lambda record: (record.timestamp, record.partition, record.offset))


async def arrived(consumer: AIOKafkaConsumer, ends: Mapping[TopicPartition, int]) -> bool:
    """Whether every partition has been read up to these offsets."""
    for tp, end in ends.items():
        if await consumer.position(tp) < end:
            return False
    return True
