"""Sending of records to the broker, and their acknowledged positions."""

import asyncio
import sys
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError
from aiokafka.structs import RecordMetadata

from agents.errors import Unavailable
from streams.edges.client import clients
from streams.edges.client.errors import DOWN, USAGE, CommandFailed
from streams.edges.client.records import OutgoingRecord
from streams.edges.client.standard_output import print_json

STDIN = "-"


@dataclass(frozen=True, slots=True)
class SentRecord:
    """The position of an acknowledged record."""

    topic: str
    partition: int
    offset: int
    message_id: str


def text_of(text: str) -> str:
    """The text itself, or all of stdin for `-`."""
    said = _typed().strip() if text == STDIN else text
    if not said.strip():
        raise CommandFailed("there is nothing to send: the text is empty", USAGE)
    return said


def _typed() -> str:
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise CommandFailed("standard input is no UTF-8 text; nothing was sent: write it in UTF-8", USAGE) from None


def send_one(
    prepared: OutgoingRecord,
    broker: str | None,
    *,
    as_json: bool,
    names: Callable[[str], Awaitable[OutgoingRecord | None]] | None = None,
) -> None:
    """Send one record and print its position; `names` first looks for what it names. Raises `CommandFailed`.

    What `names` returns is sent instead: the record with the name as the log has it."""
    bootstrap = clients.bootstrap_of(broker, writes=True)

    async def story() -> SentRecord:
        named = None if names is None else await names(bootstrap)
        async with clients.producing(bootstrap) as producer:
            return await deliver(producer, named or prepared)

    sent = clients.run(story())
    if as_json:
        print_json(sent)
    else:
        print(f"{sent.message_id} is at {sent.topic}[{sent.partition}]@{sent.offset}")


async def deliver(producer: AIOKafkaProducer, prepared: OutgoingRecord) -> SentRecord:
    """Send one record and wait for the broker's acknowledgement."""
    return await acknowledged(await hand_over(producer, prepared), prepared)


async def send_all(
    producer: AIOKafkaProducer, outgoing: AsyncIterable[OutgoingRecord], under_way: int
) -> AsyncIterator[tuple[OutgoingRecord, SentRecord]]:
    """Send records in order, up to a number in flight; yields each once the broker has it.

    Raises `CommandFailed`.
    """
    waiting: deque[tuple[asyncio.Future[RecordMetadata], OutgoingRecord]] = deque()
    async for prepared in outgoing:
        waiting.append((await hand_over(producer, prepared), prepared))
        if len(waiting) < under_way:
            continue
        # Half of them at a time: one by one, batches would be almost empty.
        while len(waiting) > under_way // 2:
            yield waiting[0][1], await acknowledged(*waiting.popleft())
    while waiting:
        yield waiting[0][1], await acknowledged(*waiting.popleft())


async def hand_over(producer: AIOKafkaProducer, prepared: OutgoingRecord) -> "asyncio.Future[RecordMetadata]":
    """Hand a record to the producer; the result is done when the broker has it."""
    try:
        handed: asyncio.Future[RecordMetadata] = await producer.send(
            prepared.topic, prepared.value, key=prepared.key, headers=prepared.headers
        )
    except KafkaError as error:
        raise _not_taken(error) from error
    except Unavailable as unavailable:
        raise CommandFailed(f"{unavailable}; start the store that FATHOM_SUBJECT_KEYS names", DOWN) from None
    return handed


async def acknowledged(handed: "asyncio.Future[RecordMetadata]", prepared: OutgoingRecord) -> SentRecord:
    """The position of a record handed over; raises `CommandFailed`."""
    try:
        place = await handed
    except KafkaError as error:
        raise _not_taken(error) from error
    return SentRecord(place.topic, place.partition, place.offset, prepared.name)


def _not_taken(error: KafkaError) -> CommandFailed:
    return CommandFailed(f"the broker did not take the record: {error or type(error).__name__}; send it again", DOWN)
