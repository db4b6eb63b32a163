"""The progress of messages, as `GET /events` streams it and as the log has it."""

import asyncio
import json
from typing import Any
from uuid import uuid4

import httpx

from agents.ports.cognition import CognitionOptions
from schemas.progress import ProgressMade
from streams.edges.http.events.progress_tail import ProgressTail
from tests.e2e.calls import MARKDOWN, taken

RUNS = CognitionOptions(enabled=True)
HANDBOOK = """# Handbook

## Overtime
Overtime is limited to two hours per day.

## Lunch break
The lunch break lasts at least one hour.
"""
QUESTIONS = (
    "How much overtime is allowed per day and how long does the lunch break last?",
    "How long does the lunch break last and what is the price of the Kestrel?",
    "How much overtime is allowed per day, and who approves the budget of the Kestrel?",
)


def with_handbook(client: httpx.Client) -> httpx.Client:
    """The client, once the handbook that the questions are about can be found."""
    taken(client.post("/documents?wait=visible&lang=en", content=HANDBOOK, headers=MARKDOWN), 200)
    return client


def said(client: httpx.Client, question: str) -> str:
    """The id of a question that was sent."""
    body = {"role": "user", "content": question, "conversation_id": str(uuid4()), "client_id": "web"}
    return str(client.post("/messages", json=body).json()["message_id"])


def shown(client: httpx.Client, message: str, last: str | None = None, most: int | None = None) -> list[dict[str, Any]]:
    """The frames of a stream; the connection is cut after the first few."""
    headers = {"last-event-id": last} if last else {}
    found: list[dict[str, Any]] = []
    with client.stream("GET", "/events", params={"message_id": message}, headers=headers) as answer:
        assert answer.status_code == 200
        lines: dict[str, str] = {}
        for line in answer.iter_lines():
            if line:
                name, _, text = line.partition(": ")
                lines[name] = text
                continue
            if "event" in lines:
                found.append({**lines, "data": json.loads(lines["data"])})
            lines = {}
            if most is not None and len(found) == most:
                return found
    return found


def in_log(broker: str, message: str, tenant: str = "default") -> list[tuple[str, ProgressMade]]:
    """The ids and events of a message, as the log tells them."""

    async def read() -> list[tuple[str, ProgressMade]]:
        tail = ProgressTail(lambda: broker, RUNS)
        keeping = asyncio.create_task(tail.keep())
        until = asyncio.get_running_loop().time() + 0.2
        progress = await tail.watch(tenant, message, lambda _: True, None, until)
        keeping.cancel()
        return [(each.id, each.told.event) for each in progress.events] if progress is not None else []

    return asyncio.run(read())
