"""Fitting of a draft to its budget: the evidence that is selected, and of the conversation what has room beside it.

Old turns go before anything is cut, the oldest first, and one summary stands for them. The best evidence, the original
claim, the persona and the newest turn are never dropped, only cut, the longest first.
"""

from collections.abc import Iterable, Sequence

from agents.core.packs.draft import MIN_CUT_TOKENS, ORIGINAL, Counter, Draft, Summarise, at_hand, cut_to, folded
from agents.core.packs.rendering import text_field
from agents.core.packs.selection import AskedWords, Candidate, Kind, SelectedEvidence, select
from agents.core.retrieval import evidence
from schemas.depth import DepthLevel
from schemas.items import ClaimItem, Contradiction, Item, MessageItem, Objective, Step
from schemas.retrieval import JoinOpened, MemoryClass

M = MemoryClass
EVIDENCE = (M.SEMANTIC, M.EPISODIC, M.PROCEDURAL, M.CLAIMS)
# What a claim of the session is worth that no search has judged.
UNJUDGED = 0.1
# The share of the budget that evidence has where the conversation alone takes more than the rest.
EVIDENCE_SHARE = 0.85
_KINDS: dict[str, Kind] = {
    "claim": "claim",
    "contradiction": "claim",
    "process": "process",
    "step": "process",
    "chunk": "document",
}


def candidates(draft: Draft) -> list[Candidate]:
    """The evidence that is to be selected; what only repeats a message of the conversation is dropped."""
    messages = [item for item in draft.kept[M.WORKING_SET] if isinstance(item, MessageItem)]
    told = {_wording(each.content) for each in messages}
    found: list[tuple[MemoryClass, Item]] = []
    for memory in EVIDENCE:
        for item in [each for each in draft.kept[memory] if not at_hand(each)]:
            if memory is M.EPISODIC and _said(item) in told:
                draft.drop(memory, item, "in_working_set")
            else:
                found.append((memory, item))
    unit = _linked(item for _, item in found)
    return [Candidate(of, item, _kind(item), _probability(item), unit[item.id], _said(item)) for of, item in found]


def _said(item: Item) -> str:
    """What an item says, without who said it and however it is spaced; its id where it has no text of its own."""
    name = text_field(item)
    if name is None or isinstance(item, Step | Contradiction | ClaimItem):
        return item.id
    said = str(getattr(item, name))
    return _wording(said.partition(": ")[2] if item.type == "time_point" and item.kind == "message" else said)


def _wording(text: str) -> str:
    return " ".join(text.casefold().split())


def _kind(item: Item) -> Kind:
    if item.type == "time_point":
        return "turn" if item.kind == "message" else "event"
    if item.type in ("knowledge", "concept"):
        return "document" if item.scores else "claim"
    return _KINDS.get(item.type, "turn")


def _probability(item: Item) -> float:
    return max(item.score, UNJUDGED) if isinstance(item, ClaimItem | Contradiction) else item.score


def _linked(items: Iterable[Item]) -> dict[str, str]:
    """The unit of each item: a process and its steps, a conflict and its sides, a correction and what it corrects."""
    unit: dict[str, str] = {}
    for item in items:
        unit.setdefault(item.id, item.id)
        for other in _links(item):
            before, after = unit.setdefault(other, other), unit[item.id]
            unit = {each: after if of == before else of for each, of in unit.items()}
    return unit


def _links(item: Item) -> list[str]:
    if isinstance(item, Step):
        return [item.process_id]
    if isinstance(item, Contradiction):
        return [item.claim_id, item.contradicts]
    linked = (getattr(item, name, None) for name in ("contests", "contested_by"))
    return [each for ids in linked if ids for each in ((ids,) if isinstance(ids, str) else ids)]


def choose(draft: Draft, opened: JoinOpened) -> None:
    """Drop the evidence that is not worth its tokens."""
    _apply(draft, select(AskedWords.of(opened.query, opened.lang), candidates(draft)))


def fit(draft: Draft, budget: int, opened: JoinOpened, counter: Counter, summarise: Summarise) -> None:
    """Drop and cut until the items take no more than their budget."""
    asked = AskedWords.of(opened.query, opened.lang)
    found = candidates(draft)
    wanted = sum(each.item.tokens for each in found)
    room = min(wanted, max(budget - (draft.total() - wanted), int(budget * EVIDENCE_SHARE)))
    selected = select(asked, found, room)
    _apply(draft, selected)
    if selected.kept:
        _excerpt(draft, selected.kept[0], room, opened, counter)
    _shrink(draft, budget, opened, counter, summarise)
    _cut_longest(draft, budget, counter)


def _apply(draft: Draft, selected: SelectedEvidence) -> None:
    for candidate, why in selected.left_out:
        if not candidate.item.scores.get(ORIGINAL):
            draft.drop(candidate.memory, candidate.item, why)


def _excerpt(draft: Draft, best: Sequence[Candidate], room: int, opened: JoinOpened, counter: Counter) -> None:
    """Of the best evidence, where it is larger than its room, the sentences that cover most of the question."""
    over = sum(each.item.tokens for each in best) - room
    longest = max(best, key=lambda each: each.item.tokens)
    item, name = longest.item, text_field(longest.item)
    if over <= 0 or name is None or item.type == "time_point":  # who said a turn stands before it
        return
    said = str(getattr(item, name))
    words = len(said.split()) * max(item.tokens - over, 0) // max(item.tokens, 1)
    while words >= MIN_CUT_TOKENS:
        shown = evidence.excerpt(opened.query, opened.lang, said, opened.lang, words=words)
        cut = item.model_copy(update={name: shown, "truncated": True})
        tokens = counter.count(draft.render(cut))
        if tokens <= item.tokens - over:
            kept = draft.kept[longest.memory]
            kept[kept.index(item)] = cut.model_copy(update={"tokens": tokens})
            return
        words = words * 9 // 10


def _shrink(draft: Draft, budget: int, opened: JoinOpened, counter: Counter, summarise: Summarise) -> None:
    """Drop old turns and objectives that have no room; one summary stands for the turns where it has."""
    before = len(draft.folded)
    messages = sorted((i for i in draft.kept[M.WORKING_SET] if isinstance(i, MessageItem)), key=lambda each: each.seq)
    given_up: list[tuple[MemoryClass, Item]] = [(M.EPISODIC, item) for item in draft.kept[M.EPISODIC] if at_hand(item)]
    given_up += [(M.WORKING_SET, item) for item in messages[:-1]]
    given_up += [(M.PERSONA, item) for item in reversed(draft.kept[M.PERSONA]) if isinstance(item, Objective)]
    room = budget
    for memory, item in given_up:
        if draft.total() <= room:
            break
        if not item.tokens:
            continue
        draft.drop(memory, item, "budget")
        if isinstance(item, MessageItem) and opened.depth_level != DepthLevel.D4:
            draft.folded.append(item)
            room = budget - budget // 10
    if len(draft.folded) > before:
        _stand_for(draft, budget, opened, counter, summarise)


def _stand_for(draft: Draft, budget: int, opened: JoinOpened, counter: Counter, summarise: Summarise) -> None:
    before, draft.summary = draft.summary, folded(draft, budget, opened, counter, summarise) or draft.summary
    if draft.total() > budget:
        draft.summary = before


def _cut_longest(draft: Draft, budget: int, counter: Counter) -> None:
    """Truncate items that may not be dropped, the longest text of any class first, until the pack fits."""
    if draft.summary is not None and draft.total() > budget:
        draft.summary = None
    held = [(memory, item) for memory, items in draft.kept.items() for item in items]
    for memory, item in sorted(held, key=lambda pair: -pair[1].tokens):
        over = draft.total() - budget
        name = text_field(item)
        if over <= 0:
            return
        if name is None:
            continue
        kept = draft.kept[memory]
        cut = cut_to(item, name, max(item.tokens - over, MIN_CUT_TOKENS), counter, draft.render)
        kept[kept.index(item)] = cut
