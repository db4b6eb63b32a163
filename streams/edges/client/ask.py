"""Request and reply: a record to one topic, its answer from another."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from aiokafka import AIOKafkaConsumer

from schemas.packs import ContextPack
from schemas.tools import ToolCallResolved
from schemas.topics import CONTEXT_PACKS, TOOLS_CALLS_OUT, Topic
from streams.edges.client import clients
from streams.edges.client.errors import DOWN, CommandFailed
from streams.edges.client.records import OutgoingRecord
from streams.edges.client.send import deliver

POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class Awaited:
    """The expected answer to a record: its topic, how it names that record, and the stage to look at if none comes."""

    topic: Topic
    name_of: Callable[[bytes], str]
    what: str
    asked: str
    stage: str


PACK = Awaited(
    CONTEXT_PACKS,
    lambda value: ContextPack.model_validate_json(value, extra="ignore").message_id,
    "pack",
    "message",
    "depth",
)
VERDICT = Awaited(
    TOOLS_CALLS_OUT,
    lambda value: ToolCallResolved.model_validate_json(value, extra="ignore").call_id,
    "verdict",
    "call",
    "tool-gate",
)


async def pack_for(prepared: OutgoingRecord, bootstrap: str, seconds: float) -> bytes:
    """Send a question and wait for its pack; raises `CommandFailed` when none came in so many seconds."""
    return await answer_to(prepared, PACK, bootstrap, seconds)


async def answer_to(prepared: OutgoingRecord, awaited: Awaited, bootstrap: str, seconds: float) -> bytes:
    """Send a record and wait for what answers it, by its key and name; raises `CommandFailed` when nothing came."""
    partitions = clients.partitions_of(await clients.partition_counts(bootstrap), [awaited.topic.name])
    async with clients.reading(bootstrap, partitions) as consumer, clients.producing(bootstrap) as producer:
        sent = await deliver(producer, prepared)
        try:
            async with asyncio.timeout(seconds):
                return await _answer(consumer, prepared, awaited)
        except TimeoutError:
            raise CommandFailed(
                f"no {awaited.what} came within {seconds:g} s for {awaited.asked} {prepared.name} "
                f"({sent.topic}[{sent.partition}]@{sent.offset}); is a worker running? "
                f"look at `fathom tail dead-letters.{awaited.stage} --from-beginning` and at /health/ready of the "
                "worker",
                DOWN,
            ) from None


async def _answer(consumer: AIOKafkaConsumer, prepared: OutgoingRecord, awaited: Awaited) -> bytes:
    while True:
        for record in await clients.poll(consumer, POLL_S):
            if record.key == prepared.key and awaited.name_of(record.value) == prepared.name:
                return bytes(record.value)
