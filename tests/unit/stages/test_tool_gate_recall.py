"""Recalled values on the topics: from what was said and done there, audited so that the verdict can be made again."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, get_args

import pytest

from agents.core.conversation.memory import ConversationTurn
from agents.core.language.messages import catalogue
from agents.core.tools.gate import Resolution, ToolPolicyResolver, UserMessage
from schemas.memory import AuditDecision
from schemas.tool_policy import ToolPolicy
from schemas.tool_session import ToolSession
from schemas.tools import ErrorCode, InjectionSource
from schemas.topics import MEMORY_DECISIONS, TOOLS_RESULTS_IN
from streams import policies
from streams.testing.pipeline import Pipeline
from tests.builders.customs import CUSTOMS
from tests.checkout import ROOT
from tests.unit.core.tools.test_gate_recall import POLICY, ROWS
from tests.unit.stages.test_tool_gate import START, Agent, confirm


def policy() -> ToolPolicy:
    shipped = CUSTOMS
    return ToolPolicy(
        session={**shipped.session, **POLICY.session}, tools={**shipped.tools, **POLICY.tools}, lang=shipped.lang
    )


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline(tool_wait_ms=0, tools=policy()) as pipeline:
        pipeline.clock.at = START
        yield pipeline


def rows_found(agent: Agent, at: float = 0) -> None:
    agent.done("c1", "Ferry.Find", at, args={"harbour": "Belém"}, linhas=list(ROWS))


def offered(agent: Agent) -> None:
    rows_found(agent)
    agent.fathom.clock.advance(60)
    agent.fathom.say("O Mare Alta tem lugar.", role="assistant", conversation="s1")
    agent.say("ótimo, reserve esse")


def audits(fathom: Pipeline) -> list[AuditDecision]:
    return [each.event for each in fathom.events(MEMORY_DECISIONS) if isinstance(each.event, AuditDecision)]


def again(detail: Mapping[str, Any], tool: str) -> Resolution:
    """The resolution made again from an audit record and the contracts alone."""
    recalled = detail.get("recall", {"turns": [], "calls": [], "confirmed": []})
    session = ToolSession.model_validate(
        {
            "values": detail["session"],
            "calls": recalled["calls"],
            "waiting": {str(number): each for number, each in enumerate(recalled["confirmed"])},
        },
        by_alias=True,
        by_name=False,
    )
    turns = [
        ConversationTurn(t["role"], t["text"], datetime.fromisoformat(t["at"]), t["id"]) for t in recalled["turns"]
    ]
    said = UserMessage(detail["message"]["text"], detail["message"]["id"], turns)
    gate = ToolPolicyResolver(policy(), policies.shipped())
    return gate.resolve(tool, detail["args"], session, said, datetime.fromisoformat(detail["now"]))


@pytest.mark.covers("S4-01", "S4-41", "S4-43", "B22")
def test_a_row_that_was_offered_completes_the_call_and_the_audit_says_all(fathom: Pipeline) -> None:
    agent = Agent(fathom)
    offered(agent)
    found = agent.call("c2", "Ferry.Book", 3)
    assert found.resolved_args == {
        "ferry_name": "Mare Alta", "harbour": "Belém", "passengers": 1, "cabin": "standard",
    }  # fmt: skip
    assert [(each.arg, each.source, each.evidence, each.age_seconds) for each in found.injections[:2]] == [
        ("ferry_name", "result", "c1", 180.0), ("harbour", "call", "c1", 180.0),
    ]  # fmt: skip
    [audit] = audits(fathom)
    made = again(audit.detail, "Ferry.Book")
    assert (made.args, made.injections) == (found.resolved_args, found.injections)


@pytest.mark.covers("B22")
def test_every_verdict_can_be_made_again_from_its_audit_record_alone(fathom: Pipeline) -> None:
    agent = Agent(fathom)
    offered(agent)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("Ferry.Book", {}), ("Ferry.Book", {"passengers": 2}), ("Ferry.Pay", {}), ("Ferry.Book", {"ferry_nme": 1}),
        ("filtrar_relatorio", {}), ("consultar_status_processo", {}), ("criar_duimp", {}), ("somar", {}),
    ]  # fmt: skip
    for number, (tool, args) in enumerate(calls):
        agent.call(f"c{number + 10}", tool, 4, **args)
        if number == 1:
            agent.done("c20", "Ferry.Find", 4, linhas=[*ROWS, {"ferry_name": "Sado"}])
            agent.done("c21", "gerar_relatorio", 4, report_id="rel_1")
    verdicts = {each.call_id: each for each in agent.verdicts()}
    assert {each.status for each in verdicts.values()} == {"resolved", "error"}
    records = {audit.subject_id: audit for audit in audits(fathom)}
    assert set(records) == set(verdicts)
    for verdict in verdicts.values():
        made = again(records[verdict.call_id].detail, verdict.tool_name)
        assert (made.error, made.code) == (verdict.error, verdict.error_code)
        assert verdict.resolved_args is None or (made.args, made.injections) == (
            verdict.resolved_args, verdict.injections,
        )  # fmt: skip


def test_a_call_of_a_tool_that_recalls_nothing_is_audited_as_before(fathom: Pipeline) -> None:
    agent = Agent(fathom)
    offered(agent)
    agent.call("c2", "filtrar_relatorio", 3, report_id="rel_1")
    [audit] = audits(fathom)
    assert set(audit.detail) == {"verdict", "args", "session", "message", "now"}


def test_what_a_user_confirmed_goes_into_the_next_sensitive_call(fathom: Pipeline) -> None:
    agent = Agent(fathom)
    agent.say("quero pagar a balsa")
    assert agent.call("c2", "Ferry.Pay", 1, ferry_name="Sado", amount=5).status == "confirmation_required"
    assert agent.call("c3", "Ferry.Pay", 1).error_code == "argumento_ausente"
    confirm(agent, 2, call_id="c2", ce_id="yes")
    agent.send(TOOLS_RESULTS_IN, 2, call_id="c2", nome_tool="Ferry.Pay", sucesso=False, args={"ferry_name": "Sado"})
    found = agent.call("c4", "Ferry.Pay", 3)
    assert found.preview is not None
    assert found.preview.args == {"ferry_name": "Sado"}
    assert "Sado (de uma chamada anterior)" in found.preview.text


@pytest.mark.covers("B21", "CF-53")
@pytest.mark.parametrize(("minutes", "approved"), [(2, False), (17, True)])
def test_a_no_and_a_late_yes_confirm_no_value(fathom: Pipeline, minutes: float, approved: bool) -> None:
    agent = Agent(fathom)
    agent.say("quero pagar a balsa")
    agent.call("c2", "Ferry.Pay", 1, ferry_name="Sado")
    confirm(agent, minutes, call_id="c2", approved=approved)
    agent.send(TOOLS_RESULTS_IN, 18, call_id="c1", nome_tool="Ferry.Find", sucesso=True, args={"ferry_name": "Sado"})
    assert agent.call("c4", "Ferry.Pay", 19).error_code == "argumento_ausente"


def test_what_is_recalled_survives_an_emptied_store(fathom: Pipeline) -> None:
    agent = Agent(fathom)
    offered(agent)
    agent.call("c2", "Ferry.Pay", 3, ferry_name="Sado")
    confirm(agent, 4, call_id="c2", ce_id="yes")
    before = [session for session, _ in fathom.tool_sessions._sessions.values()]
    fathom.tool_sessions.clear()
    fathom.tool_view.on_revoked()
    assert agent.call("c3", "Ferry.Book", 5).resolved_args is not None
    [[after, _]] = fathom.tool_sessions._sessions.values()
    [known] = before
    assert (after.calls, after.waiting) == (known.calls, known.waiting)
    assert known.waiting["c2"].approved is True


def test_rows_that_are_no_rows_are_a_dead_letter(fathom: Pipeline) -> None:
    agent = Agent(fathom)
    agent.done("c1", "Ferry.Find", linhas=[{"a": {"b": 1}}])
    assert len(agent.letters()) == 1


@pytest.mark.covers("S4-39")
def test_the_rules_are_documented_with_every_source_and_every_refusal() -> None:
    text = (ROOT / "docs" / "tools.md").read_text()
    assert "(docs/tools.md)" in (ROOT / "README.md").read_text()
    for name in (*get_args(ErrorCode), *get_args(InjectionSource)):
        assert f"`{name}`" in text, name
    said = {key for key in catalogue("en") if key.startswith("tool.origin_")}
    assert said == {f"tool.origin_{source}" for source in get_args(InjectionSource)}
    rules = text[text.index("## The rules") : text.index("| `erro_codigo`")]
    places = [rules.index(f"\n{number}. ") for number in range(1, 6)]
    assert places == sorted(places)
    words = ("call has", "message names", "session keeps", "dialogue has settled", "default")
    for rule, word in zip(places, words, strict=True):
        assert word in rules[rule : rules.index("\n", rule + 1)]
