"""Output of the demo: each message with depth, plan, parts and pack; each call with its verdict; then the totals."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import RenderableType

from schemas.assessment import AssessmentAsked, AssessmentMade
from schemas.base import Event, JsonObject
from schemas.chat import ChatMessage
from schemas.depth import DepthClassified
from schemas.packs import ContextPack
from schemas.retrieval import PartFound, RetrievalPlan
from schemas.tools import ToolCallRequested, ToolCallResolved, ToolConfirmation, ToolResult
from streams.edges.cli.demo.play import StepOutcome
from streams.edges.cli.demo.script import Script, ScriptStep
from streams.edges.client.console_output import console
from streams.edges.client.console_pack import line, pack_lines, signal_lines
from streams.edges.client.console_tools import assessment_lines, given, verdict_lines
from streams.edges.client.shell import fathom_command
from streams.edges.client.standard_output import print_json
from streams.stores.tokens import best_tokens

NEXT = (
    ("up", "the same, in .fathom, until you press Ctrl-C"),
    ('ask "Qual é o prazo do projeto?"', "one question and its pack, from another terminal"),
    ("send --document notes.md", "remember a document of your own"),
    ("tail context-packs.out --json", "every pack as it is made"),
    ('assess "Obrigada!"', "whether a query needs context at all; no server needed"),
    ("tool call refund_order", "a tool call and its verdict; read docs/tutorial-tools.md"),
)
KINDS: dict[type[Event], str] = {
    ChatMessage: "message",
    ToolResult: "result",
    ToolCallRequested: "call",
    ToolConfirmation: "confirmation",
    AssessmentAsked: "assessment",
}

MAX_ITEMS = 5  # items per section; `fathom ask` shows all of them


def show_step(outcome: StepOutcome, number: int, *, as_json: bool) -> None:
    """Print a message with its number and its pack, or an agent's or user's action and its result."""
    if as_json:
        print_json(as_dict(outcome))
        return
    out = console()
    out.print()
    if outcome.step.is_turn:
        out.rule(f"{number} · {_whose(outcome.step)}", align="left")
    for renderable in message_lines(outcome) if outcome.step.is_turn else act_lines(outcome):
        out.print(renderable)


def show_sum(summary: Mapping[str, object], *, as_json: bool) -> None:
    """Print the totals of all messages, and what to try next."""
    if as_json:
        print_json({"event": "summary", **summary})
        return
    out = console()
    out.print()
    out.rule("summary", align="left")
    for text in _sums(summary):
        out.print(line(0, text))
    out.print()
    out.print(line(0, "next", "bold"))
    for command, why in NEXT:
        out.print(line(1, f"{f'{fathom_command()} {command}':<54} {why}"))


def message_lines(outcome: StepOutcome) -> Iterator[RenderableType]:
    """A message, its depth, its plan, its parts and its pack, as lines for a console."""
    yield line(0, outcome.step.event.content, "bold")
    if classified := outcome.last(DepthClassified):
        raised = f", raised from {classified.raised_from.value}" if classified.raised_from else ""
        frame = ", opens a new frame" if classified.frame_opened else ""
        level, confidence = classified.depth_level.value, classified.confidence
        yield line(1, f"depth {level}, confidence {confidence:.2f}{raised}{frame}", "green")
        yield from signal_lines(classified.signals)
    if plan := outcome.last(RetrievalPlan):
        yield line(1, _plan(plan))
    yield line(1, "parts " + ", ".join(_part(part) for part in outcome.parts))
    if isinstance(outcome.answer, ContextPack):
        yield from pack_lines(outcome.answer, most=MAX_ITEMS)


def act_lines(outcome: StepOutcome) -> Iterator[RenderableType]:
    """An action and its result, as lines for a console."""
    title, text = _act(outcome.step.event)
    yield line(0, f"{title} · {_whose(outcome.step)}", "bold")
    yield line(1, text)
    if isinstance(outcome.answer, ToolCallResolved):
        yield from verdict_lines(outcome.answer)
    elif isinstance(outcome.answer, AssessmentMade):
        for text in assessment_lines(outcome.answer):
            yield line(1, text, "" if text.startswith(" ") else "green")


def _act(event: Event) -> tuple[str, str]:
    """The heading of an action, and what it says."""
    match event:
        case ToolResult():
            kept = {"report_id": event.report_id, **event.args, **event.values}
            brought = given({name: value for name, value in kept.items() if value is not None})
            return f"tool result {event.tool_name}", f"call {event.call_id} brings {brought}"
        case ToolCallRequested():
            return f"tool call {event.tool_name}", f"asked with {given(event.args)}"
        case ToolConfirmation():
            said = "yes" if event.approved else "no"
            return f"confirmation of {event.call_id}", f"{event.user_id} says {said}"
        case AssessmentAsked():
            return "assessment", f"“{event.query}”"
    raise TypeError(f"{type(event).__name__} is no action")


def _whose(step: ScriptStep) -> str:
    within = f" · conversation {step.conversation}" if step.conversation else ""
    return f"{step.user} of {step.tenant}{within}"


def _sums(found: JsonObject) -> list[str]:
    depths = ", ".join(f"{level} {count}" for level, count in found["by_depth"].items())
    saved = 1 - found["tokens"] / found["tokens_everything"] if found["tokens_everything"] else 0.0
    texts = (
        "{messages} messages, {packs} packs ({depths}), {degraded} degraded",
        "{tokens:,} tokens delivered; all turns and documents each time: {tokens_everything:,} ({saved:.0%} less)",
        "pack made in p50 {pack_p50_ms:g} ms, p95 {pack_p95_ms:g} ms; "
        "from sending to reading p50 {round_trip_p50_ms:g} ms, p95 {round_trip_p95_ms:g} ms",
        "{claims} claims and {corrections} corrections recorded, {dead_letters} dead letters",
        "{calls} tool calls: {calls_resolved} resolved, {calls_refused} refused, "
        "{calls_confirmed} confirmed by the user first",
        "{assessments} assessments: {retrievals_saved} retrievals saved, {tokens_saved:,} tokens saved",
    )
    return [text.format(depths=depths, saved=saved, **found) for text in texts]


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


def as_dict(outcome: StepOutcome) -> dict[str, object]:
    """A step as one object: for a message all events that led to its pack, else the record and its result."""
    step, trip = outcome.step, round(outcome.seconds * 1000, 1)
    shown = {
        "event": KINDS[type(step.event)],
        "tenant": step.tenant,
        "user": step.user,
        "conversation": step.conversation or None,
    }
    if not step.is_turn:
        trip_ms = None if outcome.answer is None else trip
        return {**shown, "sent": step.event, "made": outcome.answer, "round_trip_ms": trip_ms}
    return {
        **shown,
        "message_id": step.record.name,
        "text": step.event.content,
        "round_trip_ms": trip,
        "depth": outcome.last(DepthClassified),
        "plan": outcome.last(RetrievalPlan),
        "parts": outcome.parts,
        "pack": outcome.answer,
    }


def summed(script: Script, outcomes: Sequence[StepOutcome], recorded: Mapping[str, int]) -> dict[str, object]:
    """The totals of the whole script, with the recorded numbers.

    `calls_confirmed` were resolved after a confirmation, `calls_resolved` without one; `tokens_saved` as assessed.
    """
    messages = [each for each in outcomes if each.step.is_turn]
    packs = [each.answer for each in messages if isinstance(each.answer, ContextPack)]
    trips = [each.seconds * 1000 for each in messages if each.answer is not None]
    times = [pack.latency_ms for pack in packs]
    calls = Counter(
        (type(each.step.event), each.answer.status) for each in outcomes if isinstance(each.answer, ToolCallResolved)
    )
    assessments = [each.answer for each in outcomes if isinstance(each.answer, AssessmentMade)]
    return {
        "messages": len(messages),
        "packs": len(packs),
        "degraded": sum(pack.degraded for pack in packs),
        "by_depth": dict(sorted(Counter(pack.depth_level.value for pack in packs).items())),
        "tokens": sum(pack.total_tokens_estimated for pack in packs),
        "tokens_everything": _tokens_of_everything(script, messages),
        "round_trip_p50_ms": quantile(trips, 0.5),
        "round_trip_p95_ms": quantile(trips, 0.95),
        "pack_p50_ms": quantile(times, 0.5),
        "pack_p95_ms": quantile(times, 0.95),
        **{name: recorded[name] for name in ("claims", "corrections", "dead_letters")},
        "calls": sum(isinstance(each.step.event, ToolCallRequested) for each in outcomes),
        "calls_resolved": calls[ToolCallRequested, "resolved"],
        "calls_refused": calls[ToolCallRequested, "error"] + calls[ToolConfirmation, "error"],
        "calls_confirmed": calls[ToolConfirmation, "resolved"],
        "assessments": len(assessments),
        "retrievals_saved": sum(not made.needs_deep_context for made in assessments),
        "tokens_saved": sum(made.estimated_savings for made in assessments),
    }


def _tokens_of_everything(script: Script, messages: Iterable[StepOutcome]) -> int:
    """The tokens of sending with each message its whole conversation so far and all documents."""
    count = best_tokens().count
    documents = {tenant: sum(map(count, texts)) for tenant, texts in script.texts.items()}
    talks: Counter[bytes] = Counter()
    until: dict[str, int] = {}
    for turn in script.turns:
        talks[turn.record.key] += count(turn.event.content)
        until[turn.record.name] = talks[turn.record.key]
    return sum(documents.get(each.step.tenant, 0) + until[each.step.record.name] for each in messages)


def quantile(numbers: Iterable[float], share: float) -> float:
    """The quantile at `share`, rounded to a tenth; 0 without numbers."""
    ordered = sorted(numbers)
    return round(ordered[min(int(len(ordered) * share), len(ordered) - 1)], 1) if ordered else 0.0
