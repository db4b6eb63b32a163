"""What became of each step of the script, and what the whole of it comes to."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from schemas.assessment import AssessmentMade
from schemas.depth import DepthClassified
from schemas.packs import ContextPack
from schemas.retrieval import PartFound, RetrievalPlan
from schemas.tools import ToolCallRequested, ToolCallResolved, ToolConfirmation
from streams.edges.cli.demo.script import Script, ScriptStep
from streams.stores.tokens import best_tokens

E = TypeVar("E")


@dataclass(slots=True)
class StepOutcome:
    """A step and what every stage wrote about it; `seconds` from sending to its answer being read."""

    step: ScriptStep
    events: list[Any] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def answer(self) -> ContextPack | ToolCallResolved | AssessmentMade | None:
        """The pack of a message, the verdict of a call or of a yes, the assessment of a query; None of a result."""
        return self.pack or self.last(ToolCallResolved) or self.last(AssessmentMade)

    @property
    def pack(self) -> ContextPack | None:
        return self.last(ContextPack)

    def last(self, kind: type[E]) -> E | None:
        """The newest event of a kind."""
        return next((event for event in reversed(self.events) if isinstance(event, kind)), None)

    @property
    def parts(self) -> list[PartFound]:
        return [event for event in self.events if isinstance(event, PartFound)]

    def complete(self) -> bool:
        """Whether the answer is there and, of a pack, everything that went into it."""
        pack = self.pack
        if pack is None:
            return self.answer is not None
        found = {part.memory_class for part in self.parts}
        return (
            self.last(DepthClassified) is not None
            and self.last(RetrievalPlan) is not None
            and found >= {report.memory_class for report in pack.parts if report.status != "missing"}
        )


class Totals:
    """Counts over what was played so far."""

    def __init__(self, script: Script) -> None:
        self._count = best_tokens().count
        self._documents = {tenant: sum(map(self._count, texts)) for tenant, texts in script.texts.items()}
        self._turns = script.turns
        self._messages: list[StepOutcome] = []
        self._acts: list[StepOutcome] = []
        self._everything = 0

    def add(self, outcome: StepOutcome) -> None:
        """One more step; a user's turn costs all turns so far and all documents, were everything sent."""
        step = outcome.step
        if not step.is_turn:
            self._acts.append(outcome)
            return
        self._messages.append(outcome)
        before = self._turns[: self._turns.index(step) + 1]
        talk = [turn.event.content for turn in before if turn.record.key == step.record.key]
        self._everything += self._documents.get(step.tenant, 0) + sum(map(self._count, talk))

    def summary(self, recorded: Mapping[str, int]) -> dict[str, Any]:
        """What the whole script came to, with what was recorded of it.

        `calls_confirmed` were resolved after a yes, the `calls_resolved` without one; `tokens_saved` as assessed.
        """
        packs = [outcome.pack for outcome in self._messages if outcome.pack is not None]
        trips = [outcome.seconds * 1000 for outcome in self._messages if outcome.pack is not None]
        verdicts = Counter(
            (type(each.step.event), each.answer.status)
            for each in self._acts
            if isinstance(each.answer, ToolCallResolved)
        )
        assessments = [each.answer for each in self._acts if isinstance(each.answer, AssessmentMade)]
        return {
            "messages": len(self._messages),
            "packs": len(packs),
            "degraded": sum(pack.degraded for pack in packs),
            "by_depth": dict(sorted(Counter(pack.depth_level.value for pack in packs).items())),
            "tokens": sum(pack.total_tokens_estimated for pack in packs),
            "tokens_everything": self._everything,
            "round_trip_p50_ms": quantile(trips, 0.5),
            "round_trip_p95_ms": quantile(trips, 0.95),
            "pack_p50_ms": quantile([pack.latency_ms for pack in packs], 0.5),
            "pack_p95_ms": quantile([pack.latency_ms for pack in packs], 0.95),
            "claims": recorded["claims"],
            "corrections": recorded["corrections"],
            "dead_letters": recorded["dead_letters"],
            "calls": sum(isinstance(each.step.event, ToolCallRequested) for each in self._acts),
            "calls_resolved": verdicts[ToolCallRequested, "resolved"],
            "calls_refused": verdicts[ToolCallRequested, "error"] + verdicts[ToolConfirmation, "error"],
            "calls_confirmed": verdicts[ToolConfirmation, "resolved"],
            "assessments": len(assessments),
            "retrievals_saved": sum(not made.needs_deep_context for made in assessments),
            "tokens_saved": sum(made.estimated_savings for made in assessments),
        }


def quantile(numbers: Iterable[float], share: float) -> float:
    """The number that `share` of them do not exceed, rounded to a tenth; 0 of none."""
    ordered = sorted(numbers)
    return round(ordered[min(int(len(ordered) * share), len(ordered) - 1)], 1) if ordered else 0.0
