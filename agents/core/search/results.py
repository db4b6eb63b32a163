"""The results of a search: the evidence that a pack of the same question selects, best first."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from agents.core.packs import join as joins
from agents.core.packs import packing
from agents.core.packs.draft import Counter
from agents.core.packs.join import Join
from agents.core.packs.packing import Settlement
from agents.core.packs.rendering import UNKNOWN, entry, text_field
from agents.core.packs.text import shipped
from agents.core.search.scope import ItemOrigin
from schemas.items import Item, MessageItem, PersonaItem, Process, Step, TimePoint
from schemas.packs import ContextPack
from schemas.retrieval import MemoryClass, SearchResult

# Only what memory gives: who searches has instructions of their own.
TEMPLATE = "context"
OriginOf = Callable[[Item], ItemOrigin]


def selected(join: Join, counter: Counter, origin_of: OriginOf, limit: int) -> tuple[ContextPack, list[SearchResult]]:
    """The pack of what a search has found, with no more than so many results, and these."""
    pack = _packed(join, counter)
    found = results(pack, origin_of)
    if len(found) > limit:
        pack = _packed(_kept(join, {each.id for each in found[:limit]}), counter)
        found = results(pack, origin_of)
    return pack, found


def anonymous(items: Iterable[Item]) -> tuple[Item, ...]:
    """The items of a persona without who it is: its rights alone."""
    return tuple(
        item.model_copy(update={"user_role": UNKNOWN, "department": UNKNOWN})
        for item in items
        if isinstance(item, PersonaItem)
    )


def results(pack: ContextPack, origin_of: OriginOf) -> list[SearchResult]:
    """The evidence of a pack as results, a process with its steps, best first."""
    numbers = {name: source.number for source in pack.sources or () for name in source.items}
    found = [
        _result(memory, item, steps, origin_of(item), numbers.get(item.id), pack.lang)
        for memory, item, steps in _evidence(pack)
    ]
    newest = sorted(found, key=lambda each: (each.recorded_at, each.id), reverse=True)
    return sorted(newest, key=lambda each: -each.score)


def missing(pack: ContextPack) -> tuple[MemoryClass, ...]:
    """The classes of memory that did not answer."""
    return tuple(each.memory_class for each in pack.parts if each.status in ("missing", "timeout", "error"))


def _packed(join: Join, counter: Counter) -> ContextPack:
    assert join.opened is not None
    settled = Settlement("complete", joins.settled_at(join, "complete"), template=shipped(TEMPLATE))
    return packing.pack(join.opened, join.parts, joins.report(join), settled, counter, _no_turns)


def _kept(join: Join, ids: Collection[str]) -> Join:
    """The join with these items, the steps of these processes, and who asks."""

    def wanted(item: Item) -> bool:
        return isinstance(item, PersonaItem) or (item.process_id if isinstance(item, Step) else item.id) in ids

    parts = {
        memory: part.model_copy(update={"items": tuple(filter(wanted, part.items))})
        for memory, part in join.parts.items()
    }
    return replace(join, parts=parts)


def _no_turns(_turns: Sequence[MessageItem], _lang: str, _chars: int) -> str:
    return ""


def _evidence(pack: ContextPack) -> list[tuple[MemoryClass, Item, tuple[Step, ...]]]:
    sections: Mapping[MemoryClass, object] = {
        MemoryClass.SEMANTIC: pack.semantic,
        MemoryClass.EPISODIC: pack.episodic,
        MemoryClass.CLAIMS: pack.claims,
        MemoryClass.PROCEDURAL: pack.procedural,
    }
    steps = pack.procedural.playbook_steps if pack.procedural else ()
    return [
        (memory, item, tuple(step for step in steps if step.process_id == item.id))
        for memory, section in sections.items()
        for _, items in section or ()  # type: ignore[attr-defined]
        for item in items
        if not isinstance(item, Step)
    ]


def _result(
    memory: MemoryClass, item: Item, steps: Sequence[Step], origin: ItemOrigin, number: int | None, lang: str
) -> SearchResult:
    said = entry(item, lang)
    own = origin.model_dump(exclude_none=True)
    return SearchResult(
        id=item.id,
        memory_class=memory,
        title=said.source,
        text="\n".join(f"{step.order}. {step.text}" for step in steps)
        if isinstance(item, Process)
        else _said(item, lang),
        score=item.score,
        tokens=item.tokens + sum(step.tokens for step in steps),
        reason=item.reason,
        recorded_at=item.recorded_at,
        truncated=item.truncated,
        number=number,
        page=getattr(item, "page", None),
        **own,
    )


def _said(item: Item, lang: str) -> str:
    """What an item says: of a message without who said it, of an event with its day."""
    if isinstance(item, TimePoint):
        return item.label.partition(": ")[2] if item.kind == "message" else entry(item, lang).text
    return str(getattr(item, text_field(item) or "id"))
