"""The layout of a pack's items in its sections."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict, TypeVar

from agents.core.packs.draft import ORIGINAL, Draft
from schemas.depth import DepthLevel
from schemas.items import (
    Chunk,
    ClaimItem,
    Concept,
    Contradiction,
    ConversationSummary,
    Item,
    Knowledge,
    MessageItem,
    Objective,
    PersonaItem,
    Process,
    Step,
    TimePoint,
)
from schemas.packs import (
    ClaimsSection,
    EpisodicSection,
    PersonaContext,
    ProceduralSection,
    Reconciliation,
    SemanticSection,
    WorkingSetSection,
)
from schemas.retrieval import JoinOpened, MemoryClass

M = MemoryClass
NO_SEMANTIC = (DepthLevel.D0, DepthLevel.D1)
I = TypeVar("I", bound=Item)


class Sections(TypedDict):
    working_set: WorkingSetSection
    persona_context: PersonaContext
    episodic: EpisodicSection | None
    semantic: SemanticSection | None
    claims: ClaimsSection | None
    procedural: ProceduralSection | None
    reconciliation: Reconciliation | None


def lay_out(opened: JoinOpened, draft: Draft) -> Sections:
    """The sections of a level, present even when empty, and other sections that have items."""
    level, kept = opened.depth_level, draft.kept if opened.looks_up is not None else _ordered_before_0_2(draft.kept)
    is_d3 = level == DepthLevel.D3
    return Sections(
        working_set=_working_set(draft),
        persona_context=_persona(kept[M.PERSONA], opened),
        episodic=_episodic(kept[M.EPISODIC]) if level != DepthLevel.D0 or kept[M.EPISODIC] else None,
        semantic=_semantic(kept[M.SEMANTIC]) if level not in NO_SEMANTIC or kept[M.SEMANTIC] else None,
        claims=_claims(kept[M.CLAIMS]) if is_d3 else None,
        procedural=_procedural(kept[M.PROCEDURAL]) if M.PROCEDURAL in opened.wanted else None,
        reconciliation=_reconciliation(kept[M.CLAIMS]) if is_d3 else None,
    )


def _ordered_before_0_2(kept: Mapping[MemoryClass, list[Item]]) -> Mapping[MemoryClass, list[Item]]:
    """The items ordered by score and id, as packs before 0.2 have them, so that a replay gives the same bytes."""
    found = (M.SEMANTIC, M.EPISODIC, M.PROCEDURAL)
    return {m: sorted(items, key=lambda i: (-i.score, i.id)) if m in found else items for m, items in kept.items()}


def _episodic(items: Sequence[Item]) -> EpisodicSection:
    events = sorted(_only(items, TimePoint), key=lambda t: (t.at, t.id))
    summaries = _only(items, ConversationSummary)
    return EpisodicSection(conversation_summaries=tuple(summaries), relevant_events=tuple(events))


def _semantic(items: Sequence[Item]) -> SemanticSection:
    return SemanticSection(
        concepts=tuple(_only(items, Concept)),
        knowledge_chunks=tuple(_only(items, Chunk)),
        definitions=tuple(_only(items, Knowledge)),
    )


def _procedural(items: Sequence[Item]) -> ProceduralSection:
    steps = sorted(_only(items, Step), key=lambda s: (s.process_id, s.order))
    return ProceduralSection(relevant_processes=tuple(_only(items, Process)), playbook_steps=tuple(steps))


def _only(items: Iterable[Item], kind: type[I]) -> list[I]:
    """The items of one kind in the order of their source: best first, the newer first among equals."""
    return [item for item in items if isinstance(item, kind)]


def _working_set(draft: Draft) -> WorkingSetSection:
    messages = sorted(_only(draft.kept[M.WORKING_SET], MessageItem), key=lambda m: m.seq)
    return WorkingSetSection(
        recent_messages=tuple(messages),
        session_summary=draft.summary.text if draft.summary else None,
        session_summary_item=draft.summary,
    )


def _persona(items: Sequence[Item], opened: JoinOpened) -> PersonaContext:
    people = _only(items, PersonaItem)
    if not people:
        return PersonaContext(recorded_at=opened.as_of, reason="the persona is not known")
    person = people[0]
    objectives = _only(items, Objective)
    return PersonaContext(
        user_role=person.user_role,
        department=person.department,
        access_level=person.persona_access,
        current_objectives=tuple(objectives) if objectives or opened.depth_level == DepthLevel.D4 else None,
        provenance=person.provenance,
        recorded_at=person.recorded_at,
        reason=person.reason,
        tokens=person.tokens,
    )


def _claims(items: Sequence[Item]) -> ClaimsSection:
    claims = sorted(_only(items, ClaimItem), key=lambda c: (c.recorded_at, c.id), reverse=True)
    return ClaimsSection(
        user_claims=tuple(c for c in claims if c.author == "user"),
        system_claims=tuple(c for c in claims if c.author == "system"),
        contradictions=tuple(sorted(_only(items, Contradiction), key=lambda c: (-c.score, c.id))),
    )


def _reconciliation(items: Sequence[Item]) -> Reconciliation | None:
    pending = [c for c in _only(items, Contradiction) if c.status == "pending_reconciliation"]
    original = next((c.claim_id for c in _only(items, ClaimItem) if c.scores.get(ORIGINAL)), None)
    sides = dict.fromkeys(side for c in pending for side in (c.claim_id, c.contradicts))
    ids = tuple(sides) if original is None or original in sides else (*sides, original)
    return Reconciliation(claim_ids=ids, original_claim_id=original) if ids else None
