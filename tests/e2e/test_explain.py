"""`fathom explain` and `GET /explain`: one page on a message, from a running `fathom up`, for its tenant alone."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.e2e.calls import until_stored
from tests.e2e.conftest import OTHER_USER, Tenant, Up
from tests.e2e.processes import fathom

QUESTION = "How do I file a refund? Explain it."


@dataclass(frozen=True)
class Decided:
    """A message that was decided on, of the tenant whose graph the command can ask, too."""

    tenant: Tenant
    calls: httpx.Client
    data: Path
    conversation: str
    message: str
    pack: dict[str, Any]

    def explain(self, *arguments: str) -> Any:
        return fathom("explain", *arguments, "--broker", self.tenant.bootstrap)


@pytest.fixture(scope="module")
def decided(up: Up) -> Decided:
    """A message of tenant `default`."""
    tenant, conversation = up.default(), str(uuid4())
    calls = tenant.client()
    said = {"content": QUESTION, "role": "user", "conversation_id": conversation, "client_id": "default"}
    pack = calls.post("/messages?wait=pack", json=said).raise_for_status().json()
    until_stored(calls, pack["message_id"])
    return Decided(tenant, calls, up.data, conversation, pack["message_id"], pack)


@pytest.mark.covers("REQ-CDC-019")
def test_the_command_and_the_interface_tell_the_same(decided: Decided, tmp_path: Path) -> None:
    shown = decided.explain(decided.message, "--format", "json")
    assert (shown.returncode, shown.stderr) == (0, "")
    by_command = json.loads(shown.stdout)
    by_http = decided.calls.get(f"/explain/{decided.message}").raise_for_status().json()
    assert by_http["decisions"][0]["found_in"] == ["log", "graph"]
    assert by_command["decisions"][0]["found_in"] == ["log"]
    for told in (by_command, by_http):
        assert told["depth"]["level"] == decided.pack["depth_level"]
        assert told["budget"]["used"] == decided.pack["total_tokens_estimated"]
        assert {part["memory_class"] for part in told["parts"]} == {
            each["memory_class"] for each in decided.pack["parts"]
        }
        assert told["message"]["place"]["topic"] == "messages.in"
    assert by_http["gaps"] == []
    beside = fathom("explain", decided.message, "--json", "--broker", f"embedded://{decided.data}")
    assert json.loads(beside.stdout) == by_http
    never = fathom("explain", "never", "--broker", f"embedded://{decided.data}")
    assert (never.returncode, "is in the graph and memory.decisions" in never.stderr) == (1, True)
    for form, begins in (("text", "Message "), ("md", "# Message "), ("html", "<!doctype html>")):
        page = decided.explain(decided.message, "--format", form, "--conversation", decided.conversation)
        assert page.returncode == 0, page.stderr
        assert page.stdout.startswith(begins)
        answer = decided.calls.get(f"/explain/{decided.message}", params={"format": form})
        assert answer.text.startswith(begins)


def test_another_tenants_message_is_as_unknown_as_one_that_never_was(decided: Decided, stranger: Tenant) -> None:
    for whose in (stranger.bearer(), decided.tenant.bearer(OTHER_USER)):
        theirs = decided.calls.get(f"/explain/{decided.message}", headers=whose)
        never = decided.calls.get("/explain/never", headers=whose)
        assert (theirs.status_code, never.status_code) == (404, 404)
        assert theirs.json()["detail"].replace(decided.message, "never") == never.json()["detail"]
        assert "is in the graph and memory.decisions" in theirs.json()["detail"]
    unknown = decided.explain("never")
    assert unknown.returncode == 1
    assert "memory.decisions; there is no graph to ask; take a message_id from a pack" in unknown.stderr
    other = decided.explain(decided.message, "--tenant", stranger.name)
    assert (other.returncode, decided.message in other.stderr) == (1, True)


def test_wrong_use_and_a_broker_that_is_down_are_said_in_a_sentence(decided: Decided) -> None:
    wrong = decided.explain(decided.message, "--format", "pdf")
    assert (wrong.returncode, wrong.stderr) == (2, "fathom: --format is one of text, md, json, html, not 'pdf'\n")
    late = decided.explain(decided.message, "--as-of", "yesterday")
    assert late.returncode == 2
    assert late.stderr.startswith("fathom: --as-of: ")
    before = decided.explain(decided.message, "--as-of", "2020-01-01T00:00:00Z")
    assert before.returncode == 1
    assert "as of 2020-01-01" in before.stderr
    down = fathom("explain", decided.message, "--broker", "127.0.0.1:1")
    assert down.returncode == 4
    assert "no broker answers at 127.0.0.1:1" in down.stderr
    assert decided.calls.get(f"/explain/{decided.message}", params={"format": "pdf"}).status_code == 422
