"""Redis loses the tool sessions: what the log has of them is read back before anything is decided."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from agents.core.tools.session import folded, span
from agents.errors import Unavailable
from schemas.base import Conversation
from schemas.tool_session import ToolSession
from schemas.topics import TOOLS_CALLS_IN, TOOLS_CALLS_OUT, TOOLS_CONFIRMATIONS_IN, TOOLS_RESULTS_IN
from streams.kafka.producer import partition_of
from streams.replay.restore import Restoration
from streams.replay.selection import Selection
from streams.stores.sessions.tool_sessions import MemoryToolSessions
from streams.testing.log import MemoryToolLog, decoded
from streams.testing.pipeline import Pipeline
from streams.views import tool_log
from tests.builders.customs import CUSTOMS
from tests.unit.stages.test_tool_gate import NO_REPORT, START, Agent, confirm

POLICY = CUSTOMS


def made_report(agent: Agent) -> None:
    agent.done("c1", "gerar_relatorio", report_id="rel_1")


def filtered(agent: Agent) -> None:
    agent.call("c2", "filtrar_relatorio", 1)


def consulted(agent: Agent) -> None:
    agent.done("c3", "consultar_status_processo", 2, args={"processo_referencia": "DMD.0001/26"})


def asked(agent: Agent) -> None:
    agent.call("c4", "criar_duimp", 3)


def approved(agent: Agent) -> None:
    confirm(agent, 4, call_id="c4", ce_id="yes-1")


def approved_again(agent: Agent) -> None:
    confirm(agent, 5, call_id="c4", ce_id="yes-2")


def asked_again(agent: Agent) -> None:
    agent.call("c4", "criar_duimp", 6)


def late_result(agent: Agent) -> None:
    agent.done("c0", "gerar_relatorio", -1, report_id="rel_old")


def filtered_again(agent: Agent) -> None:
    agent.call("c5", "filtrar_relatorio", 7)


def invalid(agent: Agent) -> None:
    agent.send(TOOLS_RESULTS_IN, 8, call_id="c6", nome_tool="x", sucesso=True, report_id="rel_1", report_valid=False)


def filtered_in_vain(agent: Agent) -> None:
    agent.call("c7", "filtrar_relatorio", 9)


STORY: Sequence[Callable[[Agent], None]] = (
    made_report, filtered, consulted, asked, approved, approved_again, asked_again, late_result, filtered_again,
    invalid, filtered_in_vain,
)  # fmt: skip


def told(lost_before: frozenset[int], *, restarted: bool = False) -> tuple[list[Any], list[str]]:
    with Pipeline(tool_wait_ms=0, tools=CUSTOMS) as fathom:
        agent = Agent(fathom)
        for number, step in enumerate(STORY):
            if number in lost_before:
                fathom.tool_sessions.clear()
                if restarted:
                    fathom.tool_view.on_revoked()
            step(agent)
        return agent.verdicts(), agent.letters()


WHOLE = told(frozenset())


def test_the_story_is_one() -> None:
    verdicts, letters = WHOLE
    assert [(each.call_id, each.status) for each in verdicts] == [
        ("c2", "resolved"), ("c4", "confirmation_required"), ("c4", "resolved"), ("c4", "confirmation_required"),
        ("c5", "resolved"), ("c7", "error"),
    ]  # fmt: skip
    assert letters == ["confirmation_replayed"]


@pytest.mark.covers("CF-85", "S4-41")
@pytest.mark.parametrize("lost", [*({number} for number in range(1, len(STORY))), set(range(len(STORY)))])
@pytest.mark.parametrize("restarted", [False, True])
def test_whenever_redis_is_emptied_the_verdicts_are_the_same(lost: set[int], restarted: bool) -> None:
    assert told(frozenset(lost), restarted=restarted) == WHOLE


def test_a_yes_of_before_is_not_taken_again_nor_one_of_another_user() -> None:
    with Pipeline(tool_wait_ms=0, tools=CUSTOMS) as fathom:
        agent = Agent(fathom)
        consulted(agent)
        asked(agent)
        fathom.tool_view.on_revoked()
        fathom.tool_sessions.clear()
        confirm(Agent(fathom, user="bia"), 4, call_id="c4", usuario_id="bia")
        fathom.tool_sessions.clear()
        approved(agent)
        fathom.tool_sessions.clear()
        approved_again(agent)
        assert [each.status for each in agent.verdicts()] == ["confirmation_required", "resolved"]
        assert agent.letters() == ["confirmation_foreign", "confirmation_replayed"]


def test_whose_a_call_was_that_named_nobody_is_known_after_the_loss() -> None:
    with Pipeline(tool_wait_ms=0, tools=CUSTOMS) as fathom:
        agent = Agent(fathom)
        message = fathom.say("crie a duimp do DMD.0001/26", conversation="s1", headers={"user_id": "ana"})
        fathom.publish(
            TOOLS_CALLS_IN,
            {
                "client_id": "web",
                "session_id": "s1",
                "call_id": "c4",
                "nome_tool": "criar_duimp",
                "message_id": message,
            },
            {"tenant": "acme", "ce_id": "call-of-nobody", "ce_time": START.isoformat()},
            agent.about.key().encode(),
        )
        [asked] = agent.verdicts()
        assert asked.preview is not None
        assert asked.preview.user_id == "ana"
        fathom.tool_view.on_revoked()
        fathom.tool_sessions.clear()
        confirm(Agent(fathom, user="bia"), 4, call_id="c4", usuario_id="bia")
        fathom.tool_sessions.clear()
        approved(agent)
        assert [each.status for each in agent.verdicts()] == ["confirmation_required", "resolved"]
        assert agent.letters() == ["confirmation_foreign"]


def test_a_yes_whose_verdict_never_left_counts_as_taken() -> None:
    """It was in the log before it was taken; the store that knew of it was emptied before the verdict was out."""
    with Pipeline(tool_wait_ms=0, tools=CUSTOMS) as fathom:
        agent = Agent(fathom)
        consulted(agent)
        asked(agent)
        approved(agent)
        records = [*map(decoded, chosen(fathom, TOOLS_CALLS_OUT.name)[:1])]
        records += map(decoded, chosen(fathom, TOOLS_CONFIRMATIONS_IN.name))
        assert folded(ToolSession(), records, POLICY).waiting["c4"].taken == "yes-1"
        # Without the yes in what is read, its verdict is no verdict on the call.
        without = [*map(decoded, chosen(fathom, TOOLS_CALLS_OUT.name)[1:])]
        assert folded(ToolSession(), without, POLICY).verdicts == {}


def chosen(fathom: Pipeline, topic: str) -> list[Any]:
    return fathom.log.of(topic)


def test_a_log_read_twice_or_over_what_is_there_changes_nothing() -> None:
    with Pipeline(tool_wait_ms=0, tools=CUSTOMS) as fathom:
        agent = Agent(fathom)
        for step in STORY:
            step(agent)
        records = [decoded(each) for topic in tool_log.TOPICS for each in fathom.log.of(topic)]
        [[kept, _]] = fathom.tool_sessions._sessions.values()
        once = folded(ToolSession(), records, POLICY)
        assert (once.verdicts, once.waiting, once.values) == (kept.verdicts, kept.waiting, kept.values)
        assert folded(once, records, POLICY) == once
        assert folded(kept, records, POLICY) == kept


def test_what_was_decided_and_is_not_in_the_log_yet_is_known() -> None:
    with Pipeline(tool_wait_ms=0, tools=CUSTOMS) as fathom:
        agent = Agent(fathom)
        made_report(agent)
        filtered(agent)
        whole = fathom.tool_log._of
        fathom.tool_log._of = lambda topic: [] if topic == TOOLS_CALLS_OUT.name else whole(topic)
        fathom.tool_sessions.clear()
        agent.done("c8", "gerar_relatorio", 2, report_id="rel_2")
        assert agent.call("c2", "filtrar_relatorio", 3).resolved_args == {"report_id": "rel_1"}


def test_the_log_is_read_once_per_loss_and_a_new_conversation_costs_no_reading() -> None:
    with Pipeline(tool_wait_ms=0, tools=CUSTOMS, partitions=1) as fathom:
        agent = Agent(fathom)
        made_report(agent)
        for number in range(5):
            Agent(fathom, tenant=f"t{number}").call("c1", "filtrar_relatorio", report_id="rel_1")
        assert fathom.tool_log.reads == 1
        fathom.tool_sessions.clear()
        filtered(agent)
        assert fathom.tool_log.reads == 2


def test_while_the_log_cannot_be_read_nothing_is_allowed() -> None:
    with Pipeline(tool_wait_ms=0, tools=CUSTOMS) as fathom:
        agent = Agent(fathom)
        made_report(agent)
        fathom.tool_sessions.clear()

        def away(_: str) -> Any:
            raise Unavailable("tool log", "no broker")

        whole, fathom.tool_log._of = fathom.tool_log._of, away
        assert agent.call("c2", "filtrar_relatorio", 1, report_id="rel_1").error_code == "indisponivel"
        fathom.tool_log._of = whole
        # The refusal said nothing of the call: asked again it is judged.
        fathom.tool_sessions.clear()
        assert agent.call("c2", "filtrar_relatorio", 2).resolved_args == {"report_id": "rel_1"}


def test_only_so_much_is_read_back_as_still_counts() -> None:
    assert span(POLICY) == timedelta(hours=1)
    with Pipeline(tool_wait_ms=0, tools=CUSTOMS, partitions=1) as fathom:
        agent = Agent(fathom)
        made_report(agent)
        fathom.clock.advance(3 * 3600)
        agent.done("c9", "consultar_status_processo", 180, args={"processo_referencia": "DMD.0001/26"})
        found = asyncio.run(anext(MemoryToolLog(fathom.log.of).read({0}, span(POLICY))))
        assert [each.event.call_id for each in found[0]] == ["c9"]
        assert agent.call("c2", "filtrar_relatorio", 181).error == NO_REPORT


def test_a_stage_that_is_hours_behind_gets_what_was_new_then() -> None:
    with Pipeline(tool_wait_ms=0, tools=CUSTOMS, partitions=1) as fathom:
        agent = Agent(fathom)
        fathom.clock.at = fathom.clock.at.replace(year=2026, month=1, day=14, hour=9, minute=0)
        made_report(agent)
        fathom.clock.advance(5 * 3600)
        filtered(agent)  # now, on a call of five hours ago
        found = asyncio.run(anext(MemoryToolLog(fathom.log.of).read({0}, span(POLICY))))
        assert {each.event.call_id for each in found[0]} == {"c1", "c2"}


@pytest.mark.parametrize(
    ("selection", "sessions"),
    [(Selection(), 2), (Selection(tenant="beta"), 1), (Selection(conversation="s9"), 0)],
)
def test_a_rebuild_fills_the_sessions_that_are_selected(selection: Selection, sessions: int) -> None:
    with Pipeline(tool_wait_ms=0, tools=CUSTOMS) as fathom:
        for tenant in ("acme", "beta"):
            made_report(Agent(fathom, tenant=tenant))
        store, partitions = MemoryToolSessions(), 3
        # As our producer would have placed them.
        found = {number: [] for number in range(partitions)}
        for record in map(decoded, fathom.log.of(TOOLS_RESULTS_IN.name)):
            found[partition_of(record.key, partitions)].append(record)
        seen: list[str] = []
        log = Fixed(found)

        async def story() -> Any:
            first = Restoration(partitions, selection, lambda _, what: seen.append(what))
            changed = await first.tool_sessions(store, log, POLICY)
            whole = partitions - len(await store.incomplete_partitions(range(partitions)))
            second = Restoration(partitions, selection, lambda _, what: None)
            again = await second.tool_sessions(store, log, POLICY)
            values = []
            if selection.whole:
                for tenant in ("acme", "beta"):
                    about = Conversation(tenant=tenant, client_id="web", conversation_id="s1")
                    session, _ = await store.load(about)
                    values.append(session.values["active_report_id"].value)
            return changed, whole, again, values

        changed, whole, again, values = asyncio.run(story())
        # A part of the log makes no partition whole.
        assert (changed, whole, again) == (sessions, partitions if selection.whole else 0, 0)
        assert values == (["rel_1", "rel_1"] if selection.whole else [])
        assert len(seen) == partitions


class Fixed:
    """A log that has been read already."""

    def __init__(self, found: dict[int, list[Any]]) -> None:
        self._found = found

    async def read(self, partitions: Any, _: Any) -> Any:
        yield {number: self._found[number] for number in partitions}


@pytest.mark.covers("CF-85")
def test_a_no_after_redis_was_emptied_is_answered_in_the_language_of_the_preview() -> None:
    with Pipeline(tool_wait_ms=0, tools=CUSTOMS) as fathom:
        agent = Agent(fathom)
        agent.say("Please register the process that we spoke about yesterday")
        agent.call("c4", "criar_duimp", processo_referencia="DMD.0001/26")
        agent.say("Agora em português, por favor: quais processos temos hoje?")
        fathom.tool_view.on_revoked()
        fathom.tool_sessions.clear()
        confirm(agent, 1, call_id="c4", approved=False)
        assert agent.verdicts()[-1].error == "criar_duimp was not confirmed and will not be executed."
