"""What `/ask` over HTTP adds to a pack's latency, how many connections it holds, and how fast `/assess` answers.

    make bench-ask                last line: JSON

At 50 questions a second every other one is asked with `/ask`, the others by a Kafka client of this process that
waits for the same records: what callers of the one wait more than callers of the other is what `/ask` adds.
`simple_below_500_ms` is the share of simple queries that a caller over HTTP had the pack of within half a second.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import uvloop
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from bench.classify import MESSAGES
from bench.measure import finish, percentile, say, spread
from bench.pipeline import paced
from bench.running import fathom_up
from schemas.base import Conversation
from schemas.topics import CONTEXT_PACKS, MESSAGES_IN

TOKEN = "a-token-for-benchmarks"
RATE, SECONDS, WARM = 50, 20, 100
HELD, HELD_S = 500, 5
ROUNDS = 20
SIMPLE = (
    "Bom dia!", "Obrigada, era isso", "Hello!", "Thanks for the help", "Got it", "Tudo bem?", "Entendi, valeu", "Ok",
    "Qual o email de João {n}?", "Qual o prazo do contrato {n}?", "What is the budget of project {n}?", "Good morning",
)  # fmt: skip
HALF_A_SECOND = 500.0


class Direct:
    """The same question by a client of the topics."""

    def __init__(self, producer: AIOKafkaProducer, consumer: AIOKafkaConsumer) -> None:
        self._producer = producer
        self._consumer = consumer
        self._waiting: dict[str, asyncio.Future[None]] = {}

    async def follow(self) -> None:
        async for record in self._consumer:
            waiting = self._waiting.pop(json.loads(record.value)["message_id"], None)
            if waiting is not None:
                waiting.set_result(None)

    async def ask(self, conversation: str, text: str) -> None:
        message_id = str(uuid4())
        packed = self._waiting[message_id] = asyncio.get_running_loop().create_future()
        about = {"conversation_id": conversation, "client_id": "web"}
        value = {**about, "message_id": message_id, "role": "user", "content": text}
        key = Conversation(tenant="bench", **about).key().encode()
        await self._producer.send_and_wait(
            MESSAGES_IN.name, json.dumps(value).encode(), key=key, headers=[("tenant", b"bench")]
        )
        await packed


@contextmanager
def served(bootstrap: str, **more: str) -> Iterator[str]:
    """The URL of a `fathom serve` of its own, with more settings by their environment names."""
    with tempfile.TemporaryDirectory(prefix="fathom-bench-") as folder:
        tokens = Path(folder) / "tokens.json"
        tokens.write_text(json.dumps({TOKEN: {"tenant": "bench"}}))
        settings = {
            "FATHOM_ASK_TOKENS_FILE": str(tokens), "FATHOM_ASK_CALLS_PER_MINUTE": "1000000",
            "FATHOM_ASK_TIMEOUT_MS": "30000", "FATHOM_LOG_LEVEL": "warning", **more,
        }  # fmt: skip
        process = subprocess.Popen(
            [sys.executable, "-m", "streams", "serve", "--port", "0", "--broker", bootstrap],
            stdout=subprocess.PIPE, text=True, env={**os.environ, **settings},
        )  # fmt: skip
        try:
            assert process.stdout is not None
            ready = json.loads(process.stdout.readline())
            while httpx.get(f"http://{ready['http']}/health/ready").status_code != 200:
                time.sleep(0.1)
            yield ready["url"].removesuffix("/ask")
        finally:
            process.terminate()
            process.wait(30)


@asynccontextmanager
async def following(bootstrap: str) -> AsyncIterator[Direct]:
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", enable_idempotence=True)
    consumer = AIOKafkaConsumer(CONTEXT_PACKS.name, bootstrap_servers=bootstrap, auto_offset_reset="latest")
    await producer.start()
    await consumer.start()
    direct = Direct(producer, consumer)
    reading = asyncio.create_task(direct.follow())
    try:
        yield direct
    finally:
        reading.cancel()
        await consumer.stop()
        await producer.stop()


async def packs(client: httpx.AsyncClient, direct: Direct) -> dict[str, Any]:
    """Callers at an even rate, each in a conversation of its own, of either way in turn."""
    took: dict[str, list[float]] = {"http": [], "kafka": []}

    async def one(number: int) -> None:
        # Each text goes the one way as often as the other.
        text = SIMPLE[abs(number) // 2 % len(SIMPLE)].format(n=number)
        way = "http" if number % 2 else "kafka"
        began = time.perf_counter()
        if way == "kafka":
            await direct.ask(f"c{number}", text)
        else:
            body = {"question": text, "conversation_id": f"c{number}", "client_id": "web"}
            said = await client.post("/ask", json=body)
            if said.status_code != 200:
                raise SystemExit(f"a question failed: {said.text}")
        took[way].append((time.perf_counter() - began) * 1000)

    for number in range(WARM):
        await one(-number - 1)
    for times in took.values():
        times.clear()
    asking: list[asyncio.Task[None]] = []
    for due in paced(RATE * SECONDS, RATE):
        await due
        asking.append(asyncio.create_task(one(len(asking))))
    await asyncio.gather(*asking)
    added = {share: percentile(took["http"], share) - percentile(took["kafka"], share) for share in (0.5, 0.95)}
    return {
        "asked": len(asking),
        "http_ms": spread(took["http"]),
        "kafka_client_ms": spread(took["kafka"]),
        "added_p50_ms": round(added[0.5], 1),
        "added_p95_ms": round(added[0.95], 1),
        "simple_below_500_ms": round(sum(ms < HALF_A_SECOND for ms in took["http"]) / len(took["http"]), 3),
    }


async def held(client: httpx.AsyncClient) -> dict[str, Any]:
    """Connections that wait at the same time for answers that nobody gives."""
    began = time.perf_counter()

    async def one(number: int) -> int:
        body = {"question": "Bom dia!", "conversation_id": f"held-{number}", "client_id": "web"}
        said = await client.post("/ask?wait=answer", json=body, headers={"prefer": f"wait={HELD_S}"}, timeout=120)
        return said.status_code

    statuses = await asyncio.gather(*(one(number) for number in range(HELD)))
    return {"connections": HELD, "waited_to_the_end": statuses.count(504), "s": round(time.perf_counter() - began, 1)}


async def assessments(client: httpx.AsyncClient) -> dict[str, float]:
    took = []
    for _ in range(ROUNDS + 1):
        for _, text in MESSAGES:
            began = time.perf_counter()
            said = await client.post("/assess", json={"query": text})
            took.append((time.perf_counter() - began) * 1000)
            if said.status_code != 200:
                raise SystemExit(f"an assessment failed: {said.text}")
    took = took[len(MESSAGES) :]
    return {"n": len(took), "p50": round(percentile(took, 0.5), 3), "p99": round(percentile(took, 0.99), 3)}


async def figures(bootstrap: str, url: str) -> dict[str, Any]:
    limits = httpx.Limits(max_connections=HELD + 100, max_keepalive_connections=HELD + 100)
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with (
        following(bootstrap) as direct,
        httpx.AsyncClient(base_url=url, headers=headers, limits=limits, timeout=60) as client,
    ):
        asked = await packs(client, direct)
        say(json.dumps(asked))
        return {**asked, "assess_ms": await assessments(client), "held": await held(client)}


def main() -> None:
    with fathom_up() as running, served(running.bootstrap) as url:
        finish("ask", "make bench-ask", uvloop.run(figures(running.bootstrap, url)))


if __name__ == "__main__":
    main()
