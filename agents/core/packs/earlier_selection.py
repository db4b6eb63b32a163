"""Selection and trimming as packs had them before `JoinOpened.selection`, so that a replay gives the same bytes.

Order of trimming: what hardly helps, of any source; low-score semantic, old episodic, procedural, old turns (replaced
by a session summary). A first round leaves each source a minimum; a second round has none.
"""

from collections.abc import Sequence

from agents.core.packs.draft import (
    FOUND_IN,
    MIN_CUT_TOKENS,
    ORIGINAL,
    Counter,
    Draft,
    Summarise,
    at_hand,
    cut_to,
    folded,
)
from agents.core.packs.rendering import text_field
from schemas.depth import DepthLevel
from schemas.items import Item, MessageItem, Objective, Process
from schemas.retrieval import JoinOpened, MemoryClass

M = MemoryClass
FLOORS = {M.SEMANTIC: 0.3, M.EPISODIC: 0.2, M.PROCEDURAL: 0.15, M.WORKING_SET: 0.15}
ORDER = (M.SEMANTIC, M.EPISODIC, M.PROCEDURAL, M.WORKING_SET, M.CLAIMS, M.PERSONA)
UNLIKELY = 0.1  # below this an item of any source goes before a likelier one of another
LIKELY = 0.5  # the least score of an item that is cut rather than dropped where it is the best
# The minimum value per token, and the factor on an item's value once the answer is probably selected: one piece of
# evidence is seldom all of it.
MIN_VALUE_PER_TOKEN = 2e-5
REDUNDANCY_FACTOR = 0.5
# Items below this share of the best probability are dropped, however short.
MIN_SHARE = 0.003


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
            if opened.depth_level != DepthLevel.D4:
                draft.summary = folded(draft, budget, opened, counter, summarise) or draft.summary


def _best(draft: Draft) -> Item | None:
    """The item most likely to answer the question, which is never dropped."""
    found = [item for memory in FOUND_IN for item in draft.kept[memory] if not at_hand(item) and item.score >= LIKELY]
    return max(found, key=lambda item: (item.score, item.recorded_at, item.id), default=None)


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
            draft.kept[memory][index] = cut_to(item, name, tokens, counter, draft.render)


def select(draft: Draft) -> None:
    """Drop items that add less than they cost; procedural items are compared among themselves only."""
    _leave_out(draft, [(memory, item) for memory in FOUND_IN for item in draft.kept[memory] if not at_hand(item)])
    _leave_out(draft, [(M.PROCEDURAL, item) for item in draft.kept[M.PROCEDURAL] if isinstance(item, Process)])


def _leave_out(draft: Draft, candidates: Sequence[tuple[MemoryClass, Item]]) -> None:
    left = 1.0
    likeliest = sorted(candidates, key=lambda pair: (pair[1].score, pair[1].recorded_at, pair[1].id), reverse=True)
    for place, (memory, item) in enumerate(likeliest):
        worth = item.score * left**REDUNDANCY_FACTOR
        whole = draft.whole(memory, item)
        cost = MIN_VALUE_PER_TOKEN * max(sum(each.tokens for each in whole), 1)
        if place and (worth < cost or item.score < MIN_SHARE * likeliest[0][1].score):
            for each in whole:
                draft.drop(memory, each, "little_worth")
        else:
            left *= 1 - min(item.score, 1.0)
