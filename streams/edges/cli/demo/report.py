"""What became of each step of the script, and what the whole of it comes to."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from schemas.assessment import AssessmentMade
from schemas.depth import DepthClassified
from schemas.packs import ContextPack
from schemas.retrieval import PartFound, RetrievalPlan
from schemas.tools import ToolCallRequested, ToolCallResolved, ToolConfirmation
from streams.edges.cli.demo.script import Script, ScriptTurn, ToolStep


@dataclass(slots=True)
class Played:
    """One message and what every stage wrote about it; `seconds` from sending to the pack being read."""

    said: ScriptTurn
    classified: DepthClassified | None = None
    plan: RetrievalPlan | None = None
    parts: list[PartFound] = field(default_factory=list)
    pack: ContextPack | None = None
    seconds: float = 0.0

    def add(self, event: Any) -> None:
        match event:
            case DepthClassified():
                self.classified = event
            case RetrievalPlan():
                self.plan = event
            case PartFound():
                self.parts.append(event)
            case ContextPack():
                self.pack = event

    def complete(self) -> bool:
        """Whether the pack is there, and everything that went into it."""
        if self.pack is None or self.classified is None or self.plan is None:
            return False
        return {part.memory_class for part in self.parts} >= {
            report.memory_class for report in self.pack.parts if report.status != "missing"
        }


@dataclass(slots=True)
class StepOutcome:
    """What an agent or its user did, and the verdict or assessment it got; None of a result."""

    acted: ToolStep
    made: ToolCallResolved | AssessmentMade | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Summary:
    """What the whole script came to. Tokens of `everything`: all turns so far and all documents, per message.

    `calls_confirmed` were resolved after a yes, the `calls_resolved` without one; `tokens_saved` as assessed.
    """

    messages: int
    packs: int
    degraded: int
    by_depth: dict[str, int]
    tokens: int
    tokens_everything: int
    round_trip_p50_ms: float
    round_trip_p95_ms: float
    pack_p50_ms: float
    pack_p95_ms: float
    claims: int
    corrections: int
    dead_letters: int
    calls: int
    calls_resolved: int
    calls_refused: int
    calls_confirmed: int
    assessments: int
    retrievals_saved: int
    tokens_saved: int


class Totals:
    """Counts over what was played so far."""

    def __init__(self, script: Script) -> None:
        from streams.stores.tokens import best_tokens

        self._count = best_tokens().count
        self._documents = {tenant: sum(map(self._count, texts)) for tenant, texts in script.texts.items()}
        self._turns = script.turns
        self.played: list[Played] = []
        self.decided: list[StepOutcome] = []
        self.everything = 0

    def add(self, played: Played) -> None:
        self.played.append(played)
        self.everything += self._documents.get(played.said.tenant, 0) + sum(
            self._count(turn.text) for turn in self._until(played.said)
        )

    def decide(self, decided: StepOutcome) -> None:
        self.decided.append(decided)

    def _until(self, said: ScriptTurn) -> Iterable[ScriptTurn]:
        """The conversation up to a turn."""
        for turn in self._turns:
            if turn.record.key == said.record.key:
                yield turn
            if turn is said:
                return

    def summary(self, recorded: Mapping[str, int]) -> Summary:
        packs = [played.pack for played in self.played if played.pack is not None]
        trips = [played.seconds * 1000 for played in self.played if played.pack is not None]
        return Summary(
            messages=len(self.played),
            packs=len(packs),
            degraded=sum(pack.degraded for pack in packs),
            by_depth=dict(sorted(Counter(pack.depth_level.value for pack in packs).items())),
            tokens=sum(pack.total_tokens_estimated for pack in packs),
            tokens_everything=self.everything,
            round_trip_p50_ms=quantile(trips, 0.5),
            round_trip_p95_ms=quantile(trips, 0.95),
            pack_p50_ms=quantile([pack.latency_ms for pack in packs], 0.5),
            pack_p95_ms=quantile([pack.latency_ms for pack in packs], 0.95),
            claims=recorded["claims"],
            corrections=recorded["corrections"],
            dead_letters=recorded["dead_letters"],
            **self._acts(),
        )

    def _acts(self) -> dict[str, int]:
        """Calls by what became of them, and what assessments saved."""
        verdicts = Counter(
            (type(each.acted.event), each.made.status)
            for each in self.decided
            if isinstance(each.made, ToolCallResolved)
        )
        assessments = [each.made for each in self.decided if isinstance(each.made, AssessmentMade)]
        return {
            "calls": sum(isinstance(each.acted.event, ToolCallRequested) for each in self.decided),
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
