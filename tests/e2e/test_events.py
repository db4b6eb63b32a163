"""The progress of messages over HTTP: nothing is lost or doubled over forced disconnects, nothing is another's."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from agents.core.progress.reduction import snapshot
from schemas.progress import ProgressMade
from streams.edges.http.events.message_progress import ProgressStore
from streams.edges.http.events.progress_tail import ProgressTail
from tests.e2e.test_up import UNHURRIED, running

OTHERS = {"beta-0123456789abcdef": {"tenant": "beta"}, "default-eva-0123456789": {"tenant": "default", "user": "eva"}}
ON = {
    f"RAG_{name}": "on"
    for name in (
        "ENABLE_COGRAG",
        "COGRAG_VERIFICATION_ENABLED",
        "COGRAG_EVIDENCE_REFINEMENT_ENABLED",
        "COGRAG_HALLUCINATION_LOOP",
    )
}
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
DISCONNECTS = 100


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, str]]:
    """The URL, the broker and the token of tenant `default`."""
    place = tmp_path_factory.mktemp("up")
    (place / "tokens.json").write_text(json.dumps(OTHERS))
    settings = {**UNHURRIED, **ON, "FATHOM_ASK_TOKENS_FILE": str(place / "tokens.json")}
    with running("up", "--data", str(place / "data"), "--port", "0", stderr=place / "err", **settings) as process:
        ready = process.ready()
        yield f"http://{ready['http']}", ready["bootstrap"], (place / "data" / "token").read_text().strip()
        # Streams that are open do not hold it up.
        assert process.end()[0] == 0
        assert "Traceback" not in (place / "err").read_text()


@pytest.fixture(scope="module")
def client(up: tuple[str, str, str]) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=up[0], headers={"authorization": f"Bearer {up[2]}"}, timeout=60) as calls:
        markdown = {"content-type": "text/markdown"}
        sent = calls.post("/documents?wait=visible&lang=en", content=HANDBOOK, headers=markdown)
        assert sent.status_code == 200, sent.text
        yield calls


def said(client: httpx.Client, question: str) -> str:
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
    """The positions and events of a message in the log."""

    async def read() -> list[tuple[str, ProgressMade]]:
        tail = ProgressTail(lambda: broker, ProgressStore(100_000_000))
        await tail.look_up(tenant, message)
        return [(f"{each.partition}-{each.offset}", each.event) for each in tail.store.of(tenant, message).events]

    return asyncio.run(read())


@pytest.mark.covers("AC-80")
def test_a_hundred_disconnects_lose_nothing_and_double_nothing(up: tuple[str, str, str], client: httpx.Client) -> None:
    disconnects = 0
    for number in range(10):
        message = said(client, QUESTIONS[number % len(QUESTIONS)])
        [first] = shown(client, message, most=1)
        assert first["event"] == "snapshot"
        positions, last = [], first["id"]
        while (frame := shown(client, message, last, most=1)[0])["event"] != "end":
            positions.append(last := frame["id"])
            disconnects += 1
        whole = in_log(up[1], message)
        at = [place for place, _ in whole].index(first["id"])
        assert positions == [place for place, _ in whole[at + 1 :]]
        assert first["data"] == snapshot(message, [event for _, event in whole[: at + 1]])
        late, end = shown(client, message)
        assert late["data"] == snapshot(message, [event for _, event in whole])
        assert late["data"]["pack"]["status"] == "complete"
        assert late["data"]["cognition"]["status"] in ("complete", "abstain")
        assert end["event"] == "end"
        if disconnects >= DISCONNECTS:
            return
    raise AssertionError(f"{disconnects} disconnects only")


@pytest.mark.covers("B19")
def test_the_tokens_of_others_see_nothing(client: httpx.Client) -> None:
    message = said(client, QUESTIONS[0])
    assert shown(client, message)[-1]["event"] == "end"
    for token in OTHERS:
        headers = {"authorization": f"Bearer {token}"}
        answer = client.get(f"/events?message_id={message}&timeout=0.2", headers=headers)
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert httpx.get(f"{client.base_url}/events?message_id={message}").status_code == 401


def test_a_simple_message_ends_with_its_pack(client: httpx.Client) -> None:
    frames = shown(client, said(client, "Good morning!"))
    assert frames[-1]["event"] == "end"
    last = frames[-2]
    assert last["event"] in ("PACK_COMPLETE", "snapshot")
    assert not any(frame["event"].startswith("COGRAG") for frame in frames)


def test_what_was_forgotten_is_shown_no_more(up: tuple[str, str, str], client: httpx.Client) -> None:
    body = {"role": "user", "content": QUESTIONS[0], "conversation_id": "gone", "client_id": "web"}
    message = client.post("/messages", json=body).json()["message_id"]
    assert shown(client, message)[-1]["event"] == "end"
    assert client.delete("/conversations/gone", params={"client_id": "web"}).status_code == 202
    for _ in range(100):
        if client.get(f"/events?message_id={message}&timeout=0.1").status_code == 404:
            break
    else:
        raise AssertionError("it is still shown")
    assert in_log(up[1], message) == []


def test_a_server_of_its_own_streams_too(up: tuple[str, str, str], client: httpx.Client, tmp_path: Path) -> None:
    message = said(client, QUESTIONS[0])
    tokens = tmp_path / "tokens.json"
    tokens.write_text(json.dumps({"default-0123456789abcdef": {"tenant": "default"}}))
    settings = {"FATHOM_ASK_TOKENS_FILE": str(tokens)}
    with running("serve", "--port", "0", "--broker", up[1], stderr=tmp_path / "err", **settings) as process:
        base = process.ready()["url"].removesuffix("/ask")
        with httpx.Client(base_url=base, headers={"authorization": "Bearer default-0123456789abcdef"}) as other:
            other.timeout = httpx.Timeout(60)
            # Each server follows the log by itself: to its end, before they are compared.
            assert [shown(each, message)[-1]["event"] for each in (other, client)] == ["end", "end"]
            assert shown(other, message)[0]["data"] == shown(client, message)[0]["data"]
        assert process.end()[0] == 0
