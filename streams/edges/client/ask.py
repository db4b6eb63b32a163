"""Request and reply: a record to one topic, its answer from another."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from schemas.topics import CONTEXT_PACKS, TOOLS_CALLS_OUT, Topic
from streams.edges.client import clients
from streams.edges.client.errors import DOWN, CommandFailed
from streams.edges.client.records import OutgoingRecord
from streams.edges.client.send import deliver

POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class Awaited:
    """The expected answer to a record: its topic, the field that names that record, and the stage to look at if none
    comes.
    """

    topic: Topic
    field: str
    what: str
    stage: str

    def name_of(self, value: bytes) -> str:
        """The name of the record that is answered."""
        return str(getattr(self.topic.events[0].model_validate_json(value, extra="ignore"), self.field))


PACK = Awaited(CONTEXT_PACKS, "message_id", "pack", "depth")
VERDICT = Awaited(TOOLS_CALLS_OUT, "call_id", "verdict", "tool-gate")


async def answer_to(prepared: OutgoingRecord, awaited: Awaited, bootstrap: str, seconds: float) -> bytes:
    """Send a record and wait for its answer, by key and name; raises `CommandFailed` on a timeout."""
    async with answers_of(awaited, bootstrap) as consumer, clients.producing(bootstrap) as producer:
        return await answered(prepared, awaited, consumer, producer, seconds)


@asynccontextmanager
async def answers_of(awaited: Awaited, bootstrap: str) -> AsyncIterator[AIOKafkaConsumer]:
    """A reader of answers from now on."""
    partitions = clients.partitions_of(await clients.partition_counts(bootstrap), [awaited.topic.name])
    async with clients.reading(bootstrap, partitions) as consumer:
        yield consumer


async def answered(
    prepared: OutgoingRecord, awaited: Awaited, consumer: AIOKafkaConsumer, producer: AIOKafkaProducer, seconds: float
) -> bytes:
    """The answer to a record that is sent now; raises `CommandFailed` on a timeout."""
    sent = await deliver(producer, prepared)
    try:
        async with asyncio.timeout(seconds):
            return await _answer(consumer, prepared, awaited)
    except TimeoutError:
        raise CommandFailed(
            f"no {awaited.what} came within {seconds:g} s for {awaited.field.removesuffix('_id')} {prepared.name} "
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
