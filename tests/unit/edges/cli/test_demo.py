"""The demo's script beside its turns, how what agents do is shown, and what the sum counts."""

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.console import Console

from agents.core.assessment import context_needs
from schemas import codec
from schemas.assessment import AssessmentAsked, AssessmentMade
from schemas.tools import Injection, Preview, ToolCallRequested, ToolCallResolved, ToolConfirmation, ToolResult
from schemas.topics import BY_NAME
from streams.edges.cli.demo.play import StepOutcome
from streams.edges.cli.demo.script import Script, ScriptStep, load
from streams.edges.cli.demo.show import act_lines, show_step, show_sum, summed
from streams.edges.client.records import OutgoingRecord

WHOSE = {"call_id": "c2", "client_id": "painel", "session_id": "s1"}
RECORD = OutgoingRecord("tools.calls.in", b"", b"", [], "c2")
NOBODY = dict.fromkeys(("claims", "corrections", "dead_letters"), 0)
CALL = ToolCallRequested(**WHOSE, tool_name="buscar", args={"categoria": "DMD"})
YES = ToolConfirmation(**WHOSE, approved=True, user_id="maria")


def decided(event: Any, made: Any = None) -> StepOutcome:
    conversation = "" if isinstance(event, AssessmentAsked) else "s1"
    step = ScriptStep("despachos", "maria", conversation, event, RECORD)
    return StepOutcome(step, [] if made is None else [made], 0.012)


def verdict(status: str, **fields: Any) -> ToolCallResolved:
    return ToolCallResolved(**WHOSE, tool_name="buscar", status=status, **fields)


RESOLVED = verdict(
    "resolved",
    resolved_args={"categoria": "DMD", "report_id": "rel_1"},
    injections=(Injection(arg="report_id", value="rel_1", source="session", evidence="c1", age_seconds=1.5),),
)
REFUSED = verdict("error", error="Nenhum relatório ativo.", error_code="contexto_ausente", succeeded=False)
PREVIEW = verdict(
    "confirmation_required",
    preview=Preview(text="Confirma buscar?", args={}, expires_at=datetime(2026, 1, 14, 13, 17, tzinfo=UTC)),
)


def assessed(query: str) -> StepOutcome:
    made = context_needs.assess(query, None, ())
    answer = AssessmentMade(**made.model_dump(), request_id="c2", classifier="heuristic", latency_ms=0.3)
    return decided(AssessmentAsked(request_id="c2", query=query), answer)


def shown(what: StepOutcome) -> list[str]:
    out = Console(file=io.StringIO(), width=200)
    for renderable in act_lines(what):
        out.print(renderable)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue().splitlines()


def acts(script: Script) -> list[ScriptStep]:
    return [step for step in script.steps if not step.is_turn]


# --- the script -----------------------------------------------------------------------------------------------------


def test_every_act_of_the_script_can_be_sent_as_it_is_by_whom_and_where_it_says():
    for act in acts(load(fresh=True)):
        record = act.record
        read = codec.decode(
            BY_NAME[record.topic], record.key, record.value, record.headers, partition=0, offset=7, timestamp=1
        )
        assert read.event == act.event
        assert (read.envelope.tenant, read.envelope.user_id) == (act.tenant, act.user)
        key = [act.tenant, act.conversation and "painel", act.conversation or record.name]
        assert record.key.decode() == "|".join(part for part in key if part)


def test_the_acts_of_a_conversation_are_in_a_conversation_that_has_turns():
    script = load(fresh=True)
    keys = {turn.record.key for turn in script.turns}
    assert {act.record.key for act in acts(script) if act.conversation} <= keys


def test_every_call_comes_behind_the_user_message_that_it_belongs_to():
    latest: dict[bytes, ScriptStep] = {}
    calls = 0
    for step in load(fresh=True).steps:
        if step.is_turn and step.event.role == "user":
            latest[step.record.key] = step
        elif isinstance(step.event, ToolCallRequested):
            calls += 1
            assert step.event.message_id in (None, latest[step.record.key].record.name)
    assert calls == 4


# --- how it is shown ------------------------------------------------------------------------------------------------


def test_a_call_is_shown_with_its_verdict_and_where_the_value_came_from():
    assert shown(decided(CALL, RESOLVED)) == [
        "tool call buscar · maria of despachos · conversation s1",
        "  asked with categoria=DMD",
        "  resolved: categoria=DMD, report_id=rel_1",
        "    report_id=rel_1 from the session, set by call c1, 1.5 s old",
    ]


def test_a_refused_call_is_shown_with_the_sentence_for_the_user():
    assert shown(decided(CALL, REFUSED))[-1] == "  refused: Nenhum relatório ativo. (context_missing)"


def test_a_confirmation_is_shown_with_who_said_what_and_what_it_led_to():
    assert shown(decided(CALL, PREVIEW))[-1] == "  to be confirmed until 13:17:00Z: Confirma buscar?"
    assert shown(decided(YES, RESOLVED))[:3] == [
        "confirmation of c2 · maria of despachos · conversation s1",
        "  maria says yes",
        "  resolved: categoria=DMD, report_id=rel_1",
    ]
    assert shown(decided(YES.model_copy(update={"approved": False}), REFUSED))[1] == "  maria says no"


def test_a_result_is_shown_with_what_the_session_keeps_of_it():
    result = ToolResult(**WHOSE, tool_name="gerar", succeeded=True, report_id="rel_1", args={"dia": "hoje"})
    assert shown(decided(result)) == [
        "tool result gerar · maria of despachos · conversation s1",
        "  call c2 brings report_id=rel_1, dia=hoje",
    ]


def test_an_assessment_is_shown_with_what_to_do_and_what_that_saves():
    assert shown(assessed("Olá!"))[:4] == [
        "assessment · maria of despachos",
        "  “Olá!”",
        "  greeting: needs no deep context (confidence 0.97, depth D0)",
        "    The query is a courtesy; nothing is asked that context would answer; a look-up could take 1000 ms.",
    ]
    assert "    do    respond_directly (tier minimal, saves 500 tokens)" in shown(assessed("Olá!"))
    assert "    do    deep_retrieval (tier deep)" in shown(assessed("How should I structure the repository layer?"))


@pytest.mark.parametrize(
    ("what", "kind", "conversation"),
    [
        (decided(CALL, RESOLVED), "call", "s1"),
        (decided(YES, RESOLVED), "confirmation", "s1"),
        (decided(ToolResult(**WHOSE, tool_name="gerar", succeeded=True)), "result", "s1"),
        (assessed("Olá!"), "assessment", None),
    ],
)
def test_as_json_each_is_one_object_with_what_was_sent_and_what_was_made(
    capsys: pytest.CaptureFixture[str], what: StepOutcome, kind: str, conversation: str | None
):
    show_step(what, 1, as_json=True)
    line = json.loads(capsys.readouterr().out)
    assert (line["event"], line["conversation"]) == (kind, conversation)
    assert line["sent"] == json.loads(codec.dump(what.step.event))
    assert line["made"] == (None if what.answer is None else json.loads(codec.dump(what.answer)))
    assert line["round_trip_ms"] == (None if what.answer is None else 12.0)


# --- what it comes to -----------------------------------------------------------------------------------------------


def test_the_sum_counts_calls_by_what_became_of_them_and_what_assessments_save(capsys: pytest.CaptureFixture[str]):
    denied = verdict("error", error="Não.", error_code="confirmacao_negada")
    result = decided(ToolResult(**WHOSE, tool_name="gerar", succeeded=True))
    calls = [decided(CALL, made) for made in (RESOLVED, RESOLVED, REFUSED, PREVIEW, PREVIEW)]
    answers = [decided(YES, RESOLVED), decided(YES, denied)]
    deep, light = assessed("How should I structure the repository layer?"), assessed("Olá!")
    summary = summed(Script((), (), {}), (result, *calls, *answers, deep, light, light), NOBODY)
    assert [summary[name] for name in ("calls", "calls_resolved", "calls_refused", "calls_confirmed")] == [5, 2, 2, 1]
    assert [summary[name] for name in ("assessments", "retrievals_saved", "tokens_saved")] == [3, 2, 1000]
    show_sum(summary, as_json=False)
    said = capsys.readouterr().out
    assert "5 tool calls: 2 resolved, 2 refused, 1 confirmed by the user first\n" in said
    assert "3 assessments: 2 retrievals saved, 1,000 tokens saved\n" in said
    assert "fathom assess " in said
    assert "docs/tutorial-tools.md" in said
