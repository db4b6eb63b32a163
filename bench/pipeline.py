"""Pack latency and throughput of `fathom up`: append to `messages.in` to append to `context-packs.out`, by level.

    make bench-pipeline           last line: JSON with one row per rate and level
    make bench-servers            the same for D0 and D2, lowest rate, on the four servers that the environment names;
                                  ends with 2 where it does not name all

The client is this process; broker and stages are their own. Latency is the difference of the two records' times in the
log (milliseconds). Each level is asked in conversations that have the history it needs, each about a project of its
own, once everything that learns has caught up. While it is asked, what learns goes on: `behind` says how many records
it had still to read when the last question was sent, `caught_up_s` how long it then took. Nothing is forgotten between
rows: later ones search what all earlier ones have left.
"""

import argparse
import asyncio
import itertools
import json
import os
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.request import urlopen

import uvloop
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from bench.measure import finish, percentile, say
from bench.running import Running, cpu_by_process, fathom_up, fathom_worker, resident_mb
from schemas.base import Conversation
from schemas.topics import CONTEXT_PACKS, DOCUMENTS_IN, MESSAGES_IN

RATES = (50, 100, 200, 500)
SECONDS = 10
CLIMBED = ("D0", "D2")
GOAL_MS = 200
SERVERS = ("FATHOM_BROKER", "FATHOM_REDIS_URL", "FATHOM_QDRANT_URL", "FATHOM_NEO4J_URL")
# What the worker measures about itself, and how often it does.
WAITING = ("fathom_consumer_lag_records{", "fathom_uncommitted_records{")
MEASURED_EVERY_S = 0.6
TENANT = "bench"
QUESTIONS = {
    "D0": ("Qual o email de João {n}?", "Qual o prazo do contrato {n}?", "What is the budget of project {n}?"),
    "D1": ("e o orçamento {n}?", "e a fase {n}?", "and the budget {n}?"),
    "D2": ("por quê o prazo {n}?", "explica melhor a fase {n}", "Qual a diferença entre o projeto {n} e o projeto Y?"),
    "D3": (
        "Não, o prazo mudou para dia 20",
        "Isso está errado, são {n} fases",
        "não concordo com esse prazo de {n} dias",
    ),
    "D4": (
        "Mudando de assunto, quem aprova férias de {n} dias?",
        "Outro assunto: como está a política de reembolso {n}?",
        "Mudando de assunto, quem responde pelo contrato {n}?",
    ),
}
HISTORY = (
    ("user", "Fala do projeto {n}"),
    ("assistant", "O projeto {n} está em execução com 3 fases e o prazo é dia 15."),
)
CONVERSATIONS = 400
USERS = 100
HANDBOOK = "\n\n".join(
    f"# Política {n}\n\nA política {n} de férias e reembolso do projeto X garante {n} dias por ano. "
    f"O orçamento da fase {n} é de {n} mil reais. Quem aprova é a diretoria {n}."
    for n in range(1, 60)
)


class Client:
    """Publishes messages and matches packs to them."""

    def __init__(self, bootstrap: str) -> None:
        self.producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all")
        self.consumer = AIOKafkaConsumer(
            CONTEXT_PACKS.name, bootstrap_servers=bootstrap, auto_offset_reset="earliest", fetch_max_wait_ms=100
        )
        self.sent: dict[str, int] = {}
        self.packs: dict[str, tuple[str, float, bool]] = {}
        self._numbers = itertools.count()
        self._reading: asyncio.Task[None] | None = None

    async def start(self) -> None:
        await self.producer.start()
        await self.consumer.start()
        self._reading = asyncio.create_task(self._read())

    async def stop(self) -> None:
        assert self._reading is not None
        self._reading.cancel()
        await self.consumer.stop()
        await self.producer.stop()

    async def _read(self) -> None:
        async for record in self.consumer:
            pack = json.loads(record.value)
            message_id = pack["message_id"]
            if message_id in self.sent:
                self.packs[message_id] = (
                    pack["depth_level"],
                    record.timestamp - self.sent[message_id],
                    pack["degraded"],
                )

    async def say(self, conversation: str, text: str, role: str = "user", *, tenant: str = TENANT) -> str:
        number = next(self._numbers)
        message_id = f"m{number}"
        key = Conversation(tenant=tenant, client_id="web", conversation_id=conversation).key()
        value = {
            "message_id": message_id,
            "role": role,
            "content": text,
            "conversation_id": conversation,
            "client_id": "web",
        }
        user = f"user-{zlib.crc32(conversation.encode()) % USERS}"
        headers = [("tenant", tenant.encode()), ("user_id", user.encode())]
        future = await self.producer.send(
            MESSAGES_IN.name, json.dumps(value).encode(), key=key.encode(), headers=headers
        )
        future.add_done_callback(lambda done: self.sent.__setitem__(message_id, done.result().timestamp))
        return message_id

    async def remember(self) -> None:
        document = {"document_id": "handbook", "title": "Handbook", "text": HANDBOOK}
        await self.producer.send_and_wait(
            DOCUMENTS_IN.name, json.dumps(document).encode(), key=b"handbook", headers=[("tenant", TENANT.encode())]
        )

    async def all_packed(self, ids: list[str], limit: float) -> None:
        deadline = time.monotonic() + limit
        while time.monotonic() < deadline and any(one not in self.packs for one in ids):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def at_rate(client: Client, level: str, rate: int, seconds: float, running: Running) -> dict[str, Any]:
    """One level at one rate, in as many conversations as messages, each with its history."""
    questions = itertools.cycle(QUESTIONS[level])
    prefix = f"{level}-{rate}-{time.monotonic_ns()}"
    total = int(rate * seconds)
    if level != "D0":
        for n in range(min(total, CONVERSATIONS)):
            for role, text in HISTORY:
                await client.say(f"{prefix}-{n}", text.format(n=n), role)
        await client.producer.flush()
    await caught_up(running)
    ids: list[str] = []
    before = cpu_by_process(running.pid)
    for n in paced(total, rate):
        await n
        number = len(ids)
        ids.append(await client.say(f"{prefix}-{number % CONVERSATIONS}", next(questions).format(n=number)))
    left = await behind(running)
    await client.all_packed(ids, 20)
    learnt = await caught_up(running)
    used = {kind: after - before.get(kind, 0.0) for kind, after in cpu_by_process(running.pid).items()}
    found = [client.packs[one] for one in ids if one in client.packs]
    values = [latency for _, latency, _ in found]
    row = {
        "level": level,
        "rate": rate,
        "sent": len(ids),
        "packs": len(found),
        "p50_ms": percentile(values, 0.5) if values else None,
        "p95_ms": percentile(values, 0.95) if values else None,
        "p99_ms": percentile(values, 0.99) if values else None,
        "degraded": sum(degraded for *_, degraded in found),
        "as_level": sum(one[0] == level for one in found),
        "cpu_ms_a_message": {kind: round(1000 * seconds / total, 1) for kind, seconds in used.items()},
        "behind": left,
        "caught_up_s": round(learnt, 1),
    }
    say(json.dumps(row))
    return row


async def behind(running: Running) -> int:
    """Records that some group has still to read, or to commit."""
    page = await asyncio.to_thread(_metrics, running.http)
    counts = (line.rpartition(" ")[2] for line in page.splitlines() if line.startswith(WAITING))
    return round(sum(map(float, counts)))


def _metrics(http: str) -> str:
    with urlopen(f"http://{http}/metrics", timeout=30) as answer:
        return str(answer.read(), "utf-8")


async def caught_up(running: Running, limit: float = 180) -> float:
    """Seconds until every group has read everything, twice in a row; raises `TimeoutError` beyond the limit."""
    began, calm = time.monotonic(), 0
    async with asyncio.timeout(limit):
        while calm < 2:
            await asyncio.sleep(MEASURED_EVERY_S)
            calm = 0 if await behind(running) else calm + 1
    return time.monotonic() - began


def paced(total: int, rate: int) -> Iterator[Any]:
    """Awaitables that come due evenly; late ones at once, so that the rate holds on average."""
    began = time.perf_counter()
    for n in range(total):
        ahead = began + n / rate - time.perf_counter()
        yield asyncio.sleep(max(ahead, 0))


async def measure(running: Running, levels: Sequence[str], climbed: Sequence[str]) -> list[dict[str, Any]]:
    client = Client(running.bootstrap)
    await client.start()
    rows: list[dict[str, Any]] = []
    try:
        await client.remember()
        await at_rate(client, "D2", 20, 5, running)  # warm
        rows += [await at_rate(client, level, RATES[0], SECONDS, running) for level in levels]
        for level in climbed:
            for rate in RATES[1:]:
                # A rate beyond the first one that was not held would only measure a queue.
                if held(next(row for row in reversed(rows) if row["level"] == level)):
                    rows.append(await at_rate(client, level, rate, SECONDS, running))
    finally:
        await client.stop()
    return rows


def held(row: dict[str, Any]) -> bool:
    """Every message got its pack, 95 of 100 within the goal of the highest rate."""
    return bool(row["packs"] == row["sent"] and row["p95_ms"] <= GOAL_MS)


def main() -> int:
    parser = argparse.ArgumentParser(description="Pack latency and throughput by level and rate.")
    parser.add_argument("--servers", action="store_true", help="a worker on the servers that the environment names")
    on_servers = parser.parse_args().servers
    if on_servers and (missing := [name for name in SERVERS if not os.environ.get(name)]):
        # A worker without them has embedded stores: figures of another thing under this name.
        parser.error(f"--servers measures what the environment names; not set: {', '.join(missing)}")
    uvloop.install()
    with fathom_worker() if on_servers else fathom_up() as running:
        levels, climbed = (CLIMBED, ()) if on_servers else (tuple(QUESTIONS), CLIMBED)
        rows = asyncio.run(measure(running, levels, climbed))
        memory = resident_mb(running.pid)
    highest = {
        f"highest_rate_of_{level}_with_p95_under_{GOAL_MS}_ms": max(
            (row["rate"] for row in rows if row["level"] == level and held(row)), default=0
        )
        for level in climbed
    }
    by_level = {
        f"{level}_p95_ms_at_50": next((r["p95_ms"] for r in rows if (r["level"], r["rate"]) == (level, 50)), None)
        for level in levels
    }
    finish(
        "pipeline-servers" if on_servers else "pipeline",
        "make bench-servers" if on_servers else "make bench-pipeline",
        {**by_level, **highest, "resident_mb": memory, "rows": rows},
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
