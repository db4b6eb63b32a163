"""Selection of the evidence for a pack: best first, until the next item adds less than it costs.

The value of an item is the probability that it helps times the probability that the items already selected do not; its
cost are its tokens. A short correct answer is better than a full budget.
"""

from collections.abc import Sequence

from agents.core.packs.trimming import FOUND_IN, Draft, at_hand
from schemas.items import Item, Process
from schemas.retrieval import MemoryClass

M = MemoryClass
# The minimum value per token, and the factor on an item's value once the answer is probably selected: one piece of
# evidence is seldom all of it.
MIN_VALUE_PER_TOKEN = 2e-5
REDUNDANCY_FACTOR = 0.5
# Items below this share of the best probability are dropped, however short.
MIN_SHARE = 0.003


def evidence(draft: Draft) -> list[Item]:
    """The retrieved items about the question: without the conversation itself and the persona."""
    return [item for memory in (*FOUND_IN, M.PROCEDURAL, M.CLAIMS) for item in draft.kept[memory] if not at_hand(item)]


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
