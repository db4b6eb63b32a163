"""A pack under construction: the items of each class of memory that it keeps, and those left out with the reason."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from schemas.base import derive
from schemas.items import ConversationSummary, Item, MessageItem, SessionSummaryItem, Step
from schemas.packs import RepeatedItem
from schemas.retrieval import Dropped, JoinOpened, MemoryClass

M = MemoryClass
ORIGINAL = "original"  # score that marks the claim a correction is about
FOUND_IN = (M.SEMANTIC, M.EPISODIC)
MIN_CUT_TOKENS = 8


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


def at_hand(item: Item) -> bool:
    """Whether an item only repeats the conversation itself."""
    return isinstance(item, ConversationSummary) and item.origin == "current"


def evidence(draft: Draft) -> list[Item]:
    """The retrieved items about the question: without the conversation itself and the persona."""
    return [item for memory in (*FOUND_IN, M.PROCEDURAL, M.CLAIMS) for item in draft.kept[memory] if not at_hand(item)]


def cut_to(item: Item, name: str, tokens: int, counter: Counter, rendered: Callable[[Item], str]) -> Item:
    overhead = counter.count(rendered(item.model_copy(update={name: ""})))
    # Tokens do not add up exactly where two texts meet: take one off until the rendered text fits.
    for room in range(max(tokens - overhead, 1), 0, -1):
        text = counter.cut(getattr(item, name), room)
        cut = item.model_copy(update={name: text, "truncated": True})
        size = counter.count(rendered(cut))
        if size <= tokens:
            return cut.model_copy(update={"tokens": size})
    return item.model_copy(update={name: "…", "truncated": True, "tokens": overhead + 1})


def folded(
    draft: Draft, budget: int, opened: JoinOpened, counter: Counter, summarise: Summarise
) -> SessionSummaryItem | None:
    """An extract in place of the old turns that were dropped, of at most a tenth of the budget; None without a text."""
    turns = sorted(draft.folded, key=lambda each: each.seq)
    text = summarise(turns, opened.lang, budget // 10 * 3)
    if not text:
        return None
    item = SessionSummaryItem(
        id=derive("session-summary", opened.pack_id),
        provenance=turns[-1].provenance,
        recorded_at=turns[-1].created_at,
        reason="stands for older turns that did not fit the budget",
        text=text,
        to_seq=turns[-1].seq,
        truncated=True,
    )
    return item.model_copy(update={"tokens": counter.count(draft.render(item))})
