"""The tool gate on its topics: verdicts, confirmations, results in any order, and sessions that cannot be read."""

import logging
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agents.errors import Unavailable
from schemas.base import Conversation
from schemas.memory import AuditDecision
from schemas.tool_session import ToolSession
from schemas.tools import ToolCallResolved
from schemas.topics import (
    DEPTH_CLASSIFIED,
    MEMORY_DECISIONS,
    TOOLS_CALLS_IN,
    TOOLS_CALLS_OUT,
    TOOLS_CONFIRMATIONS_IN,
    TOOLS_RESULTS_IN,
)
from streams.stores.sessions.tool_sessions import MemoryToolSessions
from streams.testing.pipeline import Pipeline
from tests.builders.customs import CUSTOMS

START = datetime(2026, 1, 14, 9, 0, tzinfo=UTC)
NO_REPORT = 'Nenhum relatório ativo. Gere um relatório primeiro (ex: "o que temos pra hoje?")'


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline(tool_wait_ms=0, tools=CUSTOMS) as pipeline:
        yield pipeline


class Agent:
    """An agent's session on the topics; `at` counts minutes."""

    def __init__(self, fathom: Pipeline, tenant: str = "acme", user: str = "ana") -> None:
        self.fathom = fathom
        self.about = Conversation(tenant=tenant, client_id="web", conversation_id="s1")
        self.user = user
        self.count = 0

    def send(self, topic: Any, at: float = 0, ce_id: str | None = None, **value: Any) -> None:
        self.count += 1
        headers = {
            "tenant": self.about.tenant,
            "user_id": self.user,
            "ce_specversion": "1.0",
            "ce_id": ce_id or f"{self.about.tenant}-{self.user}-{topic.name}-{self.count}",
            "ce_time": (START + timedelta(minutes=at)).isoformat(),
        }
        headers |= {"ce_type": topic.events[0].TYPE, "ce_source": "urn:test:agent"}
        whole = {"client_id": "web", "session_id": "s1", **value}
        self.fathom.publish(topic, whole, headers, self.about.key().encode())

    def say(self, text: str) -> str:
        about = self.about
        return self.fathom.say(text, conversation=about.conversation_id, client_id=about.client_id, tenant=about.tenant)

    def call(self, call_id: str, tool: str, at: float = 0, **args: Any) -> ToolCallResolved:
        before = len(self.verdicts())
        self.send(TOOLS_CALLS_IN, at, call_id=call_id, nome_tool=tool, args=args)
        assert len(self.verdicts()) == before + 1
        return self.verdicts()[-1]

    def done(self, call_id: str, tool: str, at: float = 0, **fields: Any) -> None:
        self.send(TOOLS_RESULTS_IN, at, call_id=call_id, nome_tool=tool, sucesso=True, **fields)

    def verdicts(self) -> list[ToolCallResolved]:
        return [received.event for received in self.fathom.events(TOOLS_CALLS_OUT)]

    def letters(self) -> list[str]:
        return [dict(each.headers)["fathom_reason"].decode() for each in self.fathom.log.of("dead-letters.tool-gate")]


@pytest.mark.covers("S4-02", "S4-25", "S4-27", "S4-33", "S4-35", "S4-41", "AC-47", "CF-55")
def test_a_report_then_a_filter_without_naming_it(fathom: Pipeline, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="fathom.tools")
    agent = Agent(fathom)
    agent.done("c1", "gerar_relatorio", report_id="rel_20260114_095826")
    found = agent.call("c2", "buscar_secao_relatorio_salvo", 2, secao="processos_chegando", categoria="DMD")
    assert found.status == "resolved"
    assert found.resolved_args == {
        "secao": "processos_chegando",
        "categoria": "DMD",
        "report_id": "rel_20260114_095826",
    }
    [injection] = found.injections
    assert (injection.source, injection.evidence, injection.age_seconds) == ("session", "c1", 120.0)
    [said] = caplog.records
    assert said.getMessage() == "tool.resolved"
    fields = said.__dict__["fields"]
    assert fields["tool"] == "buscar_secao_relatorio_salvo"
    assert fields["call"] == "c2"
    assert fields["injected"] == ["report_id (session)"]
    assert fields.keys() == {"tool", "call", "tenant", "correlation_id", "injected"}
    [record] = fathom.log.of(TOOLS_CALLS_OUT.name)
    assert record.key == agent.about.key().encode()


@pytest.mark.covers("S4-31", "S4-32")
def test_logs_hold_constants_and_no_value_that_anybody_said(fathom: Pipeline, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="fathom")
    agent = Agent(fathom)
    agent.done("c1", "gerar_relatorio", report_id="rel_segredo")
    agent.say("qual o status do DMD.7777/26?")
    fathom.ask("Explica o segredo do DMD.7777/26?")
    agent.call("c2", "buscar_secao_relatorio_salvo", 2, secao="segredo", categoria="DMD")
    agent.call("c3", "consultar_status_processo", 3)
    agent.call("c4", "segredo_inventado", 4)
    agent.call("c5", "criar_duimp", 5)
    levels = {each.getMessage(): each.levelno for each in caplog.records}
    assert (levels["tool.resolved"], levels["tool.refused"]) == (logging.INFO, logging.WARNING)
    said = [(each.getMessage(), str(each.__dict__.get("fields", ""))) for each in caplog.records]
    assert {"tool.resolved", "tool.refused", "tool.confirmation-asked"} <= {event for event, _ in said}
    assert [event for event, _ in said if not re.fullmatch(r"[a-z]+([.-][a-z]+)+", event)] == []
    assert [(event, fields) for event, fields in said if "segredo" in fields or "DMD" in fields] == []


@pytest.mark.covers("S4-26", "S4-37", "AC-50")
def test_without_a_report_there_is_nothing_to_execute(fathom: Pipeline) -> None:
    found = Agent(fathom).call("c1", "filtrar_relatorio")
    assert found.model_dump(exclude_none=True)["erro"] == NO_REPORT
    assert (found.status, found.resolved_args, found.succeeded, found.reply) == ("error", None, False, NO_REPORT)


@pytest.mark.covers("S4-36", "S4-34", "AC-49")
def test_a_process_that_was_asked_about_is_that_of_the_next_question(fathom: Pipeline) -> None:
    agent = Agent(fathom)
    agent.done("c1", "consultar_status_processo", args={"processo_referencia": "DMD.0001/26"})
    agent.say("qual o status do DMD.0001/26?")
    agent.say("e a DI?")
    found = agent.call("c2", "consultar_di_processo", 1)
    assert found.resolved_args == {"processo_referencia": "DMD.0001/26"}
    assert [each.event.depth_level for each in fathom.events(DEPTH_CLASSIFIED)][-1] == "D1"


@pytest.mark.covers("CF-52", "AC-52", "AC-53")
def test_what_the_user_just_named_comes_before_the_session(fathom: Pipeline) -> None:
    agent = Agent(fathom)
    agent.done("c1", "gerar_relatorio", report_id="rel_123")
    agent.say("filtre rel_456")
    found = agent.call("c2", "filtrar_relatorio", 1)
    assert found.resolved_args == {"report_id": "rel_456"}
    assert found.injections[0].source == "mention"
    assert agent.call("c3", "filtrar_relatorio", 1, report_id="rel_9").resolved_args == {"report_id": "rel_9"}


@pytest.mark.covers("AC-55", "CF-54")
def test_an_hour_by_the_events_own_time_ends_a_report(fathom: Pipeline) -> None:
    agent = Agent(fathom)
    agent.done("c1", "gerar_relatorio", report_id="rel_1")
    assert agent.call("c2", "filtrar_relatorio", 59).status == "resolved"
    found = agent.call("c3", "filtrar_relatorio", 61)
    assert (found.error, found.error_code) == (NO_REPORT, "contexto_expirado")


def confirm(agent: Agent, at: float = 1, **fields: Any) -> None:
    agent.send(TOOLS_CONFIRMATIONS_IN, at, **{"call_id": "c2", "approved": True, "usuario_id": "ana", **fields})


@pytest.fixture
def asked(fathom: Pipeline) -> Agent:
    agent = Agent(fathom)
    agent.done("c1", "consultar_status_processo", args={"processo_referencia": "DMD.0001/26"})
    found = agent.call("c2", "criar_duimp", ambiente=None)
    assert (found.status, found.resolved_args) == ("confirmation_required", None)
    assert found.preview is not None
    assert found.preview.args == {"processo_referencia": "DMD.0001/26", "ambiente": "Validacao"}
    return agent


@pytest.mark.covers("CF-53", "AC-54")
def test_a_sensitive_call_is_made_after_a_yes_as_it_was_shown(fathom: Pipeline, asked: Agent) -> None:
    # What the session learns meanwhile does not change what was shown.
    asked.done("c9", "consultar_status_processo", 1, args={"processo_referencia": "ALH.0002/26"})
    confirm(asked)
    [_, found] = asked.verdicts()
    assert (found.call_id, found.status) == ("c2", "resolved")
    assert found.resolved_args == {"processo_referencia": "DMD.0001/26", "ambiente": "Validacao"}
    assert [each.arg for each in found.injections] == ["processo_referencia", "ambiente"]


@pytest.mark.parametrize(
    ("fields", "at", "code"),
    [({"approved": False}, 1, "confirmacao_negada"), ({}, 16, "confirmacao_expirada")],
)
def test_a_no_and_a_late_yes_end_a_call(asked: Agent, fields: dict[str, Any], at: float, code: str) -> None:
    confirm(asked, at, **fields)
    found = asked.verdicts()[-1]
    assert (found.status, found.error_code, found.resolved_args) == ("error", code, None)


@pytest.mark.covers("CF-53")
def test_a_yes_of_another_user_tenant_or_of_nothing_is_a_dead_letter(fathom: Pipeline, asked: Agent) -> None:
    confirm(asked, usuario_id="bia")
    other_user = Agent(fathom, user="bia")
    confirm(other_user, usuario_id="bia")
    confirm(other_user, usuario_id="ana")
    confirm(Agent(fathom, tenant="beta"), usuario_id="ana")
    confirm(asked, call_id="c7")
    assert len(asked.verdicts()) == 1
    assert asked.letters() == ["confirmation_foreign"] * 3 + ["confirmation_unknown"] * 2


@pytest.mark.covers("CF-53")
def test_a_yes_counts_once(fathom: Pipeline, asked: Agent) -> None:
    confirm(asked, ce_id="yes-1")
    confirm(asked, 2, ce_id="yes-2")
    assert [each.status for each in asked.verdicts()] == ["confirmation_required", "resolved"]
    assert asked.letters() == ["confirmation_replayed"]


def test_the_same_call_gets_the_same_verdict_whatever_was_learned_since(fathom: Pipeline) -> None:
    agent = Agent(fathom)
    agent.done("c1", "gerar_relatorio", report_id="rel_1")
    first = agent.call("c2", "filtrar_relatorio", 1)
    agent.done("c3", "gerar_relatorio", 2, report_id="rel_2")
    assert agent.call("c2", "filtrar_relatorio", 3) == first


def test_a_result_that_comes_late_does_not_replace_a_newer_one(fathom: Pipeline) -> None:
    agent = Agent(fathom)
    agent.done("c2", "gerar_relatorio", 5, report_id="rel_new")
    agent.done("c1", "gerar_relatorio", 1, report_id="rel_old")
    assert agent.call("c3", "filtrar_relatorio", 6).resolved_args == {"report_id": "rel_new"}


@pytest.mark.covers("S4-43", "B22")
def test_every_verdict_is_audited_with_all_it_was_made_from(fathom: Pipeline) -> None:
    agent = Agent(fathom)
    agent.done("c1", "gerar_relatorio", report_id="rel_1")
    found = agent.call("c2", "filtrar_relatorio", 1)
    [audit] = [each.event for each in fathom.events(MEMORY_DECISIONS) if isinstance(each.event, AuditDecision)]
    assert (audit.kind, audit.subject_id, audit.actor) == ("tool", "c2", "tool-gate")
    assert audit.detail["verdict"] == found.model_dump(mode="json")
    assert audit.detail["session"]["active_report_id"]["call_id"] == "c1"
    assert (audit.detail["args"], audit.detail["now"]) == ({}, "2026-01-14T09:01:00+00:00")


class Written(MemoryToolSessions):
    """What is loaded was written and read, as in Redis."""

    async def load(self, conversation: Conversation) -> tuple[ToolSession, str]:
        session, version = await super().load(conversation)
        return ToolSession.model_validate_json(session.model_dump_json()), version


@pytest.mark.covers("B22", "CF-67")
def test_a_call_that_is_delivered_again_is_audited_with_the_same_bytes() -> None:
    with Pipeline(replace={"tool_sessions": Written()}, tools=CUSTOMS) as fathom:
        agent = Agent(fathom)
        agent.say("Filtra o relatório")
        agent.done("c1", "gerar_relatorio", report_id="rel_1")
        call = {"call_id": "c2", "nome_tool": "filtrar_relatorio", "args": {"limite": 1.0}}
        agent.send(TOOLS_CALLS_IN, 1, ce_id="asked", **call)
        agent.done("c3", "gerar_relatorio", 2, report_id="rel_2")
        agent.say("Agora outro")
        agent.send(TOOLS_CALLS_IN, 1, ce_id="asked", **call)
        audits = [r.value for r in fathom.log.of(MEMORY_DECISIONS.name) if b'"kind":"tool"' in r.value]
        assert len(audits) == 2
        assert len(set(audits)) == 1
        assert b'"Filtra o relat\xc3\xb3rio"' in audits[0]
        assert b'"rel_1"' in audits[0]


def test_a_call_that_its_agent_asks_again_is_audited_as_such(fathom: Pipeline) -> None:
    agent = Agent(fathom)
    agent.done("c1", "gerar_relatorio", report_id="rel_1")
    agent.call("c2", "filtrar_relatorio", 1)
    agent.call("c2", "filtrar_relatorio", 2)
    audits = [each.event for each in fathom.events(MEMORY_DECISIONS) if isinstance(each.event, AuditDecision)]
    assert len({audit.id for audit in audits}) == 2
    assert [audit.detail.get("repeated", False) for audit in audits] == [False, True]


class Away:
    """A store that does not answer."""

    async def load(self, _: Conversation) -> Any:
        raise Unavailable("working_set", "away")


@pytest.mark.covers("B22")
def test_of_a_session_that_cannot_be_read_nothing_is_allowed() -> None:
    with Pipeline(replace={"tool_sessions": Away()}, tool_wait_ms=0, tools=CUSTOMS) as fathom:
        found = Agent(fathom).call("c1", "filtrar_relatorio", report_id="rel_1")
        assert (found.status, found.error_code, found.resolved_args) == ("error", "indisponivel", None)


class AwayOnce(MemoryToolSessions):
    """A store that does not answer the first time."""

    away = True

    async def load(self, conversation: Conversation) -> tuple[ToolSession, str]:
        if self.away:
            self.away = False
            raise Unavailable("working_set", "away")
        return await super().load(conversation)


@pytest.mark.covers("B22")
@pytest.mark.parametrize("dies", [False, True], ids=["same worker", "next owner"])
def test_a_refused_call_stays_refused_when_it_is_delivered_again(dies: bool) -> None:
    """A user was told that nothing is executed; who asks again, with a record of its own, gets a verdict."""
    with Pipeline(replace={"tool_sessions": AwayOnce()}, tool_wait_ms=0, tools=CUSTOMS) as fathom:
        agent = Agent(fathom)
        call = {"call_id": "c1", "nome_tool": "filtrar_relatorio", "args": {"report_id": "rel_1"}}
        agent.send(TOOLS_CALLS_IN, ce_id="asked", **call)
        if dies:
            fathom.crash("tool-gate")
        for _ in range(2):
            agent.send(TOOLS_CALLS_IN, ce_id="asked", **call)
        agent.send(TOOLS_CALLS_IN, ce_id="asked-again", **call)
        events = fathom.events(TOOLS_CALLS_OUT)
        assert [each.event.status for each in events] == ["error", "error", "error", "resolved"]
        assert len({each.envelope.id for each in events[:3]}) == 1
        audits = [each.event.id for each in fathom.events(MEMORY_DECISIONS) if isinstance(each.event, AuditDecision)]
        assert (len(audits), len(set(audits))) == (4, 2)


@pytest.mark.covers("B22", "B28")
def test_a_refusal_of_another_tenants_call_of_the_same_id_refuses_nobody() -> None:
    with Pipeline(replace={"tool_sessions": AwayOnce()}, tool_wait_ms=0, tools=CUSTOMS) as fathom:
        for tenant in ("acme", "beta"):
            Agent(fathom, tenant=tenant).send(
                TOOLS_CALLS_IN, ce_id="asked", call_id="c1", nome_tool="filtrar_relatorio", args={"report_id": "rel_1"}
            )
        assert [each.event.status for each in fathom.events(TOOLS_CALLS_OUT)] == ["error", "resolved"]


def test_tenants_do_not_see_each_others_sessions(fathom: Pipeline) -> None:
    Agent(fathom, tenant="beta").done("c1", "gerar_relatorio", report_id="rel_beta")
    assert Agent(fathom).call("c2", "filtrar_relatorio", 1).error == NO_REPORT


@pytest.mark.parametrize(
    "value",
    [{"nome_tool": "x"}, {"call_id": "c", "nome_tool": ""}, {"call_id": "c", "nome_tool": "x", "args": []}],
)
def test_a_call_that_is_none_is_a_dead_letter_and_no_verdict(fathom: Pipeline, value: dict[str, Any]) -> None:
    agent = Agent(fathom)
    agent.send(TOOLS_CALLS_IN, **value)
    assert agent.verdicts() == []
    assert len(agent.letters()) == 1


def test_refusals_previews_and_answers_are_in_the_language_of_the_message(fathom: Pipeline) -> None:
    agent = Agent(fathom)
    agent.say("Please show me the section of the report that we saved yesterday")
    missing = agent.call("c1", "buscar_secao_relatorio_salvo", secao="resumo")
    assert missing.error == 'No report is active. Make a report first (for example: "what do we have today?")'
    assert missing.reply == missing.error
    unknown = agent.call("c3", "criar_duinp")
    assert unknown.error == "Unknown tool: criar_duinp. Did you mean criar_duimp?"
    agent.done("c4", "consultar_status_processo", args={"processo_referencia": "DMD.0001/26"})
    preview = agent.call("c2", "criar_duimp").preview
    assert preview is not None
    assert preview.text.startswith("Confirm criar_duimp with processo_referencia=DMD.0001/26 (from the session)")
    agent.say("Agora em português, por favor: quais processos temos hoje?")
    confirm(agent, approved=False)
    assert agent.verdicts()[-1].error == "criar_duimp was not confirmed and will not be executed."


@pytest.mark.covers("B22", "CF-67")
def test_a_no_that_is_delivered_again_is_answered_with_the_same_bytes() -> None:
    with Pipeline(replace={"tool_sessions": Written()}, tools=CUSTOMS) as fathom:
        agent = Agent(fathom)
        agent.say("Please register the process that we spoke about yesterday")
        agent.call("c2", "criar_duimp", processo_referencia="DMD.0001/26")
        no = {"call_id": "c2", "approved": False, "usuario_id": "ana"}
        agent.send(TOOLS_CONFIRMATIONS_IN, 1, ce_id="no", **no)
        agent.say("Agora em português, por favor: quais processos temos hoje?")
        agent.send(TOOLS_CONFIRMATIONS_IN, 1, ce_id="no", **no)
        answers = [r.value for r in fathom.log.of(TOOLS_CALLS_OUT.name) if b"confirmacao_negada" in r.value]
        assert len(answers) == 2
        assert len(set(answers)) == 1
        assert b"was not confirmed" in answers[0]


# --- where nothing tells the language -------------------------------------------------------------------------------


@pytest.fixture
def shop() -> Iterator[Pipeline]:
    with Pipeline(tool_wait_ms=0) as pipeline:
        yield pipeline


def asked_in(shop: Pipeline, locale: str | None, session: str = "s1", tool: str = "nosuchtool") -> ToolCallResolved:
    about = Conversation(tenant="acme", client_id="web", conversation_id=session)
    stated = {"tenant": "acme"} | ({} if locale is None else {"locale": locale})
    call = {"client_id": "web", "session_id": session, "call_id": f"c-{locale}", "nome_tool": tool, "args": {}}
    shop.publish(TOOLS_CALLS_IN, call, stated, about.key().encode())
    return [received.event for received in shop.events(TOOLS_CALLS_OUT)][-1]


@pytest.mark.parametrize(
    ("locale", "begins"),
    [
        (None, "Unknown tool"),
        ("en-GB", "Unknown tool"),
        ("pt-BR", "Ferramenta desconhecida"),
        ("PT", "Ferramenta desconhecida"),
        ("fr-FR", "Unknown tool"),
        ("C.UTF-8", "Unknown tool"),
    ],
)
def test_a_call_without_a_conversation_is_answered_in_its_language_else_in_english(
    shop: Pipeline, locale: str | None, begins: str
) -> None:
    assert str(asked_in(shop, locale).error).startswith(begins)


def test_the_conversation_tells_the_language_before_the_call(shop: Pipeline) -> None:
    Agent(shop).say("Onde está o meu pedido?")
    assert str(asked_in(shop, "en", tool="get_order").error).startswith("Nenhum pedido mencionado.")


def test_the_policy_tells_the_language_where_nothing_else_does(fathom: Pipeline) -> None:
    assert str(asked_in(fathom, None).error).startswith("Ferramenta desconhecida")
    assert str(asked_in(fathom, "en").error).startswith("Unknown tool")


@pytest.mark.parametrize(("locale", "begins"), [(None, "The session cannot be read"), ("pt", "A sessão não pode")])
def test_a_session_that_cannot_be_read_is_said_in_the_language_of_the_call(locale: str | None, begins: str) -> None:
    class Away(MemoryToolSessions):
        async def load(self, conversation: Conversation) -> tuple[ToolSession, int]:
            raise Unavailable("redis")

    with Pipeline(replace={"tool_sessions": Away()}, tool_wait_ms=0) as shop:
        assert str(asked_in(shop, locale).error).startswith(begins)
