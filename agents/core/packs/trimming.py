"""Trimming of a pack that is over its budget.

Order: what hardly helps, of any source; low-score semantic, old episodic, procedural, old turns (replaced by a session
summary). Never dropped, only truncated: the original claim, persona, instructions, the newest turn and the best item
where it is more likely than not to answer. A first round leaves each source a minimum, so that the first source is not
emptied before the second is touched; a second round has no minimum.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from agents.core.packs.rendering import text_field
from schemas.base import derive
from schemas.depth import DepthLevel
from schemas.items import ConversationSummary, Item, MessageItem, Objective, Process, SessionSummaryItem, Step
from schemas.packs import RepeatedItem
from schemas.retrieval import Dropped, JoinOpened, MemoryClass

M = MemoryClass
ORIGINAL = "original"  # score that marks the claim a correction is about
FLOORS = {M.SEMANTIC: 0.3, M.EPISODIC: 0.2, M.PROCEDURAL: 0.15, M.WORKING_SET: 0.15}
ORDER = (M.SEMANTIC, M.EPISODIC, M.PROCEDURAL, M.WORKING_SET, M.CLAIMS, M.PERSONA)
MIN_CUT_TOKENS = 8
FOUND_IN = (M.SEMANTIC, M.EPISODIC)
UNLIKELY = 0.1  # below this an item of any source goes before a likelier one of another
LIKELY = 0.5  # the least score of an item that is cut rather than dropped where it is the best


class Counter(Protocol):
    name: str

    def count(self, text: str) -> int: ...

    def cut(self, text: str, limit: int) -> str: ...


Summarise = Callable[[Sequence[MessageItem], str, int], str]


@dataclass(slots=True)
class Draft:
    """A pack under construction: the items kept and the items dropped."""

    kept: dict[MemoryClass, list[Item]]
    render: Callable[[Item], str]
    dropped: list[Dropped] = field(default_factory=list)
    references: list[RepeatedItem] = field(default_factory=list)
    summary: SessionSummaryItem | None = None
    folded: list[MessageItem] = field(default_factory=list)

    def drop(self, memory: MemoryClass, item: Item, reason: str) -> None:
        self.kept[memory].remove(item)
        self.dropped.append(
            Dropped(
                id=item.id,
                memory_class=memory,
                reason=reason,
                tokens=item.tokens,
                score=item.score,
            )
        )

    def whole(self, memory: MemoryClass, item: Item) -> list[Item]:
        """An item with its dependent items: a process with its steps."""
        steps = [each for each in self.kept[memory] if isinstance(each, Step) and each.process_id == item.id]
        return [item, *steps]

    def tokens(self, memory: MemoryClass) -> int:
        return sum(item.tokens for item in self.kept[memory])

    def total(self) -> int:
        return sum(self.tokens(memory) for memory in self.kept) + (self.summary.tokens if self.summary else 0)


def trim(
    draft: Draft,
    budget: int,
    opened: JoinOpened,
    counter: Counter,
    summarise: Summarise,
) -> None:
    _drop_unlikely(draft, budget, opened)
    for floors in (True, False):
        for memory in ORDER:
            floor = int(budget * FLOORS.get(memory, 0.0)) if floors else 0
            if floors and memory in (M.CLAIMS, M.PERSONA):
                continue
            _shrink(draft, memory, budget, floor, opened, counter, summarise)
            if draft.total() <= budget:
                return
    _cut_longest(draft, budget, counter)


def _drop_unlikely(draft: Draft, budget: int, opened: JoinOpened) -> None:
    """Drop what hardly helps, wherever it was found, the least likely first: no minimum of a source is for that."""
    if opened.looks_up is None:  # a pack of before 0.2
        return
    found = [(memory, item) for memory in FOUND_IN for item in _expendable(draft.kept[memory], memory)]
    for memory, item in sorted(found, key=lambda pair: (pair[1].score, pair[1].recorded_at, pair[1].id)):
        if draft.total() <= budget or item.score >= UNLIKELY:
            return
        if item.tokens:
            draft.drop(memory, item, "budget")


def _shrink(
    draft: Draft,
    memory: MemoryClass,
    budget: int,
    floor: int,
    opened: JoinOpened,
    counter: Counter,
    summarise: Summarise,
) -> None:
    # Packs of before 0.2 held nothing back: an exact replay makes their bytes again.
    best = _best(draft) if opened.looks_up is not None else None
    for item in _expendable(draft.kept[memory], memory):
        if draft.total() <= budget:
            return
        # What the text does not show costs nothing, and leaving it out gains nothing.
        if item is best or not sum(each.tokens for each in draft.whole(memory, item)):
            continue
        if draft.tokens(memory) - item.tokens < floor:
            continue
        for each in draft.whole(memory, item):
            draft.drop(memory, each, "budget")
        if isinstance(item, MessageItem):
            draft.folded.append(item)
            _summarise_folded(draft, budget, opened, counter, summarise)


def _best(draft: Draft) -> Item | None:
    """The item most likely to answer the question, which is never dropped."""
    found = [item for memory in FOUND_IN for item in draft.kept[memory] if not at_hand(item) and item.score >= LIKELY]
    return max(found, key=lambda item: (item.score, item.recorded_at, item.id), default=None)


def at_hand(item: Item) -> bool:
    """Whether an item only repeats the conversation itself."""
    return isinstance(item, ConversationSummary) and item.origin == "current"


def _expendable(items: Sequence[Item], memory: MemoryClass) -> list[Item]:
    """The items that may be dropped, in the order of dropping."""
    if memory == M.WORKING_SET:
        messages = sorted((i for i in items if isinstance(i, MessageItem)), key=lambda m: m.seq)
        return list(messages[:-1])
    if memory == M.PERSONA:
        return [i for i in reversed(items) if isinstance(i, Objective)]
    if memory == M.PROCEDURAL:
        return [i for i in reversed(items) if isinstance(i, Process)]
    able = [i for i in items if not i.scores.get(ORIGINAL)]
    return sorted(able, key=lambda i: (i.score, i.recorded_at, i.id))


def _summarise_folded(
    draft: Draft,
    budget: int,
    opened: JoinOpened,
    counter: Counter,
    summarise: Summarise,
) -> None:
    """Replace old turns by an extract of at most a tenth of the budget."""
    if opened.depth_level == DepthLevel.D4:
        return
    turns = sorted(draft.folded, key=lambda m: m.seq)
    text = summarise(turns, opened.lang, budget // 10 * 3)
    if not text:
        return
    item = SessionSummaryItem(
        id=derive("session-summary", opened.pack_id),
        provenance=turns[-1].provenance,
        recorded_at=turns[-1].created_at,
        reason="stands for older turns that did not fit the budget",
        text=text,
        to_seq=turns[-1].seq,
        truncated=True,
    )
    draft.summary = item.model_copy(update={"tokens": counter.count(draft.render(item))})


def _cut_longest(draft: Draft, budget: int, counter: Counter) -> None:
    """Truncate items that may not be dropped, the longest text first, until the pack fits."""
    if draft.summary is not None and draft.total() > budget:
        draft.summary = None
    for memory, items in draft.kept.items():
        for index, item in sorted(enumerate(items), key=lambda pair: -pair[1].tokens):
            over = draft.total() - budget
            name = text_field(item)
            if over <= 0:
                return
            if name is None:
                continue
            tokens = max(item.tokens - over, MIN_CUT_TOKENS)
            draft.kept[memory][index] = _cut(item, name, tokens, counter, draft.render)


def _cut(item: Item, name: str, tokens: int, counter: Counter, rendered: Callable[[Item], str]) -> Item:
    overhead = counter.count(rendered(item.model_copy(update={name: ""})))
    # Tokens do not add up exactly where two texts meet: take one off until the rendered text fits.
    for room in range(max(tokens - overhead, 1), 0, -1):
        text = counter.cut(getattr(item, name), room)
        cut = item.model_copy(update={name: text, "truncated": True})
        size = counter.count(rendered(cut))
        if size <= tokens:
            return cut.model_copy(update={"tokens": size})
    return item.model_copy(update={name: "…", "truncated": True, "tokens": overhead + 1})
