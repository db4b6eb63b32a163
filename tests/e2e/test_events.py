"""The progress of messages over HTTP: nothing is lost or doubled over forced disconnects, nothing is another's."""

import json
from pathlib import Path

import httpx
import pytest

from tests.e2e.calls import serving
from tests.e2e.conftest import OTHER_USER, Tenant
from tests.e2e.progress import QUESTIONS, in_log, said, shown, with_handbook


@pytest.fixture(scope="module")
def client(tenant: Tenant) -> httpx.Client:
    return with_handbook(tenant.client())


@pytest.mark.covers("B19")
def test_the_tokens_of_others_see_nothing(client: httpx.Client, tenant: Tenant, stranger: Tenant) -> None:
    message = said(client, QUESTIONS[0])
    assert shown(client, message)[-1]["event"] == "end"
    for headers in (stranger.bearer(), tenant.bearer(OTHER_USER)):
        answer = client.get(f"/events?message_id={message}&timeout=0.2", headers=headers)
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert httpx.get(f"{client.base_url}/events?message_id={message}").status_code == 401


def test_a_simple_message_ends_with_its_pack(client: httpx.Client) -> None:
    frames = shown(client, said(client, "Good morning!"))
    assert frames[-1]["event"] == "end"
    last = frames[-2]
    assert last["event"] in ("PACK_COMPLETE", "snapshot")
    assert not any(frame["event"].startswith("COGRAG") for frame in frames)


def test_the_verdicts_on_tool_calls_are_events_of_their_message(client: httpx.Client, tenant: Tenant) -> None:
    body = {"role": "user", "content": "Refund my order, please.", "conversation_id": "calls", "client_id": "web"}
    message = client.post("/messages?wait=pack", json=body).json()["message_id"]
    with client.stream("GET", "/events", params={"message_id": message, "calls": "true"}) as stream:
        lines = stream.iter_lines()
        snapshot = next(line for line in lines if line.startswith("data: "))
        assert '"tools"' not in snapshot
        assert next(line for line in lines if line.startswith("event: ")) == "event: end"
        about = ("--client", "web", "--conversation", "calls")
        called = tenant.fathom("tool", "call", "refund_order", "order_id=A-1", "--call-id", "k1", "--json", *about)
        assert json.loads(called.stdout)["status"] == "confirmation_required"
        told = json.loads(next(line for line in lines if '"TOOL_VERDICT"' in line).removeprefix("data: "))
    assert (told["stage"], told["node_id"], told["data"]["status"]) == ("tools", "k1", "confirmation_required")
    late = shown(client, message)[0]["data"]["tools"]["calls"]["k1"]
    assert (late["tool_name"], late["status"], "A-1" in late["preview"]) == (
        "refund_order", "confirmation_required", True,
    )  # fmt: skip
    other = client.post("/messages?wait=pack", json={**body, "content": "Good morning!"}).json()["message_id"]
    assert "tools" not in shown(client, other)[0]["data"]


def test_what_was_forgotten_is_shown_no_more(client: httpx.Client, tenant: Tenant) -> None:
    body = {"role": "user", "content": QUESTIONS[0], "conversation_id": "gone", "client_id": "web"}
    message = client.post("/messages", json=body).json()["message_id"]
    assert shown(client, message)[-1]["event"] == "end"
    assert client.delete("/conversations/gone", params={"client_id": "web"}).status_code == 202
    for _ in range(100):
        if client.get(f"/events?message_id={message}&timeout=0.1").status_code == 404:
            break
    else:
        raise AssertionError("it is still shown")
    assert in_log(tenant.bootstrap, message, tenant.name) == []


def test_a_server_of_its_own_streams_too(client: httpx.Client, tenant: Tenant, tmp_path: Path) -> None:
    message = said(client, QUESTIONS[0])
    tokens = tmp_path / "tokens.json"
    tokens.write_text(json.dumps({tenant.token(): {"tenant": tenant.name}}))
    with serving(tenant.bootstrap, str(tokens), tmp_path / "err") as process:
        base = process.ready()["url"].removesuffix("/ask")
        with httpx.Client(base_url=base, headers=tenant.bearer()) as other:
            other.timeout = httpx.Timeout(60)
            # Each server follows the log by itself: to its end, before they are compared.
            assert [shown(each, message)[-1]["event"] for each in (other, client)] == ["end", "end"]
            assert shown(other, message)[0]["data"] == shown(client, message)[0]["data"]
        assert process.end()[0] == 0
