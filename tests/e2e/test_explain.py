"""`fathom explain` and `GET /explain`: one page on a message, from a running `fathom up`, for its tenant alone."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.test_up import UNHURRIED, fathom, running

OTHERS = {"beta-0123456789abcdef": {"tenant": "beta"}, "default-eva-0123456789": {"tenant": "default", "user": "eva"}}
BETA, EVA = ({"authorization": f"Bearer {token}"} for token in OTHERS)


QUESTION = "How do I file a refund? Explain it."


def until_stored(calls: httpx.Client, message: str) -> None:
    """Wait until the decision on a message is in the graph."""
    deadline = time.monotonic() + 60
    while message not in calls.get("/decisions").text and time.monotonic() < deadline:
        time.sleep(0.2)


@dataclass(frozen=True)
class Running:
    """A `fathom up`: where it is reached, and a message that it decided on."""

    calls: httpx.Client
    broker: str
    data: Path
    message: str
    pack: dict[str, Any]

    def explain(self, *arguments: str) -> Any:
        return fathom("explain", *arguments, "--broker", self.broker)


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    place = tmp_path_factory.mktemp("up")
    data, others = place / "data", place / "tokens.json"
    others.write_text(json.dumps(OTHERS))
    settings = {**UNHURRIED, "FATHOM_ASK_TOKENS_FILE": str(others), "FATHOM_ASK_TIMEOUT_MS": "60000"}
    with running("up", "--data", str(data), "--port", "0", stderr=place / "err", **settings) as process:
        ready = process.ready()
        token = {"authorization": f"Bearer {(data / 'token').read_text().strip()}"}
        with httpx.Client(base_url=f"http://{ready['http']}", headers=token, timeout=60) as calls:
            said = {"content": QUESTION, "role": "user", "conversation_id": "c1", "client_id": "default"}
            pack = calls.post("/messages?wait=pack", json=said).raise_for_status().json()
            until_stored(calls, pack["message_id"])
            yield Running(calls, ready["bootstrap"], data, pack["message_id"], pack)
        assert process.end()[0] == 0
        assert "Traceback" not in (place / "err").read_text()


@pytest.mark.covers("REQ-CDC-019")
def test_the_command_and_the_interface_tell_the_same(up: Running, tmp_path: Path) -> None:
    shown = up.explain(up.message, "--format", "json")
    assert (shown.returncode, shown.stderr) == (0, "")
    by_command = json.loads(shown.stdout)
    by_http = up.calls.get(f"/explain/{up.message}").raise_for_status().json()
    assert by_http["decisions"][0]["found_in"] == ["log", "graph"]
    assert by_command["decisions"][0]["found_in"] == ["log"]
    for told in (by_command, by_http):
        assert told["depth"]["level"] == up.pack["depth_level"]
        assert told["budget"]["used"] == up.pack["total_tokens_estimated"]
        assert {part["memory_class"] for part in told["parts"]} == {each["memory_class"] for each in up.pack["parts"]}
        assert told["message"]["place"]["topic"] == "messages.in"
    assert by_http["gaps"] == []
    beside = fathom("explain", up.message, "--json", "--broker", f"embedded://{up.data}")
    assert json.loads(beside.stdout) == by_http
    never = fathom("explain", "never", "--broker", f"embedded://{up.data}")
    assert (never.returncode, "is in the graph and memory.decisions" in never.stderr) == (1, True)
    for form, begins in (("text", "Message "), ("md", "# Message "), ("html", "<!doctype html>")):
        page = up.explain(up.message, "--format", form, "--conversation", "c1")
        assert page.returncode == 0, page.stderr
        assert page.stdout.startswith(begins)
        answer = up.calls.get(f"/explain/{up.message}", params={"format": form})
        assert answer.text.startswith(begins)


def test_another_tenants_message_is_as_unknown_as_one_that_never_was(up: Running) -> None:
    for whose in (BETA, EVA):
        theirs = up.calls.get(f"/explain/{up.message}", headers=whose)
        never = up.calls.get("/explain/never", headers=whose)
        assert (theirs.status_code, never.status_code) == (404, 404)
        assert theirs.json()["detail"].replace(up.message, "never") == never.json()["detail"]
        assert "is in the graph and memory.decisions" in theirs.json()["detail"]
    unknown = up.explain("never")
    assert unknown.returncode == 1
    assert "memory.decisions; there is no graph to ask; take a message_id from a pack" in unknown.stderr
    other = up.explain(up.message, "--tenant", "beta")
    assert (other.returncode, up.message in other.stderr) == (1, True)


def test_wrong_use_and_a_broker_that_is_down_are_said_in_a_sentence(up: Running) -> None:
    wrong = up.explain(up.message, "--format", "pdf")
    assert (wrong.returncode, wrong.stderr) == (2, "fathom: --format is one of text, md, json, html, not 'pdf'\n")
    late = up.explain(up.message, "--as-of", "yesterday")
    assert late.returncode == 2
    assert late.stderr.startswith("fathom: --as-of: ")
    before = up.explain(up.message, "--as-of", "2020-01-01T00:00:00Z")
    assert before.returncode == 1
    assert "as of 2020-01-01" in before.stderr
    down = fathom("explain", up.message, "--broker", "127.0.0.1:1")
    assert down.returncode == 4
    assert "no broker answers at 127.0.0.1:1" in down.stderr
    assert up.calls.get(f"/explain/{up.message}", params={"format": "pdf"}).status_code == 422
