"""From a tool call appended to its verdict appended, at 200 calls a second, by the records' own times in the log.

    make bench-gate               last line: JSON

Each session has a report that a result has set; three calls of four are completed from it, one has all it needs. The
goal is p99 of 20 ms.
"""

import asyncio
import json
import time
from typing import Any

import uvloop
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from bench.measure import finish, say, spread
from bench.pipeline import caught_up, paced
from bench.running import Running, fathom_up
from schemas.base import Conversation
from schemas.tools import ToolCallRequested, ToolResult
from schemas.topics import TOOLS_CALLS_IN, TOOLS_CALLS_OUT, TOOLS_RESULTS_IN, Topic
from streams import policies

RATE, SECONDS, WARM, SESSIONS = 200, 20, 400, 200
TENANT, REPORT = "bench", "rel_20260114_095826"
TOOL = "buscar_secao_relatorio_salvo"


class Client:
    """Publishes results and calls; knows when each call was appended, and its verdict."""

    def __init__(self, bootstrap: str) -> None:
        self.producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all")
        self.consumer = AIOKafkaConsumer(
            TOOLS_CALLS_OUT.name, bootstrap_servers=bootstrap, auto_offset_reset="earliest", fetch_max_wait_ms=100
        )
        self.called: dict[str, int] = {}
        self.judged: dict[str, tuple[int, str]] = {}

    async def read(self) -> None:
        async for record in self.consumer:
            verdict = json.loads(record.value)
            self.judged.setdefault(verdict["call_id"], (record.timestamp, verdict["status"]))

    async def send(self, topic: Topic, session: int, event: ToolCallRequested | ToolResult) -> None:
        key = Conversation(tenant=TENANT, client_id="web", conversation_id=f"s{session}").key().encode()
        headers = [("tenant", TENANT.encode()), ("user_id", b"ana")]
        sent = await self.producer.send(topic.name, event.model_dump_json().encode(), key=key, headers=headers)
        if topic is TOOLS_CALLS_IN:
            sent.add_done_callback(lambda done: self.called.__setitem__(event.call_id, done.result().timestamp))

    async def call(self, number: int, name: str) -> None:
        session = number % SESSIONS
        args: dict[str, Any] = {"secao": "processos_chegando", "categoria": "DMD"}
        if number % 4 == 0:
            args["report_id"] = REPORT
        about = {"call_id": f"{name}-{number}", "client_id": "web", "session_id": f"s{session}", "tool_name": TOOL}
        await self.send(TOOLS_CALLS_IN, session, ToolCallRequested(**about, args=args))


async def figures(running: Running) -> dict[str, Any]:
    client = Client(running.bootstrap)
    await client.producer.start()
    await client.consumer.start()
    reading = asyncio.create_task(client.read())
    for session in range(SESSIONS):
        about = {
            "call_id": f"r{session}",
            "client_id": "web",
            "session_id": f"s{session}",
            "tool_name": "gerar_relatorio",
        }
        await client.send(TOOLS_RESULTS_IN, session, ToolResult(**about, succeeded=True, report_id=REPORT))
    await client.producer.flush()
    await caught_up(running)
    for number in range(WARM):
        await client.call(number, "warm")
    await caught_up(running)
    number = 0
    for due in paced(RATE * SECONDS, RATE):
        await due
        await client.call(number, "call")
        number += 1
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and len(client.judged) < WARM + number:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    reading.cancel()
    await client.consumer.stop()
    await client.producer.stop()
    names = [name for name in client.called if name.startswith("call") and name in client.judged]
    return {
        "calls": number,
        "verdicts": len(names),
        "resolved": sum(client.judged[name][1] == "resolved" for name in names),
        "ms": spread([client.judged[name][0] - client.called[name] for name in names]),
    }


def main() -> None:
    with fathom_up(tool_policy=str(policies.CUSTOMS)) as running:
        found = uvloop.run(figures(running))
    say(json.dumps(found))
    finish("gate", "make bench-gate", found)


if __name__ == "__main__":
    main()
