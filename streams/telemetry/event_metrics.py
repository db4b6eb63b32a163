"""Metrics that follow from the events a process has sent: what packs hold, what is remembered, what is contested.

Labels have few values by construction: names of the contract, never a tenant, user, conversation or free text.
"""

from collections.abc import Callable
from typing import Any

from prometheus_client import Counter, Histogram

from schemas.base import Event
from schemas.chat import Turn
from schemas.depth import DepthClassified
from schemas.learning import ConsultationRecorded, DepthVote
from schemas.memory import (
    AuditDecision,
    ClaimAsserted,
    CorrectionIssued,
    ErasureIssued,
    KnowledgeRecorded,
    PackDecision,
    SummaryMade,
)
from schemas.packs import ContextPack
from schemas.retrieval import PackInputs, PartFound, PartsFound
from schemas.tools import ToolCallResolved
from streams.telemetry.registry import REGISTRY, SECONDS

EVENTS = Counter(
    "fathom_events_total", "Events that the broker has acknowledged, by their type", ("type",), registry=REGISTRY
)
TURNS = Counter("fathom_turns_total", "Turns accepted on messages.in, by who speaks", ("role",), registry=REGISTRY)
SIGNALS = Counter(
    "fathom_signals_total", "Linguistic signals found in classified messages", ("signal",), registry=REGISTRY
)
CONFIDENCE = Histogram(
    "fathom_depth_confidence_ratio",
    "How sure the classifier was of a message's level",
    ("level",),
    buckets=(0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1),
    registry=REGISTRY,
)
PART_HITS = Counter(
    "fathom_part_hits_total", "Items that the memory classes found for packs", ("memory_class",), registry=REGISTRY
)
PART_SECONDS = Histogram(
    "fathom_part_duration_seconds",
    "From a plan to the answer of a memory class, as the pack reports it",
    ("memory_class",),
    buckets=SECONDS,
    registry=REGISTRY,
)
PACKS = Counter(
    "fathom_packs_total",
    "First revisions of packs: settled_by deadline is one that did not wait for all of its parts",
    ("level", "settled_by", "degraded"),
    registry=REGISTRY,
)
REVISIONS = Counter("fathom_pack_revisions_total", "Later revisions of packs, after late parts", registry=REGISTRY)
PACK_PARTS = Counter(
    "fathom_pack_parts_total",
    "Memory classes in packs, by what the pack has of them: missing is one that had not answered by the deadline",
    ("memory_class", "status"),
    registry=REGISTRY,
)
PACK_DROPPED = Counter(
    "fathom_pack_dropped_items_total",
    "Items found and left out of a pack, by the reason",
    ("memory_class", "reason"),
    registry=REGISTRY,
)
PACK_EVIDENCE = Counter(
    "fathom_pack_evidence_total",
    "Packs for which memory was searched, by whether anything there helps to answer",
    ("evidence",),
    registry=REGISTRY,
)
AUDIT = Counter(
    "fathom_audit_records_total",
    "Audit records written to the log: pack is one for each pack",
    ("kind",),
    registry=REGISTRY,
)
CLAIMS = Counter("fathom_claims_total", "Claims recorded, by who asserted them", ("author",), registry=REGISTRY)
CONFLICTS = Counter(
    "fathom_claim_conflicts_total", "Earlier claims that a new one contradicts, by why", ("kind",), registry=REGISTRY
)
CORRECTIONS = Counter(
    "fathom_corrections_total", "Corrections issued: of a claim or of an answer", ("kind",), registry=REGISTRY
)
ERASURES = Counter("fathom_erasures_total", "Conversations whose erasure was issued", registry=REGISTRY)
SUMMARIES = Counter("fathom_summaries_total", "Summaries made of stretches of conversations", registry=REGISTRY)
KNOWLEDGE = Counter(
    "fathom_knowledge_entries_total", "Entries that documents added to memory, by kind", ("kind",), registry=REGISTRY
)
CONSULTATIONS = Counter("fathom_consultations_total", "Deep answers recorded for later questions", registry=REGISTRY)
RATINGS = Counter(
    "fathom_feedback_total", "Feedback on packs, by its rating from 1 to 5", ("rating",), registry=REGISTRY
)
INJECTIONS = Counter(
    "fathom_tool_injected_arguments_total", "Arguments that the tool gate filled in from context", registry=REGISTRY
)


def _turn(turn: Turn) -> None:
    TURNS.labels(turn.role).inc()


def _classified(depth: DepthClassified) -> None:
    CONFIDENCE.labels(depth.depth_level.value).observe(depth.confidence)
    for signal in depth.signals:
        SIGNALS.labels(signal.name).inc()


def _part(part: PartFound) -> None:
    PART_HITS.labels(part.memory_class.value).inc(len(part.items))


def _parts(found: PartsFound | PackInputs) -> None:
    for part in found.parts:
        _part(part)


def _pack(pack: ContextPack) -> None:
    if pack.revision > 1:
        REVISIONS.inc()
        return
    PACKS.labels(pack.depth_level.value, pack.settled_by, str(pack.degraded).lower()).inc()
    for part in pack.parts:
        PACK_PARTS.labels(part.memory_class.value, part.status).inc()
        if part.latency_ms is not None:
            PART_SECONDS.labels(part.memory_class.value).observe(part.latency_ms / 1000)
    for item in pack.dropped:
        PACK_DROPPED.labels(item.memory_class.value, item.reason).inc()
    if pack.evidence is not None:
        PACK_EVIDENCE.labels(pack.evidence).inc()


def _decision(decision: PackDecision | AuditDecision) -> None:
    AUDIT.labels(decision.kind).inc()


def _claim(claim: ClaimAsserted) -> None:
    CLAIMS.labels(claim.author).inc()
    for conflict in claim.contradicts:
        CONFLICTS.labels(conflict.kind).inc()


def _knowledge(knowledge: KnowledgeRecorded) -> None:
    for entry in knowledge.entries:
        KNOWLEDGE.labels(entry.kind).inc()


# By the exact class: this runs for every event, and a chain of `isinstance` costs more than all it counts.
_COUNTED: dict[type[Event], Callable[[Any], None]] = {
    Turn: _turn,
    DepthClassified: _classified,
    PartFound: _part,
    PartsFound: _parts,
    PackInputs: _parts,
    ContextPack: _pack,
    PackDecision: _decision,
    AuditDecision: _decision,
    ClaimAsserted: _claim,
    CorrectionIssued: lambda correction: CORRECTIONS.labels(correction.kind).inc(),
    ErasureIssued: lambda _: ERASURES.inc(),
    SummaryMade: lambda _: SUMMARIES.inc(),
    KnowledgeRecorded: _knowledge,
    ConsultationRecorded: lambda _: CONSULTATIONS.inc(),
    DepthVote: lambda vote: RATINGS.labels(str(vote.rating)).inc(),
    ToolCallResolved: lambda verdict: INJECTIONS.inc(len(verdict.injections)),
}


def count(event: Event) -> None:
    """Count an event that the broker has acknowledged."""
    EVENTS.labels(event.TYPE).inc()
    if (counted := _COUNTED.get(type(event))) is not None:
        counted(event)
