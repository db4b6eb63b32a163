"""The sources of each depth level: memory class, selector and amount."""

from collections.abc import Iterable
from dataclasses import dataclass

from schemas.depth import DepthLevel
from schemas.retrieval import MemoryClass, PassageKind

D0, D1, D2, D3, D4 = DepthLevel
M = MemoryClass


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """One source of a level's plan: what to retrieve, how many items, and the maximum share of the budget."""

    memory_class: MemoryClass
    selector: str
    limit: int | None
    share: float
    added_by: str | None = None
    how_to_only: bool = False


QUERY_PROFILE: dict[DepthLevel, str | None] = {
    D0: None,
    D1: "org_context",
    D2: "document_evidence",
    D3: "document_evidence",
    D4: "strategy_alignment",
}
LOOK_UP = "look_up"
# Why a source of a plan is not asked where there are more messages than can be looked up for.
OVERLOAD = "overload"
# The search for an answer, part of every level: the level decides how to answer, not whether memory is searched. Only
# items above the relevance threshold are returned.
LOOKED_UP = (
    SourceSpec(M.SEMANTIC, LOOK_UP, 6, 1.0),
    SourceSpec(M.EPISODIC, LOOK_UP, 16, 1.0),
)
# Shares cap one source so that it cannot starve the others; they need not add up to one. What is searched may take the
# whole budget: the selection of the pack weighs the sources against each other.
SOURCES: dict[DepthLevel, tuple[SourceSpec, ...]] = {
    D0: (
        SourceSpec(M.WORKING_SET, "last_2_messages", 2, 0.7),
        SourceSpec(M.PERSONA, "basic", None, 0.2),
        *LOOKED_UP,
    ),
    D1: (
        SourceSpec(M.WORKING_SET, "last_5_messages", 5, 0.7),
        SourceSpec(M.EPISODIC, "last_conversation_summary", 1, 0.4),
        SourceSpec(M.PERSONA, "with_context", 3, 0.2),
        *LOOKED_UP,
    ),
    D2: (
        SourceSpec(M.WORKING_SET, "last_3_messages", 3, 0.4),
        SourceSpec(M.EPISODIC, "recent_summaries", 20, 1.0),
        SourceSpec(M.SEMANTIC, "related_concepts", 12, 1.0),
        SourceSpec(M.PROCEDURAL, "if_how_to_question", 2, 1.0, how_to_only=True),
        SourceSpec(M.PERSONA, "basic", None, 0.1),
    ),
    D3: (
        SourceSpec(M.WORKING_SET, "full_session", None, 0.6),
        SourceSpec(M.CLAIMS, "user_claims_in_session", 40, 1.0),
        SourceSpec(M.CLAIMS, "check_knowledge_conflicts", 10, 1.0),
        SourceSpec(M.EPISODIC, "relevant_past_discussions", 8, 1.0),
        SourceSpec(M.SEMANTIC, "claim_related_concepts", 6, 0.15, added_by="REQ-CDC-013"),
        SourceSpec(M.PERSONA, "basic", None, 0.1),
    ),
    D4: (
        SourceSpec(M.WORKING_SET, "clear_and_reset", 0, 0.0),
        SourceSpec(M.SEMANTIC, "new_topic_anchor", 12, 1.0),
        SourceSpec(M.EPISODIC, "new_anchor_only", 6, 1.0, added_by="REQ-CDC-012"),
        SourceSpec(M.EPISODIC, LOOK_UP, 12, 1.0),
        SourceSpec(M.PERSONA, "full_with_objectives", None, 0.2),
    ),
}


# An unannounced change of subject may be none: the last exchange stays, and both interpretations are searched for.
IMPLICIT_D4: tuple[SourceSpec, ...] = (
    SourceSpec(M.WORKING_SET, "last_2_messages", 2, 0.4),
    *(want for want in SOURCES[D4] if want.memory_class is not M.WORKING_SET),
)


# Read from the session and the profile, whatever a query may cost.
STATE = frozenset({M.WORKING_SET, M.PERSONA})
CROSS_REFERENCE = "check_knowledge_conflicts"


def of_state(wanted: Iterable[SourceSpec]) -> list[SourceSpec]:
    """The sources read from the session and the profile, for a message that needs no memory."""
    return [want for want in wanted if want.memory_class in STATE]


# The kinds of passages that a source returns, among which a profile may choose.
KINDS: dict[MemoryClass, tuple[PassageKind, ...]] = {
    M.SEMANTIC: ("chunk", "definition", "concept"),
    M.EPISODIC: ("message", "summary", "event"),
}
SUMMARIES: tuple[PassageKind, ...] = ("summary",)
ONLY_SUMMARIES = frozenset({"last_conversation_summary", "new_anchor_only"})


def kinds_of(want: SourceSpec) -> tuple[PassageKind, ...]:
    """The kinds of passages that a source returns; empty where it returns something else."""
    return SUMMARIES if want.selector in ONLY_SUMMARIES else KINDS.get(want.memory_class, ())
