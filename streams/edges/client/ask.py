"""`fathom ask`: one question, its context pack."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from aiokafka import AIOKafkaConsumer

from schemas.packs import ContextPack
from schemas.topics import CONTEXT_PACKS, Topic
from streams.edges.client import clients, records
from streams.edges.client.console_output import console
from streams.edges.client.console_pack import line, pack_lines, signal_lines
from streams.edges.client.errors import DOWN, CommandFailed
from streams.edges.client.options import AskOptions, Send
from streams.edges.client.records import OutgoingRecord
from streams.edges.client.send import deliver, text_of

POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class Awaited:
    """What answers a record: on which topic, which name of the asked it carries, and where to look if none comes."""

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


def ask(wanted: AskOptions, broker: str | None, *, as_json: bool) -> None:
    """Send the question, wait for its pack, print it; raises `CommandFailed` when none came in time."""
    bootstrap = clients.bootstrap_of(broker)
    question = Send(
        text=text_of(wanted.text),
        tenant=wanted.tenant,
        client=wanted.client,
        conversation=wanted.conversation,
        user=wanted.user,
    )
    prepared = records.turn(question, question.text or "")
    raw = clients.run(pack_for(prepared, bootstrap, wanted.timeout))
    if as_json:
        print(raw.decode())
        return
    pack = ContextPack.model_validate_json(raw, extra="ignore")
    out = console()
    out.print(line(0, pack.query), style="bold")
    out.print(line(1, f"depth {pack.depth_level.value}, confidence {pack.confidence:.2f}"))
    for renderable in (*signal_lines(pack.signals), *pack_lines(pack)):
        out.print(renderable)


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
