"""What `/ask` over HTTP adds to a pack's latency, how many connections it holds, and how fast `/assess` answers.

    make bench-ask                last line: JSON

`added` is the time a caller waited less the time between the two records in the log (question appended, pack appended:
milliseconds), at 50 questions a second with `?wait=pack`. `simple_below_500_ms` is the share of simple queries that a
caller had the pack of within half a second (S3-04).
"""

import asyncio
import itertools
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

import httpx
import uvloop
from aiokafka import AIOKafkaConsumer

from bench.classify import MESSAGES
from bench.measure import finish, percentile, say, spread
from bench.pipeline import paced
from bench.running import fathom_up
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


class Log:
    """When each question and its pack were appended, by the records themselves."""

    def __init__(self) -> None:
        self.asked: dict[str, int] = {}
        self.packed: dict[str, int] = {}

    async def follow(self, consumer: AIOKafkaConsumer) -> None:
        async for record in consumer:
            if record.topic == MESSAGES_IN.name:
                self.asked[dict(record.headers)["ce_id"].decode()] = record.timestamp
            else:
                self.packed.setdefault(json.loads(record.value)["message_id"], record.timestamp)


@contextmanager
def served(bootstrap: str) -> Iterator[str]:
    """The URL of a `fathom serve` of its own."""
    with tempfile.TemporaryDirectory(prefix="fathom-bench-") as folder:
        tokens = Path(folder) / "tokens.json"
        tokens.write_text(json.dumps({TOKEN: {"tenant": "bench"}}))
        settings = {
            "FATHOM_ASK_TOKENS_FILE": str(tokens), "FATHOM_ASK_CALLS_PER_MINUTE": "1000000",
            "FATHOM_ASK_TIMEOUT_MS": "30000", "FATHOM_LOG_LEVEL": "warning",
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
async def following(bootstrap: str) -> AsyncIterator[Log]:
    log = Log()
    consumer = AIOKafkaConsumer(
        MESSAGES_IN.name, CONTEXT_PACKS.name, bootstrap_servers=bootstrap, auto_offset_reset="earliest"
    )
    await consumer.start()
    reading = asyncio.create_task(log.follow(consumer))
    try:
        yield log
    finally:
        reading.cancel()
        await consumer.stop()


async def packs(client: httpx.AsyncClient, log: Log) -> dict[str, Any]:
    """Callers at an even rate, each in a conversation of its own."""
    queries = itertools.cycle(SIMPLE)

    async def one(number: int) -> tuple[float, str, int]:
        body = {"question": next(queries).format(n=number), "conversation_id": f"c{number}", "client_id": "web"}
        began = time.perf_counter()
        said = await client.post("/ask?wait=pack", json=body)
        return (time.perf_counter() - began) * 1000, said.headers.get("fathom-message-id", ""), said.status_code

    for number in range(WARM):
        await one(-number - 1)
    asking: list[asyncio.Task[tuple[float, str, int]]] = []
    for due in paced(RATE * SECONDS, RATE):
        await due
        asking.append(asyncio.create_task(one(len(asking))))
    said = await asyncio.gather(*asking)
    await asyncio.sleep(1)
    took = [ms for ms, _, status in said if status == 200]
    added = [ms - (log.packed[name] - log.asked[name]) for ms, name, status in said if status == 200]
    return {
        "asked": len(said),
        "answered": len(took),
        "waited_ms": spread(took),
        "added_ms": spread(added),
        "simple_below_500_ms": round(sum(ms < HALF_A_SECOND for ms in took) / len(said), 3),
    }


async def held(client: httpx.AsyncClient) -> dict[str, Any]:
    """Connections that wait at the same time for answers that nobody gives."""
    began = time.perf_counter()

    async def one(number: int) -> int:
        body = {"question": "Bom dia!", "conversation_id": f"held-{number}", "client_id": "web"}
        said = await client.post("/ask", json=body, headers={"prefer": f"wait={HELD_S}"}, timeout=120)
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
        following(bootstrap) as log,
        httpx.AsyncClient(base_url=url, headers=headers, limits=limits, timeout=60) as client,
    ):
        asked = await packs(client, log)
        say(json.dumps(asked))
        return {**asked, "assess_ms": await assessments(client), "held": await held(client)}


def main() -> None:
    with fathom_up() as running, served(running.bootstrap) as url:
        finish("ask", "make bench-ask", uvloop.run(figures(running.bootstrap, url)))


if __name__ == "__main__":
    main()
