"""Packing of a plan's parts into one context pack: deduplication, access, repeats, exact token counts, trimming."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from agents.core.packs import instructions
from agents.core.packs.rendering import render, render_before_0_2, text_field
from agents.core.packs.sections import lay_out
from agents.core.packs.selection import evidence, select
from agents.core.packs.trimming import MIN_CUT_TOKENS, Counter, Draft, Summarise, trim
from agents.core.retrieval import ranking
from schemas.depth import DepthLevel
from schemas.items import Item, MessageItem, PersonaItem, SessionSummaryItem, TimePoint
from schemas.packs import ContextPack, PartReport, RepeatedItem
from schemas.retrieval import JoinOpened, MemoryClass, PartFound

M = MemoryClass
REPEATABLE = frozenset({M.WORKING_SET, M.PERSONA, M.CLAIMS})


@dataclass(frozen=True, slots=True)
class Settlement:
    """The inputs of a pack besides its parts: why it was settled, and the items of the previous pack."""

    settled_by: str
    assembled_at: datetime
    previous: Mapping[str, str] = field(default_factory=dict)  # item id -> pack id
    revision: int = 1


@dataclass(frozen=True, slots=True)
class _Content:
    """The parts of a pack that count against its budget, and their token total."""

    draft: Draft
    query: str
    instructions: tuple[str, ...]
    tokens: int = 0


def pack(
    opened: JoinOpened,
    parts: Mapping[MemoryClass, PartFound],
    report: Sequence[PartReport],
    terms: Settlement,
    counter: Counter,
    summarise: Summarise,
) -> ContextPack:
    """The context pack of one plan; independent of the order of the parts, byte for byte."""
    missing = tuple(_section(r.memory_class) for r in report if r.status in ("missing", "timeout", "error"))
    draft = _draft(opened, parts, terms, counter)
    if opened.looks_up is not None:
        select(draft)
    content = _Content(draft, opened.query, _instructions(opened, draft, missing))
    return _stated(opened, report, missing, terms, _fitted(opened, content, counter, summarise))


def injected(pack: ContextPack) -> tuple[str, ...]:
    """The items of a pack that the next one need not repeat; without the sections every pack carries."""
    items = (
        *(pack.episodic.conversation_summaries if pack.episodic else ()),
        *(pack.episodic.relevant_events if pack.episodic else ()),
        *(pack.semantic.concepts if pack.semantic else ()),
        *(pack.semantic.knowledge_chunks if pack.semantic else ()),
        *(pack.semantic.definitions if pack.semantic else ()),
        *(pack.procedural.relevant_processes if pack.procedural else ()),
        *(pack.procedural.playbook_steps if pack.procedural else ()),
    )
    return tuple(item.id for item in items if not item.truncated)


def _fitted(opened: JoinOpened, content: _Content, counter: Counter, summarise: Summarise) -> _Content:
    """The content within the budget of its level: first the query is truncated, then the items are trimmed."""
    cap = opened.max_tokens - 1 if opened.depth_level == DepthLevel.D0 else opened.max_tokens
    query = _within(content.query, max(cap // 2, MIN_CUT_TOKENS), counter)
    fixed = counter.count(query) + sum(counter.count(text) for text in content.instructions)
    trim(content.draft, cap - fixed, opened, counter, summarise)
    return replace(content, query=query, tokens=fixed + content.draft.total())


def _stated(
    opened: JoinOpened, report: Sequence[PartReport], missing: tuple[str, ...], terms: Settlement, content: _Content
) -> ContextPack:
    """The event of the content, with the query, the reason for settling and the report of each part."""
    return ContextPack(
        pack_id=opened.pack_id,
        revision=terms.revision,
        plan_id=opened.plan_id,
        message_id=opened.message_id,
        conversation_id=opened.conversation_id,
        client_id=opened.client_id,
        user_id=opened.user_id,
        query=content.query,
        query_truncated=content.query != opened.query,
        lang=opened.lang,
        seq=opened.seq,
        frame_id=opened.frame_id,
        depth_level=opened.depth_level,
        query_profile_used=opened.query_profile,
        query_profile_version=opened.query_profile_version,
        strategy=opened.strategy,
        special_instructions=opened.special_instructions,
        max_tokens=opened.max_tokens,
        total_tokens_estimated=content.tokens,
        llm_instructions=content.instructions,
        evidence=_evidence(opened, content.draft, missing),
        degraded=bool(missing),
        degraded_reasons=tuple(f"{r.memory_class}: {r.status}" for r in report if _section(r.memory_class) in missing),
        missing_sections=(*missing, *(_section(r.memory_class) for r in report if r.status == "skipped")),
        settled_by="complete" if terms.settled_by == "complete" else "deadline",
        parts=tuple(report),
        dropped=tuple(sorted(content.draft.dropped, key=lambda d: (d.memory_class, d.id))),
        already_in_context=tuple(content.draft.references),
        confidence=opened.confidence,
        signals=opened.signals,
        assembled_at=terms.assembled_at,
        latency_ms=max((terms.assembled_at - opened.accepted_at).total_seconds() * 1000, 0.0),
        request_id=opened.request_id,
        **lay_out(opened, content.draft),
    )


def _instructions(opened: JoinOpened, draft: Draft, missing: tuple[str, ...]) -> tuple[str, ...]:
    lines = instructions.for_level(opened.depth_level, opened.lang, resets=bool(opened.special_instructions))
    if _evidence(opened, draft, missing) == "none":
        lines = (*lines, instructions.nothing_found(opened.lang))
    return (*lines, instructions.degraded(missing, opened.lang)) if missing else lines


def _evidence(opened: JoinOpened, draft: Draft, missing: tuple[str, ...]) -> Literal["found", "none"] | None:
    """Whether evidence was found; None where none was searched for, or where memory did not answer."""
    if not opened.looks_up:
        return None
    return "found" if evidence(draft) else None if missing else "none"


def _section(memory: MemoryClass) -> str:
    return "persona_context" if memory == M.PERSONA else memory.value


def _draft(
    opened: JoinOpened,
    parts: Mapping[MemoryClass, PartFound],
    terms: Settlement,
    counter: Counter,
) -> Draft:
    rendered = render if opened.looks_up is not None else render_before_0_2
    draft = Draft({memory: [] for memory in M}, render=rendered)
    draft.dropped += [dropped for part in parts.values() for dropped in part.dropped or ()]
    access = next(
        (i.persona_access for p in parts.values() for i in p.items if isinstance(i, PersonaItem)),
        "public",
    )
    said = {i.message_id for i in _items(parts, M.WORKING_SET) if isinstance(i, MessageItem)}
    seen: set[str] = set()
    texts: set[str] = set()
    for memory in M:
        for item in _items(parts, memory):
            counted = item.model_copy(update={"tokens": counter.count(rendered(item))})
            draft.kept[memory].append(counted)
            reason = _unwanted(counted, memory, opened, access, said, seen, texts)
            if reason is not None:
                draft.drop(memory, counted, reason)
            elif memory not in REPEATABLE and counted.id in terms.previous:
                draft.kept[memory].remove(counted)
                draft.references.append(
                    RepeatedItem(
                        id=counted.id,
                        memory_class=memory,
                        pack_id=terms.previous[counted.id],
                    )
                )
            if isinstance(counted, SessionSummaryItem) and counted in draft.kept[memory]:
                draft.kept[memory].remove(counted)
                draft.summary = counted
    return draft


def _items(parts: Mapping[MemoryClass, PartFound], memory: MemoryClass) -> Sequence[Item]:
    part = parts.get(memory)
    return part.items if part is not None else ()


def _unwanted(
    item: Item,
    memory: MemoryClass,
    opened: JoinOpened,
    access: str,
    said: set[str],
    seen: set[str],
    texts: set[str],
) -> str | None:
    """The reason to drop an item regardless of budget; None when it may stay."""
    source = item.message_id if isinstance(item, TimePoint) else None
    if memory == M.EPISODIC and not {item.id, source}.isdisjoint({*said, opened.message_id}):
        return "in_working_set"
    field = text_field(item)
    # A concept and its definition have the same text: one of them is enough.
    said_here = " ".join(str(getattr(item, field)).casefold().split()) if field else item.id
    if item.id in seen or (memory in (M.SEMANTIC, M.EPISODIC) and said_here in texts):
        return "duplicate"
    seen.add(item.id)
    texts.add(said_here)
    if not isinstance(item, PersonaItem) and not ranking.may_see(access, item.access_level):
        return "access"
    return None


def _within(text: str, tokens: int, counter: Counter) -> str:
    return text if counter.count(text) <= tokens else counter.cut(text, tokens)
