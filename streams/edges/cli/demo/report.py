"""The outcome of each step of the script, and the totals."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from schemas.assessment import AssessmentMade
from schemas.base import Event
from schemas.depth import DepthClassified
from schemas.packs import ContextPack
from schemas.retrieval import PartFound, RetrievalPlan
from schemas.tools import ToolCallRequested, ToolCallResolved, ToolConfirmation
from streams.edges.cli.demo.script import Script, ScriptStep
from streams.stores.tokens import best_tokens

E = TypeVar("E")


@dataclass(slots=True)
class StepOutcome:
    """A step and all its events; `seconds` from sending it to reading its answer."""

    step: ScriptStep
    events: list[Event] = field(default_factory=list)
    seconds: float = 0.0

    def last(self, kind: type[E]) -> E | None:
        """The newest event of a kind."""
        return next((event for event in reversed(self.events) if isinstance(event, kind)), None)

    @property
    def answer(self) -> ContextPack | ToolCallResolved | AssessmentMade | None:
        """The pack of a message, the verdict of a call or confirmation, the assessment of a query; None for results."""
        return self.last(ContextPack) or self.last(ToolCallResolved) or self.last(AssessmentMade)

    @property
    def parts(self) -> list[PartFound]:
        return [event for event in self.events if isinstance(event, PartFound)]

    def complete(self) -> bool:
        """Whether the answer is there and, for a pack, all events that led to it."""
        pack = self.last(ContextPack)
        if pack is None or not (self.last(DepthClassified) and self.last(RetrievalPlan)):
            return not self.step.is_turn and self.answer is not None
        asked = {report.memory_class for report in pack.parts if report.status != "missing"}
        return {part.memory_class for part in self.parts} >= asked


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
