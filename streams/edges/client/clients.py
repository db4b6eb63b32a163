"""The Kafka clients of every edge: the broker's address, a producer, a reader, an admin client."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TypeVar

import uvloop
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaConnectionError

from agents.errors import Unavailable
from schemas.envelope import KeysNeeded, is_encrypted
from streams import config
from streams.edges.client.errors import CONFIG, DOWN, CommandFailed
from streams.kafka import broker_diagnosis
from streams.kafka import clients as kafka_clients
from streams.kafka.aiokafka_private import fetch_patiently
from streams.kafka.security import Security, security_of
from streams.runtime import data_dir

T = TypeVar("T")
C = TypeVar("C", AIOKafkaProducer, AIOKafkaConsumer, AIOKafkaAdminClient)

CLIENT_ID = "fathom-cli"
POLL_MS = 200
# Topics that outsiders write, who may forge the header of encrypted records.
OUTSIDE = ".in"
# They hold what outsiders sent, headers too.
DEAD_LETTERS = "dead-letters."
# A reader without a group leaves no state at the broker, so its stop is not awaited.
STOP_S = 2.0


def run(main: Coroutine[object, object, T]) -> T:
    """Run a command's coroutine without the logs of aiokafka: the command itself reports an error in one sentence."""
    for chatty in ("aiokafka", "asyncio"):
        logging.getLogger(chatty).setLevel(logging.CRITICAL + 1)
    return uvloop.run(main)


def bootstrap_of(broker: str | None, *, writes: bool = False) -> str:
    """The host:port of a broker, given or from the settings.

    Raises `CommandFailed` when none runs in its directory, or `writes` and the disk there is full.
    """
    settings = config.load(broker=broker)
    security_of(settings)  # wrong settings are reported before anything is sent
    address = settings.broker
    directory = data_dir.home_of(address)
    if directory is None:
        return address
    found = data_dir.running(directory)
    if found is None:
        raise CommandFailed(
            f"nothing is running in {directory}; start `fathom up --data {directory}` in another terminal, "
            "or name a broker with --broker",
            DOWN,
        )
    if writes and (wrong := data_dir.full(directory)):
        raise CommandFailed(f"{wrong}, then try again", DOWN)
    return found.bootstrap


def security_for(bootstrap: str) -> Security:
    """The security settings for a given or found broker; raises `ConfigError`."""
    return security_of(config.load(broker=bootstrap))


@asynccontextmanager
async def _running(client: C, stop: Callable[[], Awaitable[object]], bootstrap: str) -> AsyncIterator[C]:
    """A started client, stopped at the end.

    Raises `CommandFailed` where no broker answers, `BrokerRejected` where one does and lets nobody in.
    """
    try:
        await client.start()
    except KafkaConnectionError:
        await stop()
        hint = await broker_diagnosis.check(bootstrap, security_for(bootstrap))
        next_step = hint or "check that it runs and that the address is right"
        raise CommandFailed(f"no broker answers at {bootstrap}; {next_step}", DOWN) from None
    try:
        yield client
    finally:
        await stop()


@asynccontextmanager
async def producing(bootstrap: str, *, linger_ms: int = 2, **options: int) -> AsyncIterator[AIOKafkaProducer]:
    """An idempotent producer with a short linger, to fill its batches."""
    security = security_for(bootstrap)
    producer = kafka_clients.new_producer(bootstrap, security, client_id=CLIENT_ID, linger_ms=linger_ms, **options)
    async with _running(producer, producer.stop, bootstrap):
        yield producer


@asynccontextmanager
async def reading(
    bootstrap: str,
    partitions: Iterable[TopicPartition],
    *,
    from_beginning: bool = False,
    wait_ms: int = POLL_MS,
    as_stored: bool = False,
) -> AsyncIterator[AIOKafkaConsumer]:
    """A reader without a group, positioned at the current ends (or beginnings) of partitions.

    `as_stored` leaves encrypted values as they are. `wait_ms` is how long the broker holds a fetch that
    finds nothing, and with it every other request of this reader.
    """
    security = security_for(bootstrap)
    consumer = kafka_clients.new_consumer(
        bootstrap,
        replace(security, encryption=None) if as_stored else security,
        client_id=CLIENT_ID,
        fetch_max_wait_ms=wait_ms,
    )

    async def stop() -> None:
        # aiokafka's fetcher may swallow its cancellation, and waiting for it would never end.
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_S):
                await consumer.stop()

    async with _running(consumer, stop, bootstrap):
        wanted = list(partitions)
        consumer.assign(wanted)
        find = consumer.beginning_offsets if from_beginning else consumer.end_offsets
        # Positioned now: on the first read, records sent in between would be missed.
        for tp, offset in (await find(wanted)).items():
            consumer.seek(tp, offset)
        yield consumer


@asynccontextmanager
async def following(bootstrap: str, partitions: Iterable[TopicPartition]) -> AsyncIterator[AIOKafkaConsumer]:
    """The same for a reader that stays: the broker holds its fetches for longer while nothing comes."""
    async with reading(bootstrap, partitions) as consumer:
        fetch_patiently(consumer)
        yield consumer


@asynccontextmanager
async def administering(bootstrap: str) -> AsyncIterator[AIOKafkaAdminClient]:
    """A client for topics and groups."""
    admin = kafka_clients.new_admin(bootstrap, security_for(bootstrap), client_id=CLIENT_ID)
    async with _running(admin, admin.close, bootstrap):
        yield admin


async def partition_counts(bootstrap: str) -> dict[str, int]:
    """The partition count of each topic of the broker."""
    async with administering(bootstrap) as admin:
        described = await admin.describe_topics()
    return {topic["topic"]: len(topic["partitions"]) for topic in described if not topic["error_code"]}


def partitions_of(counts: Mapping[str, int], topics: Iterable[str]) -> list[TopicPartition]:
    """All partitions of the topics; raises `CommandFailed` for an unknown topic."""
    found = []
    for topic in topics:
        if topic not in counts:
            raise CommandFailed(
                f"the broker has no topic {topic}; `fathom topics apply` makes all that are missing", CONFIG
            )
        found += [TopicPartition(topic, number) for number in range(counts[topic])]
    return found


async def poll(consumer: AIOKafkaConsumer, timeout: float) -> list[ConsumerRecord]:
    """The next records of all partitions, by time; none after `timeout` seconds.

    Raises `CommandFailed` for records of ours that are encrypted under keys that this process does not have, and where
    the key store does not answer.
    """
    try:
        batches = await consumer.getmany(timeout_ms=max(int(timeout * 1000), 1))
    except Unavailable as unavailable:
        raise CommandFailed(f"{unavailable}; start the store that FATHOM_SUBJECT_KEYS names", DOWN) from None
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        # Its `wait_for` (Python 3.11) loses a Ctrl-C when records arrive at the same moment.
        raise asyncio.CancelledError
    records = [record for batch in batches.values() for record in batch]
    for each in records:
        outside = each.topic.endswith(OUTSIDE) or each.topic.startswith(DEAD_LETTERS)
        if not outside and is_encrypted(each.headers, each.value):
            raise CommandFailed(str(KeysNeeded(f"{each.topic}[{each.partition}]@{each.offset}")), CONFIG)
    return sorted(records, key=lambda record: (record.timestamp, record.partition, record.offset))


async def rest(consumer: AIOKafkaConsumer, seconds: float, called: asyncio.Event) -> None:
    """Fetch nothing for so long, or until `called`: what is written meanwhile comes in one fetch.

    Only between polls: it forgets what a fetch in flight brings.
    """
    resting = consumer.assignment()
    consumer.pause(*resting)
    try:
        async with asyncio.timeout(seconds):
            await called.wait()
    except TimeoutError:
        return
    finally:
        consumer.resume(*resting)


async def arrived(consumer: AIOKafkaConsumer, ends: Mapping[TopicPartition, int]) -> bool:
    """Whether every partition has been read up to these offsets."""
    for tp, end in ends.items():
        if await consumer.position(tp) < end:
            return False
    return True


@dataclass(frozen=True, slots=True)
class Connected:
    """All three clients of one broker; the consumer reads some topics from now on."""

    consumer: AIOKafkaConsumer
    producer: AIOKafkaProducer
    admin: AIOKafkaAdminClient
    counts: Mapping[str, int]

    async def ends(self, topics: Iterable[str]) -> dict[TopicPartition, int]:
        """The current ends of topics."""
        found: dict[TopicPartition, int] = await self.consumer.end_offsets(partitions_of(self.counts, topics))
        return found

    async def committed(self, group: str, topics: Iterable[str]) -> bool:
        """Whether a consumer group has committed the ends of topics."""
        ends, found = await self.ends(topics), await self.admin.list_consumer_group_offsets(group)
        return all(not end or (tp in found and found[tp].offset >= end) for tp, end in ends.items())


@asynccontextmanager
async def connected(bootstrap: str, topics: Iterable[str]) -> AsyncIterator[Connected]:
    """A broker, and a reader of topics."""
    counts = await partition_counts(bootstrap)
    async with (
        reading(bootstrap, partitions_of(counts, topics)) as consumer,
        producing(bootstrap) as producer,
        administering(bootstrap) as admin,
    ):
        yield Connected(consumer, producer, admin, counts)
