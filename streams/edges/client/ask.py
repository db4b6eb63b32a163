"""Request and reply: a record to one topic, its answer from another, or the dead letter that says why there is none."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord

from schemas.envelope import header_map
from schemas.topics import CONTEXT_PACKS, TOOLS_CALLS_OUT, Topic, dead_letter_topic
from streams.edges.client import clients
from streams.edges.client.errors import DOWN, FAILURE, CommandFailed
from streams.edges.client.records import OutgoingRecord
from streams.edges.client.send import deliver
from streams.runtime.dead_letters import REASON, STREAMS

POLL_S = 0.2


# The first stages of what is asked over HTTP and MCP.
LETTERS = tuple(dead_letter_topic(stage) for stage in ("depth", "tool-gate", "search"))
UNKNOWN_CONVERSATION = "unknown_conversation"


class RefusedRecord(CommandFailed):
    """A record that its stage has refused; `reason` is the code of its dead letter, the text its sentence."""

    def __init__(self, reason: str, sentence: str) -> None:
        super().__init__(sentence, FAILURE)
        self.reason = reason


def refusal_of(headers: Iterable[tuple[str, bytes | None]]) -> tuple[str, str, RefusedRecord] | None:
    """The id and the user of the event that a dead letter is of, and its refusal; None for a mark, or without id."""
    found = header_map(headers)
    if not found.get(REASON) or not found.get("ce_id"):
        return None
    return (
        found["ce_id"],
        found.get("user_id", ""),
        RefusedRecord(found[REASON], found.get(STREAMS + "message") or found[REASON]),
    )


def check_refusal(letter: ConsumerRecord, prepared: OutgoingRecord) -> None:
    """Raises `RefusedRecord` where a record of a dead-letter topic is of what was sent."""
    refused = refusal_of(letter.headers)
    if refused is not None and letter.key == prepared.key and refused[0] == header_map(prepared.headers).get("ce_id"):
        raise refused[-1]


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
    """Send a record and wait for its answer, by key and name; raises `CommandFailed` on a timeout and a refusal."""
    async with answers_of(awaited, bootstrap) as consumer, clients.producing(bootstrap) as producer:
        return await answered(prepared, awaited, consumer, producer, seconds)


@asynccontextmanager
async def answers_of(awaited: Awaited, bootstrap: str) -> AsyncIterator[AIOKafkaConsumer]:
    """A reader of answers, and of what their stage refuses, from now on."""
    topics = (awaited.topic.name, dead_letter_topic(awaited.stage))
    partitions = clients.partitions_of(await clients.partition_counts(bootstrap), topics)
    async with clients.reading(bootstrap, partitions) as consumer:
        yield consumer


async def answered(
    prepared: OutgoingRecord, awaited: Awaited, consumer: AIOKafkaConsumer, producer: AIOKafkaProducer, seconds: float
) -> bytes:
    """The answer to a record that is sent now; raises `CommandFailed` on a timeout and where its stage refuses it."""
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
            if record.key != prepared.key:
                continue
            if record.topic != awaited.topic.name:
                check_refusal(record, prepared)
            elif awaited.name_of(record.value) == prepared.name:
                return bytes(record.value)
