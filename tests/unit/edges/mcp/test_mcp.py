"""MCP as a client of the official SDK meets it: the tools, their promises, their answers and their refusals."""

import asyncio
import json
import logging
import re
import time
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.shared.exceptions import MCPError

from agents.core.assessment.advised_tools import TOOLS as ADVISED
from agents.core.packs.planning import Limits
from agents.stages.assessor import Assessor
from schemas.assessment import Assessment
from schemas.depth import DepthLevel
from streams.edges.client.errors import CommandFailed
from streams.edges.mcp import tool_assess, tool_search
from streams.edges.mcp.tool import Tool
from streams.edges.mcp.toolbox import TOOLS
from streams.stores.tokens import best_tokens
from streams.telemetry.clock import SystemClock
from streams.testing.pipeline import Pipeline
from tests.builders.mcp_client import ANA, MODES, call, nowhere, talk, text
from tests.checkout import ROOT

NAMES = [
    "assess_context_needs", "search_context", "reason", "check_conflicts", "explain_pack", "memories",
    "resolve_tool_call",
]  # fmt: skip
RECORDING = {"search_context", "reason", "memories", "resolve_tool_call"}
BATCH = (
    "Hello!", "Thanks for the help", "What do you mean?", "How should I structure this?", "Write a function for X",
    "Review this code", "Why is this failing?", "Got it", "Can you explain more?", "Implement user authentication",
)  # fmt: skip
TRACE = "0af7651916cd43dd8448eb211c80319c"


async def listed(client: Client) -> Any:
    return client.protocol_version, (await client.list_tools()).tools


@pytest.mark.covers("S3-62", "S3-49")
@pytest.mark.parametrize("version", MODES)
def test_both_protocols_list_the_tools_in_one_order_with_schemas_and_every_hint(version: str):
    spoken, tools = talk(listed, mode=MODES[version])
    assert spoken == version
    assert [tool.name for tool in tools] == NAMES
    for tool in tools:
        assert tool.title
        assert tool.description
        # The tool's own title goes before that of its hints.
        hints = tool.annotations.model_dump(exclude={"title"})
        assert None not in hints.values()
        assert (hints["destructive_hint"], hints["open_world_hint"]) == (False, False)
        assert hints["read_only_hint"] is (tool.name not in RECORDING)
        for schema in (tool.input_schema, tool.output_schema):
            Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False


def test_what_every_agent_reads_before_its_first_call_is_short():
    _, tools = talk(listed)
    shown = [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools]
    assert best_tokens().count(json.dumps(shown)) <= 2_000


def test_a_search_answers_with_the_text_of_the_pack_and_little_beside_it():
    with Pipeline() as fathom:
        for n, (city, sea) in enumerate([("Porto", "norte"), ("Lisboa", "centro"), ("Faro", "sul"), ("Braga", "alto")]):
            fathom.document(
                f"d{n}",
                f"Reembolso em {city}",
                f"# Reembolso em {city}\n\nO reembolso de viagem em {city} é pago em {n + 3} dias pela tesouraria do "
                f"{sea}. O formulário de reembolso de {city} fica no portal, e a nota fiscal é guardada por cinco anos "
                f"no arquivo do {sea}. Quem viaja a {city} sem reserva pede o reembolso de viagem à chefia, com os "
                f"recibos.\n\n# Adiantamento em {city}\n\nO adiantamento do reembolso de viagem em {city} é de "
                f"{n + 2}00 reais por dia, e a chefia do {sea} o aprova em {n + 1} dias. Sem o formulário de viagem de "
                f"{city} não há adiantamento, e o reembolso fica para o mês seguinte.\n",
            )
        for city in ("Porto", "Lisboa", "Faro"):
            fathom.say(f"O reembolso de viagem em {city} é pago pela tesouraria, com o formulário do portal. " * 4)
        pack = fathom.ask("Explica como funciona o reembolso de viagem em Porto, Lisboa, Faro e Braga")
    found = tool_search.searched(pack)
    structured = found.model_dump(mode="json")
    Draft202012Validator(tool_search.TOOL.output_schema()).validate(structured)
    assert tool_search.TOOL.text(found) == pack.text
    assert "text" not in structured
    assert (structured["pack_id"], structured["evidence"], structured["depth_level"]) == (pack.pack_id, "found", "D2")
    tokens = best_tokens()
    beside, own = tokens.count(json.dumps(structured, ensure_ascii=False)), tokens.count(pack.text or "")
    assert own + beside <= 1.3 * own, (own, beside)
    assert beside <= 0.1 * tokens.count(pack.model_dump_json())


def test_a_pack_of_everyday_size_is_answered_in_little_more_than_its_own_tokens():
    """At least 200 tokens, as packs of everyday questions have on average."""
    with Pipeline() as fathom:
        fathom.document(
            "kettle",
            "Kettle K2",
            "# Kettle K2\n\nThe Kettle K2 has a warranty of four years, which covers the heating element, the switch "
            "and the lid. The warranty of the Kettle K2 does not cover scale, dents or a cable that was cut.\n\n"
            "# Descaling\n\nThe Kettle K2 is descaled with vinegar twice a year, more often where the water is hard. "
            "Fill the Kettle K2 to the mark with two parts of water and one of vinegar, boil it, wait for an hour, and "
            "rinse it three times before the next tea. Descaling does not touch the warranty of the Kettle K2, unless "
            "another acid than vinegar or citric acid was used; the receipt of the descaling agent is not needed. Who "
            "has no time for it brings the Kettle K2 to the shop, where descaling takes two days and costs nothing.\n",
        )
        pack = fathom.ask("Explain the warranty and the descaling of the Kettle K2", conversation="mQ3v9Zk1x0aB")
    tokens = best_tokens()
    structured = json.dumps(tool_search.searched(pack).model_dump(mode="json"), ensure_ascii=False)
    assert 200 <= pack.total_tokens_estimated <= 250
    assert pack.total_tokens_estimated + tokens.count(structured) <= 1.3 * pack.total_tokens_estimated


@pytest.mark.covers("B28")
def test_no_tool_takes_whose_memory_it_is_about():
    _, tools = talk(listed)
    taken = {name for tool in tools for name in tool.input_schema["properties"]}
    assert not taken & {"tenant", "tenant_id", "client", "client_id", "user", "user_id", "access_level"}


@pytest.mark.covers("REQ-017.1", "S3-08", "S3-09", "S3-10", "S3-11", "S3-12", "S3-13")
def test_an_assessment_is_the_stages_with_receipt_and_trace():
    arguments = {"query": "What do you mean by that?", "conversation_summary": "Discussing error handling patterns"}
    result = call("assess_context_needs", arguments)
    assessor = Assessor(SystemClock())
    made, _ = asyncio.run(assessor.assess(arguments["query"], arguments["conversation_summary"], (), None))
    found = result.structured_content
    assert {name: found[name] for name in Assessment.model_fields} == made.model_dump(mode="json")
    assert not result.is_error
    assert text(result) == f"{found['recommended_action']}: {found['reason']}"
    [tool] = [tool for tool in TOOLS if tool.name == "assess_context_needs"]
    Draft202012Validator(tool.output_schema()).validate(found)


@pytest.mark.covers("REQ-017.1")
def test_the_arguments_of_an_assessment_are_the_three_of_the_requirement():
    _, [tool, *_] = talk(listed)
    assert list(tool.input_schema["properties"]) == ["query", "conversation_summary", "available_context"]
    assert tool.input_schema["required"] == ["query"]
    query = "Qual o nome da função que valida CPF?"
    away = call("assess_context_needs", {"query": query, "conversation_summary": None, "available_context": None})
    at_hand = call("assess_context_needs", {"query": query, "available_context": ["def valida_cpf(c): ..."]})
    assert away.structured_content["needs_deep_context"] is True
    assert at_hand.structured_content["needs_deep_context"] is False


def test_an_assessment_says_what_a_pack_of_its_depth_would_ask_within_the_configured_budget():
    limits = Limits(max_tokens={**Limits().max_tokens, DepthLevel.D0: 800})
    found = call("assess_context_needs", {"query": "Hello!"}, limits=limits).structured_content
    assert (found["depth_level"], found["max_tokens"]) == ("D0", 800)
    assert found["needs"] == [
        {"memory_class": "working_set", "max_tokens": 560},
        {"memory_class": "persona", "max_tokens": 160},
    ]


@pytest.mark.covers("S3-07")
def test_assessing_comes_before_searching_and_says_so():
    async def said(client: Client) -> Any:
        return client.instructions, (await client.list_tools()).tools

    instructions, [assess, search, *_] = talk(said)
    assert assess.name == "assess_context_needs"
    assert "BEFORE search_context" in assess.description
    assert "assess_context_needs first" in search.description
    assert "assess_context_needs first" in instructions


@pytest.mark.covers("S3-59")
def test_the_tools_an_assessment_recommends_are_there_to_be_called():
    found = call("assess_context_needs", {"query": "How should I structure this?"}).structured_content
    assert [tool["name"] for tool in found["recommended_tools"]] == ["search_context", "check_conflicts"]
    # Whoever is advised to call a tool finds it here.
    assert {*ADVISED} < {tool.name for tool in TOOLS}


@pytest.mark.covers("S3-21", "S3-41", "S3-56", "S3-57")
def test_an_assessment_takes_less_than_200_ms_and_the_batch_of_ten_less_than_2_s():
    async def batch(client: Client) -> list[float]:
        times = []
        for query in BATCH:
            began = time.perf_counter()
            assert not (await client.call_tool("assess_context_needs", {"query": query})).is_error
            times.append(time.perf_counter() - began)
        return times

    async def thrice(client: Client) -> list[list[float]]:
        return [await batch(client) for _ in range(3)]

    # The best of three: a busy machine takes the time of one, a slow assessment that of all.
    best = [min(times) for times in zip(*talk(thrice), strict=True)]
    assert sum(best) < 2
    assert max(best) < 0.2


def test_the_same_question_with_the_same_answer_has_the_same_receipt_of_this_caller_only():
    one, again = (call("assess_context_needs", {"query": "Hello!"}).meta for _ in range(2))
    other = call("assess_context_needs", {"query": "Hi!"}).meta
    beta = call("assess_context_needs", {"query": "Hello!"}, caller=lambda _: type(ANA)("beta", "agent", "ana"))
    receipts = [found["receipt_id"] for found in (one, again, other, beta.meta)]
    assert receipts[0] == receipts[1]
    assert len(set(receipts)) == 3


@pytest.mark.parametrize("version", MODES)
def test_the_trace_is_the_callers_or_a_new_one(version: str):
    async def traced(client: Client, traceparent: str) -> str:
        result = await client.call_tool("assess_context_needs", {"query": "Hello!"}, meta={"traceparent": traceparent})
        return result.meta["trace_id"]

    mode = MODES[version]
    assert talk(lambda client: traced(client, f"00-{TRACE}-b7ad6b7169203331-01"), mode=mode) == TRACE
    for wrong in (f"00-{'0' * 32}-b7ad6b7169203331-01", "00-xyz", "\n"):
        made = talk(lambda client, wrong=wrong: traced(client, wrong), mode=mode)
        assert (len(made), made != "0" * 32) == (32, True)


@pytest.mark.covers("S3-63")
def test_one_call_that_waits_holds_no_other():
    waiting = asyncio.Event()

    async def answer(asked: Any, call: Any) -> Any:
        if asked.query == "slow":
            await waiting.wait()
        return await tool_assess.answer(asked, call)

    async def story(client: Client) -> list[str]:
        ended: list[str] = []

        async def ask(query: str) -> None:
            await client.call_tool("assess_context_needs", {"query": query})
            ended.append(query)

        slow = asyncio.create_task(ask("slow"))
        await ask("quick")
        waiting.set()
        await slow
        return ended

    assert talk(story, tools=[replace(tool_assess.TOOL, answer=answer)]) == ["quick", "slow"]


# --- refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("assess_context_needs", {}, "query: Field required"),
        ("assess_context_needs", {"query": 3}, "query: Input should be a valid string"),
        ("assess_context_needs", {"query": "x" * 50_001}, "query: String should have at most 50000 characters"),
        ("assess_context_needs", {"query": "x\ud800"}, "query: Input should be a valid string"),
        ("assess_context_needs", {"qery": "x"}, "no argument 'qery'; did you mean query?"),
        ("assess_context_needs", {"query": "x", "tenant": "beta"}, "no argument 'tenant'"),
        ("assess_context_needs", {"query": "x", "available_context": ["a", 3]}, "available_context.1: "),
        ("assess_context_needs", {"query": "x", "available_context": ["y" * 8_000] * 26}, "more than 200,000 char"),
        ("search_context", {"query": ""}, "query: String should have at least 1 character"),
        ("search_context", {"query": "x", "conversation_id": "a\nb"}, "conversation_id: "),
        ("search_context", {"query": "x", "min_depth": "D9"}, "min_depth: Input should be 'D0', 'D1', 'D2', 'D3' or"),
        ("search_context", {"query": "x", "max_tokens": 0}, "max_tokens: Input should be greater than or equal to 1"),
        ("search_context", {"query": "x", "have": ["p"] * 17}, "have: "),
        ("search_context", {"query": "x"}, "nothing is running in .fathom; start `fathom up`"),
        ("check_conflicts", {}, "give subject, statement, or both"),
        ("check_conflicts", {"subject": "prazo"}, "nothing is running in .fathom; start `fathom up`"),
        ("explain_pack", {"pack_id": " "}, "pack_id: an id is 1-256 printable characters"),
        ("explain_pack", {"pack_id": "p"}, "nothing is running in .fathom; start `fathom up`"),
        ("resolve_tool_call", {"tool_name": "", "conversation_id": "c"}, "tool_name: String should have at least 1"),
        ("resolve_tool_call", {"tool_name": "x"}, "conversation_id: Field required"),
        ("resolve_tool_call", {"tool_name": "x", "conversation_id": "c"}, "nothing is running in .fathom; start"),
    ],
)
def test_what_is_wrong_is_a_tool_error_that_says_what_and_where(name: str, arguments: dict[str, Any], says: str):
    result = call(name, arguments)
    assert result.is_error
    assert result.structured_content is None
    assert text(result).startswith(f"{name}: ")
    assert says in text(result)
    assert len(text(result)) < 500


@pytest.mark.parametrize("version", MODES)
@pytest.mark.parametrize(
    ("name", "says"),
    [("search_contxt", "did you mean search_context?"), ("x" * 100_000, "there are: assess")],
)
def test_an_unknown_tool_is_a_protocol_error_that_names_the_known_ones(version: str, name: str, says: str):
    async def refused(client: Client) -> Any:
        # Inside the client's context: leaving it wraps what is raised.
        with pytest.raises(MCPError) as error:
            await client.call_tool(name, {})
        return error.value.error

    error = talk(refused, mode=MODES[version])
    assert error.code == -32602
    assert says in error.message
    assert "explain_pack" in error.message
    assert len(error.message) < 300


@pytest.mark.covers("B28")
def test_after_too_many_calls_a_caller_is_told_when_to_try_again():
    result = call("assess_context_needs", {"query": "Hello!"}, refuse=lambda caller: 2.5 if caller == ANA else 0.0)
    assert result.is_error
    assert text(result) == "too many calls: try again in 2.5 s"
    assert result.meta["retry_after_seconds"] == 2.5


def broken(error: Exception) -> list[Tool[Any, Any]]:
    async def answer(asked: Any, _: Any) -> Any:
        raise error

    return [replace(tool_assess.TOOL, answer=answer)]


def test_a_bug_is_told_without_what_it_says_and_logged_with_its_trace(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.ERROR, "fathom.mcp"):
        result = call("assess_context_needs", {"query": "Hello!"}, tools=broken(KeyError("the secret of beta")))
    assert result.is_error
    assert "secret" not in text(result)
    [record] = caplog.records
    assert record.fields["trace_id"] in text(result)
    assert record.exc_info is not None


def test_a_call_that_does_not_end_is_ended():
    async def answer(asked: Any, _: Any) -> Any:
        await asyncio.Event().wait()

    result = call(
        "assess_context_needs", {"query": "x"}, tools=[replace(tool_assess.TOOL, answer=answer)], seconds=0.05
    )
    assert result.is_error
    assert text(result) == "assess_context_needs: no answer within 0.1 s; look at the broker, then try again"


def test_what_a_command_would_say_is_what_the_tool_says():
    result = call("assess_context_needs", {"query": "x"}, tools=broken(CommandFailed("no pack came; do this")))
    assert text(result) == "assess_context_needs: no pack came; do this"


def test_every_call_is_one_log_line_without_what_was_asked(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.INFO, "fathom.mcp"):
        found = call("assess_context_needs", {"query": "my password is hunter2"}).meta
        call("search_context", {"query": "x"}, bootstrap=nowhere)
    answered, failed = (record.fields for record in caplog.records)
    assert (answered["tool"], answered["tenant"], answered["outcome"]) == ("assess_context_needs", "acme", "ok")
    assert (answered["receipt_id"], answered["trace_id"]) == (found["receipt_id"], found["trace_id"])
    assert (failed["tool"], failed["outcome"], failed["receipt_id"]) == ("search_context", "failed", None)
    assert "hunter2" not in str(answered)


def test_the_server_document_names_this_version_and_the_settings_it_reads():
    stated = json.loads((ROOT / "deploy/mcp/server.json").read_text())
    [package] = stated["packages"]
    version = (ROOT / "pyproject.toml").read_text().partition('\nversion = "')[2].partition('"')[0]
    assert stated["version"] == package["version"] == version
    assert package["identifier"] == "fathom-context"
    # Bounds of the registry's schema, 2025-12-11.
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", stated["name"])
    assert len(stated["description"]) <= 100
    from streams.config import PREFIX, Settings

    known = {PREFIX + name.upper() for name in Settings.model_fields}
    assert {one["name"] for one in package["environmentVariables"]} <= known
