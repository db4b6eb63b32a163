"""How the demo shows each message, its depth, plan, parts and pack; each call and its verdict; then the sum."""

import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import orjson
from rich.console import RenderableType

from schemas.assessment import AssessmentAsked
from schemas.depth import DepthClassified
from schemas.retrieval import PartFound, RetrievalPlan
from schemas.tools import ToolCallRequested, ToolCallResolved, ToolConfirmation, ToolResult
from streams.edges.cli.demo.report import Played, StepOutcome, Summary
from streams.edges.client.assess import lines
from streams.edges.client.console_output import console
from streams.edges.client.console_pack import line, pack_lines, signal_lines
from streams.edges.client.console_tools import given, verdict_lines

NEXT = (
    "fathom up                                  the same, in .fathom, until you press Ctrl-C",
    'fathom ask "Qual é o prazo do projeto?"    one question and its pack, from another terminal',
    "fathom send --document notes.md            remember a document of your own",
    "fathom tail context-packs.out --json       every pack as it is made",
    'fathom assess "Obrigada!"                  whether a query needs context at all; no server needed',
    "fathom tool call criar_duimp               a tool call and its verdict; read docs/tutorial-tools.md",
)

KINDS: dict[Any, str] = {
    ToolResult: "result",
    ToolCallRequested: "call",
    ToolConfirmation: "confirmation",
    AssessmentAsked: "assessment",
}
MAX_ITEMS = 5  # items of a section; `fathom ask` shows all of them


class Show:
    """stdout for what was found, stderr for what is going on."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._number = 0

    def note(self, text: str) -> None:
        """Something to know while waiting."""
        sys.stderr.write(f"{text}\n")

    def message(self, played: Played) -> None:
        """One message and its pack."""
        self._number += 1
        if self._as_json:
            print(orjson.dumps(_as_dict(played)).decode(), flush=True)
            return
        out = console()
        said = played.said
        out.print()
        out.rule(f"{self._number} · {said.user} of {said.tenant} · conversation {said.conversation}", align="left")
        out.print(line(0, said.text, "bold"))
        if played.classified is not None:
            self._depth(played.classified)
        if played.plan is not None:
            out.print(line(1, _plan(played.plan)))
        out.print(line(1, "parts " + ", ".join(_part(part) for part in played.parts)))
        if played.pack is not None:
            for renderable in pack_lines(played.pack, most=MAX_ITEMS):
                out.print(renderable)

    def act(self, decided: StepOutcome) -> None:
        """A tool's result, a call and its verdict, a confirmation and what it led to, or a query and its assessment."""
        if self._as_json:
            print(orjson.dumps(_act_as_dict(decided)).decode(), flush=True)
            return
        out = console()
        out.print()
        for renderable in act_lines(decided):
            out.print(renderable)

    def _depth(self, classified: DepthClassified) -> None:
        out = console()
        raised = f", raised from {classified.raised_from.value}" if classified.raised_from else ""
        frame = ", opens a new frame" if classified.frame_opened else ""
        level, confidence = classified.depth_level.value, classified.confidence
        out.print(line(1, f"depth {level}, confidence {confidence:.2f}{raised}{frame}", "green"))
        for renderable in signal_lines(classified.signals):
            out.print(renderable)

    def summary(self, summary: Summary) -> None:
        """The sum of all messages, and what to try next."""
        if self._as_json:
            print(orjson.dumps({"event": "summary", **asdict(summary)}).decode(), flush=True)
            return
        out = console()
        out.print()
        out.rule("summary", align="left")
        for text in _sums(summary):
            out.print(line(0, text))
        out.print()
        out.print(line(0, "next", "bold"))
        for command in NEXT:
            out.print(line(1, command))


def act_lines(decided: StepOutcome) -> Iterator[RenderableType]:
    """What was done and what came of it, as lines for a console."""
    acted, made = decided.acted, decided.made
    match acted.event:
        case ToolResult() as result:
            kept = {"report_id": result.report_id, **result.args, **result.valores}
            brought = given({name: value for name, value in kept.items() if value is not None})
            yield line(0, f"tool result {result.nome_tool} · {_whose(decided)}", "bold")
            yield line(1, f"call {result.call_id} brings {brought}")
        case ToolCallRequested() as call:
            yield line(0, f"tool call {call.nome_tool} · {_whose(decided)}", "bold")
            yield line(1, f"asked with {given(call.args)}")
        case ToolConfirmation() as answer:
            yield line(0, f"confirmation of {answer.call_id} · {_whose(decided)}", "bold")
            yield line(1, f"{answer.usuario_id} says {'yes' if answer.approved else 'no'}")
        case AssessmentAsked() as asked:
            yield line(0, f"assessment · {acted.user} of {acted.tenant}", "bold")
            yield line(1, f"“{asked.query}”")
    if isinstance(made, ToolCallResolved):
        yield from verdict_lines(made)
    elif made is not None:
        for text in lines(made):
            yield line(1, text, "" if text.startswith(" ") else "green")


def _whose(decided: StepOutcome) -> str:
    acted = decided.acted
    return f"{acted.user} of {acted.tenant} · conversation {acted.conversation}"


def _sums(summary: Summary) -> list[str]:
    depths = ", ".join(f"{level} {count}" for level, count in summary.by_depth.items())
    saved = 1 - summary.tokens / summary.tokens_everything if summary.tokens_everything else 0.0
    return [
        f"{summary.messages} messages, {summary.packs} packs ({depths}), {summary.degraded} degraded",
        f"{summary.tokens:,} tokens delivered; all turns and documents each time: {summary.tokens_everything:,} "
        f"({saved:.0%} less)",
        f"pack made in p50 {summary.pack_p50_ms:g} ms, p95 {summary.pack_p95_ms:g} ms; "
        f"from sending to reading p50 {summary.round_trip_p50_ms:g} ms, p95 {summary.round_trip_p95_ms:g} ms",
        f"{summary.claims} claims and {summary.corrections} corrections recorded, {summary.dead_letters} dead letters",
        f"{summary.calls} tool calls: {summary.calls_resolved} resolved, {summary.calls_refused} refused, "
        f"{summary.calls_confirmed} confirmed by the user first",
        f"{summary.assessments} assessments: {summary.retrievals_saved} retrievals saved, "
        f"{summary.tokens_saved:,} tokens saved",
    ]


def _plan(plan: RetrievalPlan) -> str:
    sources = ", ".join(
        f"{source.memory_class.value}/{source.selector}{'' if source.limit is None else f' ≤{source.limit}'}"
        for source in plan.sources
    )
    within = (plan.deadline_at - plan.accepted_at).total_seconds() * 1000
    return f"plan {plan.strategy}: {sources}; {plan.max_tokens} tokens, {within:.0f} ms"


def _part(part: PartFound) -> str:
    found = f" {len(part.items)} items {part.tokens} tokens" if part.items else ""
    return f"{part.memory_class.value} {part.status.value}{found}"


def _as_dict(played: Played) -> dict[str, object]:
    said = played.said
    return {
        "event": "message",
        "tenant": said.tenant,
        "user": said.user,
        "conversation": said.conversation,
        "message_id": said.record.name,
        "text": said.text,
        "round_trip_ms": round(played.seconds * 1000, 1),
        "depth": _dumped(played.classified),
        "plan": _dumped(played.plan),
        "parts": [_dumped(part) for part in played.parts],
        "pack": _dumped(played.pack),
    }


def _act_as_dict(decided: StepOutcome) -> dict[str, object]:
    acted = decided.acted
    return {
        "event": KINDS[type(acted.event)],
        "tenant": acted.tenant,
        "user": acted.user,
        "conversation": acted.conversation or None,
        "sent": _dumped(acted.event),
        "made": _dumped(decided.made),
        "round_trip_ms": round(decided.seconds * 1000, 1) if decided.made is not None else None,
    }


def _dumped(event: object) -> object:
    return event.model_dump(mode="json") if hasattr(event, "model_dump") else None
