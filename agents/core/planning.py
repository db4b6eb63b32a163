"""From a depth to exactly what is fetched (S0-32 to S0-48, with the settlements CF-11, CF-12, CF-16)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from agents.core import instructions
from agents.core.tiers import PROCESSING_TIERS
from schemas.assessment import ProcessingTier, TierName
from schemas.base import Conversation, derive
from schemas.depth import DepthClassified, DepthLevel
from schemas.retrieval import JoinOpened, MemoryClass, PlanTerms, RetrievalPlan, SourceRequest

D0, D1, D2, D3, D4 = DepthLevel
M = MemoryClass


@dataclass(frozen=True, slots=True)
class Limits:
    """Token budget and deadline (ms) of each level; configurable (REQ-CDC-008).

    `look_up`: whether levels whose own plan searches nothing look for what answers them all the same.
    """

    max_tokens: Mapping[DepthLevel, int] = field(
        default_factory=lambda: {D0: 500, D1: 1500, D2: 3000, D3: 4000, D4: 2500}
    )
    deadline_ms: Mapping[DepthLevel, int] = field(
        default_factory=lambda: {D0: 200, D1: 1000, D2: 2000, D3: 2000, D4: 2000}
    )
    tiers: Mapping[TierName, ProcessingTier] = field(default_factory=lambda: PROCESSING_TIERS)
    look_up: bool = True


@dataclass(frozen=True, slots=True)
class Want:
    """One line of a level's plan: what to ask for, how many, at most what share of the budget."""

    memory_class: MemoryClass
    selector: str
    limit: int | None
    share: float
    added_by: str | None = None
    how_to_only: bool = False


STRATEGY = {
    D0: "direct_answer",
    D1: "continue_thread",
    D2: "explain_with_context",
    D3: "verify_and_reconcile",
    D4: "fresh_start_with_context",
}
QUERY_PROFILE: dict[DepthLevel, str | None] = {
    D0: None,
    D1: "org_context",
    D2: "document_evidence",
    D3: "document_evidence",
    D4: "strategy_alignment",
}
LOOK_UP = "look_up"
# What answers the message, wherever it stands, at every level: how to answer is another question than whether memory
# is searched. Only what clears the floor of relevance comes back.
LOOKED_UP = (
    Want(M.SEMANTIC, LOOK_UP, 6, 0.9),
    Want(M.EPISODIC, LOOK_UP, 16, 0.9),
)
# Shares cap one source so that it cannot starve the others; they need not add up to one.
SOURCES: dict[DepthLevel, tuple[Want, ...]] = {
    D0: (
        Want(M.WORKING_SET, "last_2_messages", 2, 0.7),
        Want(M.PERSONA, "basic", None, 0.2),
        *LOOKED_UP,
    ),
    D1: (
        Want(M.WORKING_SET, "last_5_messages", 5, 0.7),
        Want(M.EPISODIC, "last_conversation_summary", 1, 0.4),
        Want(M.PERSONA, "with_context", 3, 0.2),
        *LOOKED_UP,
    ),
    D2: (
        Want(M.WORKING_SET, "last_3_messages", 3, 0.4),
        Want(M.EPISODIC, "recent_summaries", 20, 0.6),
        Want(M.SEMANTIC, "related_concepts", 12, 0.7),
        Want(M.PROCEDURAL, "if_how_to_question", 2, 0.4, how_to_only=True),
        Want(M.PERSONA, "basic", None, 0.1),
    ),
    D3: (
        Want(M.WORKING_SET, "full_session", None, 0.6),
        Want(M.CLAIMS, "user_claims_in_session", 40, 0.5),
        Want(M.CLAIMS, "check_knowledge_conflicts", 10, 0.5),
        Want(M.EPISODIC, "relevant_past_discussions", 8, 0.3),
        Want(M.SEMANTIC, "claim_related_concepts", 6, 0.15, added_by="REQ-CDC-013"),
        Want(M.PERSONA, "basic", None, 0.1),
    ),
    D4: (
        Want(M.WORKING_SET, "clear_and_reset", 0, 0.0),
        Want(M.SEMANTIC, "new_topic_anchor", 12, 0.7),
        Want(M.EPISODIC, "new_anchor_only", 6, 0.3, added_by="REQ-CDC-012"),
        Want(M.EPISODIC, LOOK_UP, 12, 0.4),
        Want(M.PERSONA, "full_with_objectives", None, 0.2),
    ),
}


# A change of subject that nobody announced may be none: the last exchange stays, and both readings are looked for.
IMPLICIT_D4: tuple[Want, ...] = (
    Want(M.WORKING_SET, "last_2_messages", 2, 0.4),
    *(want for want in SOURCES[D4] if want.memory_class is not M.WORKING_SET),
)


# Read from the session and the profile, whatever a query may cost (CF-46).
STATE = frozenset({M.WORKING_SET, M.PERSONA})
CROSS_REFERENCE = "check_knowledge_conflicts"
TIER = "tier"


def of_state(wanted: Iterable[Want]) -> list[Want]:
    """What is read from the session and the profile: all that a message asks for that needs nothing of memory."""
    return [want for want in wanted if want.memory_class in STATE]


def pack_id_of(conversation: Conversation, message_id: str) -> str:
    """The id of the pack of a message; of another tenant's message it is another."""
    return derive("pack", conversation.key(), message_id)


def make_plan(classified: DepthClassified, conversation: Conversation, limits: Limits) -> RetrievalPlan:
    """The retrieval plan of a classified message; the same classification always gives the same plan (S0-04)."""
    level = classified.depth_level
    budget = limits.max_tokens[level]
    tier = limits.tiers[classified.tier] if classified.tier else None
    latency = limits.deadline_ms[level]
    if tier is not None:
        latency = min(latency, tier.max_latency_ms)  # CF-47
    return RetrievalPlan(
        plan_id=derive("plan", conversation.key(), classified.message_id),
        pack_id=pack_id_of(conversation, classified.message_id),
        message_id=classified.message_id,
        conversation_id=classified.conversation_id,
        client_id=classified.client_id,
        user_id=classified.user_id,
        query=classified.query,
        lang=classified.lang,
        seq=classified.seq,
        source=classified.source,
        frame_id=classified.frame_id,
        as_of=classified.as_of,
        accepted_at=classified.accepted_at,
        depth_level=level,
        strategy=STRATEGY[level],
        query_profile=QUERY_PROFILE[level],
        max_tokens=budget,
        special_instructions=() if is_implicit(classified) else instructions.SPECIAL.get(level, ()),
        deadline_at=classified.accepted_at + timedelta(milliseconds=latency),
        tier=classified.tier,
        request_id=classified.request_id,
        sources=_sources(classified, budget, tier, limits),
        reset_frame=level == D4 and not is_implicit(classified),
        anchor=classified.anchor,
        parameters=classified.parameters,
        context=classified.context,
    )


def is_implicit(classified: DepthClassified) -> bool:
    """Whether a change of subject is only likely; in records from before 0.2 all are certain."""
    return classified.depth_level == D4 and classified.resets is False


def _sources(
    classified: DepthClassified, budget: int, tier: ProcessingTier | None, limits: Limits
) -> tuple[SourceRequest, ...]:
    return tuple(
        SourceRequest(
            memory_class=want.memory_class,
            selector=want.selector,
            limit=want.limit,
            max_tokens=int(budget * want.share),
            added_by=want.added_by,
            skip=TIER if tier is not None and _is_beyond(tier, want) else None,
            narrow=True if tier is not None and _is_narrow(tier, want) else None,
        )
        for want in (IMPLICIT_D4 if is_implicit(classified) else SOURCES[classified.depth_level])
        if _is_wanted(want, classified, limits)
    )


def _is_wanted(want: Want, classified: DepthClassified, limits: Limits) -> bool:
    if classified.needs_nothing and want.memory_class not in STATE:
        return False
    if want.selector == LOOK_UP and not limits.look_up:
        return False
    return classified.how_to or not want.how_to_only


def _is_beyond(tier: ProcessingTier, want: Want) -> bool:
    """What a tier does not pay for is wanted all the same, and answered as skipped."""
    if want.selector == CROSS_REFERENCE and not tier.cross_reference:
        return True
    return want.memory_class not in STATE and not tier.context_retrieval


def _is_narrow(tier: ProcessingTier, want: Want) -> bool:
    return want.memory_class == M.SEMANTIC and not tier.semantic_expansion


def open_join(plan: RetrievalPlan, classified: DepthClassified) -> JoinOpened:
    """The plan's terms for the assembler: wanted classes, budget, absolute deadline (CF-68)."""
    terms = {name: getattr(plan, name) for name in PlanTerms.model_fields}
    wanted = dict.fromkeys(source.memory_class for source in plan.sources)
    return JoinOpened(
        **terms,
        wanted=tuple(wanted),
        confidence=classified.confidence,
        classifier=classified.classifier,
        signals=classified.signals,
        looks_up=any(source.memory_class not in STATE and source.skip is None for source in plan.sources),
    )
