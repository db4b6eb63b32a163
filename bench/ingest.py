"""How soon what is sent can be found: a message in its own conversation and in another's, a document in any pack.

    make bench-ingest             last line: JSON with one row per kind of input

The stores are embedded, or those of FATHOM_REDIS_URL, FATHOM_QDRANT_URL and FATHOM_NEO4J_URL. Time runs from the append
to `messages.in` or `documents.in` to the append of the first question whose pack shows it, asked every twentieth of a
second, in the own conversation at once; nothing else goes on. A PDF is read in a process of its own, which the first
one starts: it is not counted.
"""

import asyncio
import base64
import itertools
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import uvloop
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from bench.measure import finish, say, spread
from bench.running import Running, fathom_up
from schemas.base import Conversation, entity_key
from schemas.topics import CONTEXT_PACKS, DOCUMENTS_IN, MESSAGES_IN
from tests.builders.pdf import pdf

TENANT = "bench"
ROUNDS, WARM = 20, 2
ASK_EVERY_S = 0.05
GIVE_UP_S = 60.0
PAGES, LINES = 10, 42
STORES = ("FATHOM_REDIS_URL", "FATHOM_QDRANT_URL", "FATHOM_NEO4J_URL")


@dataclass
class Client:
    """Sends, and reads packs by message."""

    producer: AIOKafkaProducer
    consumer: AIOKafkaConsumer
    packs: dict[str, tuple[dict[str, Any], "asyncio.Event"]]

    async def read(self) -> None:
        async for record in self.consumer:
            pack = json.loads(record.value)
            found, arrived = self.packs.get(pack["message_id"], ({}, None))
            found.update(pack)
            if arrived is not None:
                arrived.set()

    async def send(self, conversation: str, text: str, message_id: str) -> int:
        """When the broker appended a message, ms."""
        key = Conversation(tenant=TENANT, client_id="web", conversation_id=conversation).key()
        value = {
            "message_id": message_id,
            "role": "user",
            "content": text,
            "conversation_id": conversation,
            "client_id": "web",
        }
        headers = [("tenant", TENANT.encode()), ("user_id", b"ana")]
        sent = await self.producer.send_and_wait(
            MESSAGES_IN.name, json.dumps(value).encode(), key.encode(), headers=headers
        )
        return int(sent.timestamp)

    async def document(self, value: dict[str, Any]) -> int:
        """When the broker appended a document, ms."""
        key = entity_key(TENANT, value["document_id"]).encode()
        headers = [("tenant", TENANT.encode())]
        sent = await self.producer.send_and_wait(DOCUMENTS_IN.name, json.dumps(value).encode(), key, headers=headers)
        return int(sent.timestamp)

    async def seen(self, question: str, mark: str, conversation: str | None = None) -> int:
        """When the first question was appended whose pack shows the mark, ms; raises `TimeoutError`."""
        until = time.monotonic() + GIVE_UP_S
        while time.monotonic() < until:
            message_id, pack, arrived = str(uuid4()), dict[str, Any](), asyncio.Event()
            self.packs[message_id] = pack, arrived
            asked = await self.send(conversation or message_id, question, message_id)
            await asyncio.wait_for(arrived.wait(), GIVE_UP_S)
            del self.packs[message_id]
            shown = {name: pack.get(name) for name in ("working_set", "episodic", "semantic", "claims")}
            if mark in json.dumps(shown, ensure_ascii=False):
                return asked
            await asyncio.sleep(ASK_EVERY_S)
        raise TimeoutError(mark)


def sentences(mark: str, page: int) -> list[str]:
    """The lines of one page; one in the middle has the mark: the last of each, but for a number, would be a footer."""
    common = "A diretoria aprova o orçamento da fase {n} do projeto e paga o fornecedor no prazo {p}."
    lines = [common.format(n=n, p=page * LINES + n) for n in range(LINES)]
    lines.insert(LINES // 2, f"O fornecedor {mark} garante o equipamento da página {page}.")
    return lines


def markdown(mark: str) -> dict[str, Any]:
    text = "\n\n".join(f"# Capítulo {page}\n\n{' '.join(sentences(mark, page))}" for page in range(PAGES))
    return {"document_id": mark, "title": f"Manual {mark}", "text": text}


def of_pdf(mark: str) -> dict[str, Any]:
    pages = [[(18, f"Capítulo {page}"), *((10, line) for line in sentences(mark, page))] for page in range(PAGES)]
    return {"document_id": mark, "title": f"Manual {mark}", "data": base64.b64encode(pdf(pages)).decode()}


async def message_row(client: Client, number: int) -> float:
    mark = f"Quiron{number}{uuid4().hex[:6]}"
    sent = await client.send(mark, f"Decidimos usar o fornecedor {mark} no contrato.", str(uuid4()))
    return (
        await client.seen(f"Explica melhor o que decidimos sobre o fornecedor {mark}?", f"fornecedor {mark} no") - sent
    )


async def own_row(client: Client, number: int) -> float:
    """From a message to the next question of its conversation whose pack shows it."""
    mark = f"Quiron{number}{uuid4().hex[:6]}"
    sent = await client.send(mark, f"Decidimos usar o fornecedor {mark} no contrato.", str(uuid4()))
    return await client.seen("Explica melhor o que decidimos?", f"fornecedor {mark} no", conversation=mark) - sent


async def document_row(client: Client, number: int, make: Callable[[str], dict[str, Any]]) -> float:
    mark = f"Zenite{number}{uuid4().hex[:6]}"
    sent = await client.document(make(mark))
    # The last page is the last to be remembered.
    last = f"o equipamento da página {PAGES - 1}"
    return await client.seen(f"Explica melhor {last} do fornecedor {mark}?", f"{mark} garante {last}") - sent


async def measure(running: Running) -> list[dict[str, Any]]:
    producer = AIOKafkaProducer(bootstrap_servers=running.bootstrap, acks="all", max_request_size=4_000_000)
    consumer = AIOKafkaConsumer(CONTEXT_PACKS.name, bootstrap_servers=running.bootstrap, fetch_max_wait_ms=20)
    await producer.start()
    await consumer.start()
    client = Client(producer, consumer, {})
    reading = asyncio.create_task(client.read())
    rows = []
    kinds: dict[str, Callable[[int], Any]] = {
        "message, own conversation": lambda number: own_row(client, number),
        "message, another's": lambda number: message_row(client, number),
        "markdown, 10 pages": lambda number: document_row(client, number, markdown),
        "pdf, 10 pages": lambda number: document_row(client, number, of_pdf),
    }
    try:
        for kind, once in kinds.items():
            times = [await once(number) for number in itertools.islice(itertools.count(), ROUNDS + WARM)][WARM:]
            rows.append({"kind": kind, "to": "visible, ms", **spread(times)})
            say(json.dumps(rows[-1], ensure_ascii=False))
    finally:
        reading.cancel()
        await consumer.stop()
        await producer.stop()
    return rows


def main() -> int:
    uvloop.install()
    stores = [name for name in STORES if os.environ.get(name)]
    with fathom_up() as running:
        rows = asyncio.run(measure(running))
    part = "ingest on servers" if stores else "ingest"
    finish(part, "make bench-ingest", {"rows": rows, "stores": ", ".join(stores) or "embedded"})
    return 0


if __name__ == "__main__":
    sys.exit(main())
