"""`fathom ask`: one question, its context pack."""

import asyncio

from aiokafka import AIOKafkaConsumer, ConsumerRecord

from schemas.packs import ContextPack
from schemas.topics import CONTEXT_PACKS
from streams.edges import cli_clients, cli_records
from streams.edges.cli_options import Ask, Send
from streams.edges.cli_records import Prepared
from streams.edges.cli_send import deliver, text_of
from streams.edges.console_output import console
from streams.edges.console_pack import line, pack_lines, signal_lines
from streams.edges.errors import DOWN, CommandFailed

POLL_S = 0.2


def ask(wanted: Ask, broker: str | None, *, as_json: bool) -> None:
    """Send the question, wait for its pack, print it; raises `CommandFailed` when none came in time."""
    bootstrap = cli_clients.bootstrap_of(broker)
    question = Send(
        text=text_of(wanted.text),
        tenant=wanted.tenant,
        client=wanted.client,
        conversation=wanted.conversation,
        user=wanted.user,
    )
    prepared = cli_records.turn(question, question.text or "")
    raw = cli_clients.run(pack_for(prepared, bootstrap, wanted.timeout))
    if as_json:
        print(raw.decode())
        return
    pack = ContextPack.model_validate_json(raw, extra="ignore")
    out = console()
    out.print(line(0, pack.query), style="bold")
    out.print(line(1, f"depth {pack.depth_level.value}, confidence {pack.confidence:.2f}"))
    for renderable in (*signal_lines(pack.signals), *pack_lines(pack)):
        out.print(renderable)


async def pack_for(prepared: Prepared, bootstrap: str, seconds: float) -> bytes:
    """Send a question and wait for its pack; raises `CommandFailed` when none came in so many seconds."""
    partitions = cli_clients.partitions_of(await cli_clients.partition_counts(bootstrap), [CONTEXT_PACKS.name])
    async with cli_clients.reading(bootstrap, partitions) as consumer, cli_clients.producing(bootstrap) as producer:
        sent = await deliver(producer, prepared)
        try:
            async with asyncio.timeout(seconds):
                return await _pack_of(consumer, prepared.key, prepared.name)
        except TimeoutError:
            raise CommandFailed(
                f"no pack came within {seconds:g} s for message {prepared.name} "
                f"({sent.topic}[{sent.partition}]@{sent.offset}); is a worker running? "
                "look at `fathom tail dead-letters.depth --from-beginning` and at /health/ready of the worker",
                DOWN,
            ) from None


async def _pack_of(consumer: AIOKafkaConsumer, key: bytes, message_id: str) -> bytes:
    while True:
        for record in await cli_clients.poll(consumer, POLL_S):
            if record.key == key and _message_of(record) == message_id:
                return bytes(record.value)


def _message_of(record: ConsumerRecord) -> str:
    return ContextPack.model_validate_json(record.value, extra="ignore").message_id
