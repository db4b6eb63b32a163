"""Packing of a plan's parts into one context pack: deduplication, access, repeats, exact token counts, trimming."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Literal, TypedDict

from agents.core.packs import earlier_selection, fitting, instructions
from agents.core.packs.draft import MIN_CUT_TOKENS, Counter, Draft, Summarise, evidence
from agents.core.packs.rendering import line, render_before_0_2, text_field
from agents.core.packs.sections import lay_out
from agents.core.packs.sources import OVERLOAD
from agents.core.packs.text import PackText, TemplateMistake, TextTemplate, shipped, write
from agents.core.retrieval import ranking
from agents.core.retrieval.turn_parts import message_of
from schemas.depth import DepthLevel
from schemas.items import ConversationSummary, Item, MessageItem, PersonaItem, SessionSummaryItem, TimePoint
from schemas.packs import ContextPack, PackSource, PartReport, RepeatedItem
from schemas.policy import DEFAULT_TEMPLATE
from schemas.retrieval import JoinOpened, MemoryClass, PartFound

M = MemoryClass
REPEATABLE = frozenset({M.WORKING_SET, M.PERSONA, M.CLAIMS})


@dataclass(frozen=True, slots=True)
class Settlement:
    """The inputs of a pack besides its parts: why it was settled, the items of packs before, the text's template."""

    settled_by: str
    assembled_at: datetime
    previous: Mapping[str, str] = field(default_factory=dict)  # item id -> pack id
    revision: int = 1
    template: TextTemplate = field(default_factory=partial(shipped, DEFAULT_TEMPLATE))


class _TextFields(TypedDict, total=False):
    text: str
    template: str
    tokenizer: str
    sources: tuple[PackSource, ...] | None


@dataclass(frozen=True, slots=True)
class _Content:
    """The draft of a pack, what is said beside it, and what became of them: the text, with its tokens."""

    draft: Draft
    query: str
    instructions: tuple[str, ...]
    unknown: tuple[str, ...]
    tokens: int = 0
    said: PackText | None = None
    tokenizer: str = ""

    def text_fields(self) -> _TextFields:
        """The fields of the text; none of packs as before 0.2."""
        said = self.said
        if said is None:
            return {}
        sources = said.sources or None
        return {"text": said.text, "template": said.template, "tokenizer": self.tokenizer, "sources": sources}


def pack(
    opened: JoinOpened,
    parts: Mapping[MemoryClass, PartFound],
    report: Sequence[PartReport],
    terms: Settlement,
    counter: Counter,
    summarise: Summarise,
) -> ContextPack:
    """The context pack of one plan; independent of the order of the parts, byte for byte."""
    missing = tuple(_section(r.memory_class) for r in report if _is_missing(r))
    draft = _draft(opened, parts, terms, counter)
    _choose(opened, draft)
    resets, earlier = bool(opened.special_instructions), opened.looks_up is None
    instructed = instructions.for_level(opened.depth_level, opened.lang, resets=resets, earlier=earlier)
    content = _Content(draft, opened.query, instructed, _unknown(opened, draft, missing))
    fitted = (
        _fitted_before_0_2(opened, content, counter, summarise)
        if earlier
        else _fitted(opened, content, terms.template, counter, summarise)
    )
    return _stated(opened, report, missing, terms, fitted)


def _choose(opened: JoinOpened, draft: Draft) -> None:
    if opened.selection is not None:
        fitting.choose(draft, opened)
    elif opened.looks_up is not None:
        earlier_selection.select(draft)


def _trim(opened: JoinOpened, draft: Draft, budget: int, counter: Counter, summarise: Summarise) -> None:
    if opened.selection is None:
        earlier_selection.trim(draft, budget, opened, counter, summarise)
    else:
        fitting.fit(draft, budget, opened, counter, summarise)


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


def _fitted(
    opened: JoinOpened, content: _Content, template: TextTemplate, counter: Counter, summarise: Summarise
) -> _Content:
    """The content with a text within the budget of its level: items are trimmed by what the text has too much."""
    cap = _cap(opened)
    content = replace(content, query=_within(content.query, max(cap // 2, MIN_CUT_TOKENS), counter))
    while True:
        said = _written(opened, content, template)
        tokens, before = counter.count(said.text), content.draft.total()
        if tokens > cap:
            _trim(opened, content.draft, max(before - (tokens - cap), 0), counter, summarise)
        if tokens <= cap or content.draft.total() >= before:
            break
    if tokens > cap:  # the template alone has too much
        said = replace(said, text=counter.cut(said.text, cap))
        tokens = counter.count(said.text)
    return replace(content, tokens=tokens, said=said, tokenizer=counter.name)


def _written(opened: JoinOpened, content: _Content, template: TextTemplate) -> PackText:
    """The text by the template, or by the shipped one where it fails on these sections: no pack may be lost by it."""
    sections = lay_out(opened, content.draft)
    about = (opened.lang, opened.depth_level.value, sections, content.instructions, content.unknown)
    try:
        return write(template, *about)
    except TemplateMistake:
        return write(shipped(DEFAULT_TEMPLATE), *about)


def _fitted_before_0_2(opened: JoinOpened, content: _Content, counter: Counter, summarise: Summarise) -> _Content:
    """The content within its budget as packs before 0.2 counted it: query and instructions with the items."""
    cap = _cap(opened)
    query = _within(content.query, max(cap // 2, MIN_CUT_TOKENS), counter)
    fixed = counter.count(query) + sum(counter.count(text) for text in (*content.instructions, *content.unknown))
    earlier_selection.trim(content.draft, cap - fixed, opened, counter, summarise)
    return replace(content, query=query, tokens=fixed + content.draft.total())


def _cap(opened: JoinOpened) -> int:
    return opened.max_tokens - 1 if opened.depth_level == DepthLevel.D0 else opened.max_tokens


def _stated(
    opened: JoinOpened,
    report: Sequence[PartReport],
    missing: tuple[str, ...],
    terms: Settlement,
    content: _Content,
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
        llm_instructions=(*content.instructions, *content.unknown),
        evidence=_evidence(opened, content.draft, missing),
        degraded=bool(missing),
        degraded_reasons=tuple(f"{r.memory_class}: {_why(r)}" for r in report if _is_missing(r)),
        missing_sections=tuple(dict.fromkeys((*missing, *_skipped(report)))),
        settled_by="complete" if terms.settled_by == "complete" else "deadline",
        parts=tuple(report),
        dropped=tuple(sorted(content.draft.dropped, key=lambda d: (d.memory_class, d.id))),
        already_in_context=tuple(content.draft.references),
        confidence=opened.confidence,
        signals=opened.signals,
        assembled_at=terms.assembled_at,
        latency_ms=max((terms.assembled_at - opened.accepted_at).total_seconds() * 1000, 0.0),
        **{name: getattr(opened, name) for name in ("request_id", "options")},
        **content.text_fields(),
        **lay_out(opened, content.draft),
    )


def _is_missing(part: PartReport) -> bool:
    """Whether a memory should have answered and did not; where a tier leaves it out, nothing is missing."""
    return part.status in ("missing", "timeout", "error") or _is_shed(part)


def _is_shed(part: PartReport) -> bool:
    return part.status == "skipped" and part.error == OVERLOAD


def _why(part: PartReport) -> str:
    return OVERLOAD if _is_shed(part) else part.status


def _skipped(report: Sequence[PartReport]) -> tuple[str, ...]:
    return tuple(_section(each.memory_class) for each in report if each.status == "skipped")


def _unknown(opened: JoinOpened, draft: Draft, missing: tuple[str, ...]) -> tuple[str, ...]:
    """What the pack cannot tell: nothing was found for a question, or a memory did not answer."""
    lacks = _evidence(opened, draft, missing) == "none" and not opened.states
    nothing = (instructions.nothing_found(opened.lang),) if lacks else ()
    if not missing:
        return nothing
    return (*nothing, instructions.degraded(missing, opened.lang, earlier=opened.looks_up is None))


def _evidence(opened: JoinOpened, draft: Draft, missing: tuple[str, ...]) -> Literal["found", "none"] | None:
    """Whether evidence was found; None where none was searched for, or where memory did not answer."""
    if not opened.looks_up:
        return None
    return "found" if evidence(draft) or draft.references else None if missing else "none"


def _section(memory: MemoryClass) -> str:
    return "persona_context" if memory == M.PERSONA else memory.value


def _draft(
    opened: JoinOpened,
    parts: Mapping[MemoryClass, PartFound],
    terms: Settlement,
    counter: Counter,
) -> Draft:
    rendered = partial(line, lang=opened.lang) if opened.looks_up is not None else render_before_0_2
    in_text = terms.template.has if opened.looks_up is not None else _everything
    draft = Draft({memory: [] for memory in M}, rendered)
    draft.dropped += [dropped for part in parts.values() for dropped in part.dropped or ()]
    access = next(
        (i.persona_access for p in parts.values() for i in p.items if isinstance(i, PersonaItem)),
        "public",
    )
    messages = [item for item in _items(parts, M.WORKING_SET) if isinstance(item, MessageItem)]
    said = {each.message_id for each in messages}
    # The text does not tell a short conversation twice, in its messages and in its summary; packs before 0.2 did.
    told = frozenset() if opened.looks_up is None else frozenset(each.seq for each in messages)
    seen: set[str] = set()
    texts: set[str] = set()
    for memory in M:
        for item in _items(parts, memory):
            shown = in_text(item, memory) and not _summarises(item, opened, told)
            tokens = counter.count(rendered(item)) if shown else 0
            counted = item.model_copy(update={"tokens": tokens})
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


def _everything(_item: Item, _memory: MemoryClass) -> bool:
    return True


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
    if memory == M.EPISODIC and not {message_of(item.id), source}.isdisjoint({*said, opened.message_id}):
        return "in_working_set"
    field = text_field(item)
    # A concept and its definition have the same text: one of them is enough.
    said_here = " ".join(str(getattr(item, field)).casefold().split()) if field else item.id
    # Since there is a selection, it decides which of two that say the same stays.
    if item.id in seen or (opened.selection is None and memory in (M.SEMANTIC, M.EPISODIC) and said_here in texts):
        return "duplicate"
    seen.add(item.id)
    texts.add(said_here)
    if not isinstance(item, PersonaItem) and not ranking.may_see(access, item.access_level):
        return "access"
    return None


def _summarises(item: Item, opened: JoinOpened, told: frozenset[int]) -> bool:
    """Whether an item is a summary of nothing but messages of this conversation that the pack has."""
    if not isinstance(item, ConversationSummary) or item.conversation_id != opened.conversation_id:
        return False
    return told.issuperset(range(item.from_seq, item.to_seq + 1))


def _within(text: str, tokens: int, counter: Counter) -> str:
    return text if counter.count(text) <= tokens else counter.cut(text, tokens)
