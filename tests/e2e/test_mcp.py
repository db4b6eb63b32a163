"""`fathom mcp` over both transports, in both protocols, against a running `fathom up`, by the SDK's own client."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from streams.stores.tokens import best_tokens
from tests.e2e import mcp_clients
from tests.e2e.calls import records
from tests.e2e.conftest import Tenant, Up
from tests.e2e.mcp_clients import PATIENT, Story, answered, post, refused
from tests.e2e.processes import fathom, running

# Two users of one tenant, and one of another; all by the same agent.
ANA, BOB, EVA = "agent-ana-0123456789", "agent-bob-0123456789", "agent-eva-0123456789"


@pytest.fixture(scope="module")
def tokens(tenant: Tenant, stranger: Tenant) -> dict[str, dict[str, str]]:
    return {
        ANA: {"tenant": tenant.name, "client": "agent", "user": "ana"},
        BOB: {"tenant": tenant.name, "client": "agent", "user": "bob"},
        EVA: {"tenant": stranger.name, "client": "agent", "user": "ana"},
    }


@pytest.fixture(scope="module")
def url(tenant: Tenant, tokens: dict[str, dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = tmp_path_factory.mktemp("mcp")
    (place / "tokens.json").write_text(json.dumps(tokens))
    settings = {**PATIENT, "FATHOM_MCP_TOKENS_FILE": str(place / "tokens.json")}
    beside = ("--broker", tenant.bootstrap)
    with running("mcp", "--http", "--port", "0", *beside, stderr=place / "err", **settings) as process:
        ready = process.ready()
        assert ready["event"] == "ready"
        yield ready["url"]
        assert process.end() == (0, "")
        said = (place / "err").read_text()
        assert "Traceback" not in said
        assert not [token for token in tokens if token in said]


def http(url: str, story: Story, *, token: str = ANA, mode: str = "auto") -> Any:
    return mcp_clients.http(url, story, token=token, mode=mode)


def stdio(tenant: Tenant, story: Story, *, mode: str = "auto", **settings: str) -> Any:
    return mcp_clients.stdio(tenant.bootstrap, story, mode=mode, **{"FATHOM_MCP_TENANT": tenant.name, **settings})


def said(tenant: Tenant, text: str, *options: str) -> None:
    assert tenant.fathom("ask", text, "--timeout", "60", *options).returncode == 0


async def other_tenant(client: Client) -> None:
    found = await answered(client, "resolve_tool_call", tool_name="get_order", conversation_id="tools-1")
    assert found["status"] == "error"


# --- both transports, both protocols ----------------------------------------------------------------------------------


@pytest.mark.covers("S3-62", "S3-59", "CF-48")
@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize(("version", "mode"), [("2026-07-28", "auto"), ("2025-11-25", "legacy")])
def test_a_caller_assesses_searches_and_has_the_pack_explained(
    tenant: Tenant, url: str, transport: str, version: str, mode: str
):
    async def story(client: Client) -> None:
        assert client.protocol_version == version
        needs = await answered(client, "assess_context_needs", query="How should I structure the billing module?")
        assert needs["needs_deep_context"] is True
        first, *_ = needs["recommended_tools"]
        found = await answered(client, first["name"], query="Explain how the billing module is structured")
        more = await answered(
            client, "search_context", query="and the tests?", conversation_id=found["conversation_id"]
        )
        assert more["conversation_id"] == found["conversation_id"]
        assert "Explain how the billing module is structured" in more["said"]
        # Who calls a search wants one, whatever the words.
        thanked = await answered(client, "search_context", query="thank you", conversation_id=found["conversation_id"])
        assert thanked["evidence"] is not None
        deep = await answered(client, "search_context", query="thanks", min_depth="D2", max_tokens=900)
        assert deep["depth_level"] == "D2"
        explained = await answered(client, "explain_pack", pack_id=more["pack_id"])
        assert explained["total_tokens"] == best_tokens().count(more["said"])
        working_set, persona, *_ = explained["sections"]
        assert (working_set["name"], persona["name"]) == ("working_set", "persona")
        assert all(item["source"] and item["reason"] for item in working_set["items"])

    if transport == "http":
        http(url, story, mode=mode)
    else:
        stdio(tenant, story, mode=mode)


def test_a_pack_over_mcp_is_the_record_of_the_topic_in_the_callers_trace(tenant: Tenant, url: str):
    trace = "0af7651916cd43dd8448eb211c80319c"

    async def story(client: Client) -> dict[str, Any]:
        meta: Any = {"traceparent": f"00-{trace}-b7ad6b7169203331-01"}
        result = await client.call_tool("search_context", {"query": "Qual o prazo do relatório?"}, meta=meta)
        return {**result.structured_content, **result.meta, "said": result.content[0].text}

    found = http(url, story)
    assert found["trace_id"] == trace
    tailed = records(tenant.bootstrap, "context-packs.out")
    [mine] = [record for record in tailed if record["value"]["pack_id"] == found["pack_id"]]
    assert mine["value"]["text"] == found["said"]
    assert mine["key"] == f"{tenant.name}|agent|{found['conversation_id']}"
    assert mine["headers"]["user_id"] == "ana"
    assert mine["headers"]["traceparent"].split("-")[1] == trace


def test_without_a_tenant_an_agent_finds_what_a_command_without_one_remembered(up: Up, tmp_path: Path):
    (tmp_path / "boathouse.md").write_text("# Boathouse\n\nThe door of the boathouse is painted turquoise.\n")
    assert fathom("ingest", str(tmp_path / "boathouse.md"), "--broker", up.bootstrap).returncode == 0

    async def story(client: Client) -> str:
        return (await answered(client, "search_context", query="What colour is the door of the boathouse?"))["said"]

    assert "turquoise" in mcp_clients.stdio(up.bootstrap, story)


# --- conflicts --------------------------------------------------------------------------------------------------------


def test_claims_that_contradict_each_other_or_a_statement_are_named_with_both_sides(tenant: Tenant, url: str):
    who = ("--client", "agent", "--user", "ana")
    said(tenant, "O prazo do projeto Falcão é dia 15 de março.", *who, "--conversation", "falcao-1")
    said(tenant, "O prazo do projeto Falcão é dia 20 de março.", *who, "--conversation", "falcao-2")

    async def story(client: Client) -> None:
        for _ in range(300):  # the claims stage is behind the pack
            found = await answered(client, "check_conflicts", subject="projeto Falcão")
            if found["considered"] == 2:
                break
            await asyncio.sleep(0.2)
        assert found["complete"]
        assert found["has_conflicts"]
        [conflict] = found["conflicts"]
        assert "20" in conflict["newer"]["value"]
        assert "15" in conflict["older"]["value"]
        assert conflict["current"] == conflict["newer"]["claim_id"]
        assert conflict["newer"]["source"].startswith("messages.in[")

        against = await answered(client, "check_conflicts", statement="O prazo do projeto Falcão é dia 25 de março.")
        assert against["has_conflicts"]
        assert {conflict["newer"]["source"] for conflict in against["conflicts"]} == {"statement"}
        same = await answered(client, "check_conflicts", statement="O prazo do projeto Falcão é dia 20 de março.")
        assert "20" not in [conflict["older"]["value"] for conflict in same["conflicts"]]
        again = await answered(client, "check_conflicts", subject="projeto Falcão")
        assert again["considered"] == found["considered"]  # a statement is not remembered

    http(url, story)

    async def of_another_tenant(client: Client) -> None:
        found = await answered(client, "check_conflicts", subject="projeto Falcão", statement="O prazo é dia 25.")
        assert (found["considered"], found["has_conflicts"]) == (0, False)

    http(url, of_another_tenant, token=EVA)


# --- whose it is ------------------------------------------------------------------------------------------------------


@pytest.mark.covers("B28")
def test_an_agent_reads_and_edits_its_users_memories_alone(tenant: Tenant, url: str):
    async def until(client: Client, wanted: dict[str, str]) -> dict[str, str]:
        for _ in range(100):
            found = (await answered(client, "memories", action="search", text="locker"))["memories"]
            if {each["value"]: each["status"] for each in found} == wanted:
                return {each["value"]: each["memory_id"] for each in found}
            await asyncio.sleep(0.2)
        raise AssertionError(found)

    async def edited(client: Client) -> str:
        await answered(client, "memories", action="add", text="My locker code is 7781.")
        old = (await until(client, {"7781": "holds"}))["7781"]
        await answered(client, "memories", action="correct", memory_id=old, text="9002")
        new = (await until(client, {"9002": "holds"}))["9002"]
        assert f"replaced by {new}" in await refused(client, "memories", action="confirm", memory_id=old)
        await answered(client, "memories", action="confirm", memory_id=new)
        confirmed = (await until(client, {"9002": "confirmed"}))["9002"]
        await answered(client, "memories", action="delete", memory_id=confirmed)
        await until(client, {"7781": "holds"})
        return old

    async def of_another(client: Client) -> None:
        assert (await answered(client, "memories", action="list"))["memories"] == []
        assert "you have no such memory" in await refused(client, "memories", action="delete", memory_id=old)

    async def taken_back(client: Client) -> None:
        await answered(client, "memories", action="delete", memory_id=old)
        await until(client, {})

    old = http(url, edited)
    for token in (BOB, EVA):
        http(url, of_another, token=token)
    stdio(tenant, taken_back)


def test_a_packs_id_is_no_right_to_it(tenant: Tenant, url: str):
    async def asked(client: Client) -> str:
        return (await answered(client, "search_context", query="My deadline is the 15th."))["pack_id"]

    async def explained(client: Client) -> str:
        return await refused(client, "explain_pack", pack_id=pack_id)

    pack_id = http(url, asked)
    for token in (BOB, EVA):
        assert "no such pack of yours" in http(url, explained, token=token)
    assert "no such pack of yours" in stdio(tenant, explained, FATHOM_MCP_CLIENT="other")


@pytest.mark.covers("B28")
def test_a_conversations_id_of_another_tenant_opens_an_empty_one(url: str):
    async def told(client: Client) -> None:
        await answered(client, "search_context", query="O código do cofre é 7741.", conversation_id="shared")

    async def asked(client: Client) -> dict[str, Any]:
        return await answered(client, "search_context", query="e o cofre?", conversation_id="shared")

    http(url, told)
    assert "7741" in http(url, asked)["said"]
    assert "7741" not in http(url, asked, token=EVA)["said"]


def test_a_conversations_id_of_another_user_opens_nothing(tenant: Tenant, url: str):
    async def told(client: Client) -> None:
        await answered(client, "search_context", query="My salary is MCPCANARY.", conversation_id="hers")

    async def asked(client: Client) -> None:
        for tool, named in (
            ("search_context", {"query": "What was said?"}),
            ("reason", {"question": "What was said?"}),
            ("resolve_tool_call", {"tool_name": "get_order"}),
        ):
            said = await refused(client, tool, conversation_id="hers", **named)
            assert "there is no conversation 'hers'" in said, tool

    http(url, told)
    http(url, asked, token=BOB)
    stdio(tenant, asked, FATHOM_MCP_USER="bob")


# --- HTTP -------------------------------------------------------------------------------------------------------------


@pytest.mark.covers("B28")
def test_over_http_a_request_needs_a_token_a_known_origin_and_a_bounded_body(url: str):
    authorization = f"Bearer {ANA}"
    assert post(url)[0] == 401
    assert post(url, authorization="Bearer nobody")[0] == 401
    assert post(url.removesuffix("/mcp") + "/health")[0] == 401
    assert post(url, authorization=authorization, origin="https://evil.example")[0] == 403
    assert post(url, authorization=authorization, host="evil.example")[0] == 403
    assert post(url, b"x" * 2_000_001, authorization=authorization)[0] == 413
    assert post(url, b"no json", authorization=authorization)[0] == 400
    assert post(url.removesuffix("/mcp") + "/other", authorization=authorization)[0] == 404


# --- refusals of a process --------------------------------------------------------------------------------------------


def test_http_without_tokens_or_with_a_taken_port_is_a_configuration_error(
    url: str, tokens: dict[str, dict[str, str]], tmp_path: Path
):
    ended = fathom("mcp", "--http", "--port", "0")
    assert (ended.returncode, ended.stdout) == (3, "")
    assert "FATHOM_MCP_TOKENS_FILE is not set" in ended.stderr
    (tmp_path / "tokens.json").write_text(json.dumps(tokens))
    port = url.split(":")[2].split("/")[0]
    ended = fathom("mcp", "--http", "--port", port, FATHOM_MCP_TOKENS_FILE=str(tmp_path / "tokens.json"))
    assert (ended.returncode, ended.stdout) == (3, "")
    assert "choose another" in ended.stderr


def test_the_end_of_stdin_is_an_orderly_end_and_nothing_but_the_protocol_reached_stdout():
    ended = fathom("mcp")  # its stdin is at its end
    assert (ended.returncode, ended.stdout) == (0, "")
    assert "Traceback" not in ended.stderr


@pytest.mark.covers("S4-01", "S4-26")
def test_a_tool_call_is_completed_refused_or_asked_about_over_the_topics(tenant: Tenant, stranger: Tenant, url: str):
    async def story(client: Client) -> None:
        refused = await answered(client, "resolve_tool_call", tool_name="get_order", conversation_id="tools-1")
        assert (refused["status"], refused["error_code"], refused["arguments"]) == ("error", "context_missing", None)
        assert refused["error"].startswith("No order is mentioned.")
        await answered(client, "search_context", query="Where is ORD-4456?", conversation_id="tools-1")
        arguments = {"tool_name": "get_order", "conversation_id": "tools-1", "call_id": "call-7"}
        first = await answered(client, "resolve_tool_call", **arguments)
        assert (first["status"], first["arguments"]) == ("resolved", {"order_id": "ORD-4456", "include_items": True})
        assert [each["source"] for each in first["injections"]] == ["mention", "default"]
        again = await answered(client, "resolve_tool_call", **arguments)
        assert again["arguments"] == first["arguments"]
        asked = await answered(
            client, "resolve_tool_call", tool_name="refund_order", conversation_id="tools-1",
            arguments={"amount": 12.5},
        )  # fmt: skip
        assert (asked["status"], asked["arguments"]) == ("confirmation_required", None)
        assert asked["preview"]["arguments"] == {"amount": 12.5, "order_id": "ORD-4456", "reason": "other"}
        unknown = await answered(client, "resolve_tool_call", tool_name="nosuchtool", conversation_id="tools-1")
        assert unknown["error_code"] == "unknown_tool"

    http(url, story)
    stdio(stranger, lambda client: other_tenant(client))
