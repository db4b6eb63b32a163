"""Searches of a running `fathom up`: over HTTP and by the command, without a turn of a conversation."""

import json
from uuid import uuid4

import httpx
import pytest

from tests.e2e.calls import MARKDOWN, refused, taken, turn
from tests.e2e.conftest import OTHER_USER, WEB_ANA, Tenant

POLICY = "# Refunds\n\nThe team lead approves refunds up to 500 euros."
QUESTION = {"query": "Who approves refunds up to 500 euros?"}


@pytest.fixture(scope="module")
def client(tenant: Tenant) -> httpx.Client:
    made = tenant.client()
    said = made.post("/documents?wait=visible&lang=en&document_id=policy", content=POLICY, headers=MARKDOWN)
    assert taken(said, 200)["visible"]
    return made


def test_a_search_finds_a_document_and_leaves_no_turn(client: httpx.Client) -> None:
    found = taken(client.post("/search", json=QUESTION), 200)
    [result] = found["results"]
    assert (found["evidence"], found["degraded"], result["kind"]) == ("found", False, "document")
    assert (result["text"], result["document_id"]) == (POLICY.splitlines()[-1], "policy")
    assert result["text"] in found["text"]
    assert taken(client.post("/search", json={**QUESTION, "document_id": "other"}), 200)["evidence"] == "none"
    assert taken(client.get("/decisions"), 200)["latest"] == []


def test_a_search_is_portuguese_too(client: httpx.Client) -> None:
    found = taken(client.post("/search", json={"query": "Quem aprova reembolsos de até 500 euros?"}), 200)
    assert (found["lang"], [each["document_id"] for each in found["results"]]) == ("pt", ["policy"])


def test_a_user_finds_what_that_user_said_and_nobody_else(tenant: Tenant, client: httpx.Client) -> None:
    turn(tenant.client(WEB_ANA), str(uuid4()), "The code of my garage is 7731, on the second floor.")
    asked = {"query": "What is the code of my garage?"}
    for _ in range(40):
        mine = taken(tenant.client(WEB_ANA).post("/search", json=asked), 200)
        if "7731" in mine["text"]:
            break
    assert "7731" in mine["text"]
    assert mine["user_id"] == "ana"
    assert "7731" not in tenant.client(OTHER_USER).post("/search", json=asked).text
    assert "7731" not in client.post("/search", json=asked).text
    assert "user" in refused(tenant.client(OTHER_USER).post("/search", json=asked, headers={"fathom-user": "ana"}), 403)


def test_the_command_searches(tenant: Tenant, client: httpx.Client) -> None:
    ended = tenant.fathom("search", QUESTION["query"], "--kind", "document", "--json")
    assert ended.returncode == 0, ended.stderr
    assert [each["document_id"] for each in json.loads(ended.stdout)["results"]] == ["policy"]
    assert POLICY.splitlines()[-1] in tenant.fathom("search", QUESTION["query"]).stdout
    for wrong, says in (
        (("--limit", "0"), "limit: Input should be greater than or equal to 1"),
        (("--kind", "poem"), "kind: Input should be 'document'"),
        (("--since", "2025-02-01", "--until", "2025-01-01"), "since is after until"),
    ):
        ended = tenant.fathom("search", "x", *wrong)
        assert (ended.returncode, says in ended.stderr) == (2, True), ended.stderr
