"""What the end-to-end tests of several edges say to a running Fathom, and what they read from it."""

import asyncio
import json
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
from aiokafka import AIOKafkaProducer

from tests.e2e.processes import START_S, Process, fathom, running

ESCAPE = "\x1b"
MARKDOWN = {"content-type": "text/markdown"}


def client(broker: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """An ended command that is patient where it asks; what it prints is plain text."""
    patience = ("--timeout", str(START_S / 2)) if arguments[0] == "ask" and "--timeout" not in arguments else ()
    ended = fathom(*arguments, *patience, "--broker", broker)
    assert ESCAPE not in ended.stdout + ended.stderr
    return ended


def produce(broker: str, topic: str, key: bytes, value: bytes, headers: Sequence[tuple[str, bytes]] = ()) -> None:
    """Send one record as any producer does."""

    async def send() -> None:
        async with AIOKafkaProducer(bootstrap_servers=broker) as producer:
            await producer.send_and_wait(topic, value, key=key, headers=list(headers))

    asyncio.run(send())


def records(broker: str, topic: str) -> list[dict[str, Any]]:
    """All that a topic holds, as `fathom tail` shows it."""
    said = fathom("tail", topic, "--from-beginning", "--no-follow", "--json", "--broker", broker)
    assert said.returncode == 0, said.stderr
    return [json.loads(line) for line in said.stdout.splitlines()]


def until(found: Callable[[], Any]) -> Any:
    """What is found, once it is."""
    deadline = time.monotonic() + 60
    while not (come := found()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return come


def taken(answer: httpx.Response, status: int = 202) -> Any:
    """The body of an answer that has this status."""
    assert answer.status_code == status, answer.text
    return answer.json()


def refused(answer: httpx.Response, status: int) -> str:
    """Why it was refused, with this status."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    return str(answer.json()["detail"])


def turn(client: httpx.Client, conversation: str, text: str, **more: Any) -> Any:
    """What Ana says and the pack it gets, or what an assistant says and where it was put."""
    body = {"role": "user", "content": text, "conversation_id": conversation, "client_id": "web", **more}
    wait = "?wait=pack" if body["role"] == "user" else ""
    return taken(client.post(f"/messages{wait}", json=body, headers={"fathom-user": "ana"}), 200 if wait else 202)


def until_stored(calls: httpx.Client, message: str) -> None:
    """Wait until the decision on a message is in the graph."""
    deadline = time.monotonic() + 60
    while message not in calls.get("/decisions").text and time.monotonic() < deadline:
        time.sleep(0.2)


def serving(broker: str, tokens: str, stderr: Path) -> Any:
    """A `fathom serve` of its own beside a broker."""
    settings = {"FATHOM_ASK_TOKENS_FILE": tokens, "FATHOM_ASK_TIMEOUT_MS": "60000"}
    return running("serve", "--port", "0", "--broker", broker, stderr=stderr, **settings)


def reachable(process: Process) -> str:
    """The URL of a `fathom serve`, once it has its broker."""
    said = process.ready()
    assert said.keys() == {"event", "url", "console", "http"}
    deadline = time.monotonic() + 60
    while httpx.get(f"http://{said['http']}/health/ready").status_code != 200:
        assert time.monotonic() < deadline, process.said()
        time.sleep(0.05)
    return str(said["url"])


def question(text: str, conversation: str, **fields: Any) -> dict[str, Any]:
    """The body of a question at `/ask`."""
    return {"question": text, "conversation_id": conversation, "nickname": "Ana", "client_id": "web", **fields}


def post(url: str, body: dict[str, Any], token: str, **headers: str) -> httpx.Response:
    """A question posted with a token."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return httpx.post(url, json=body, headers={"authorization": f"Bearer {token}", **named}, timeout=90)
