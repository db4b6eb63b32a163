"""Order of what was found: fused rank, a little recency, and no two items that say the same (components §2)."""

import heapq
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from agents.core import text
from schemas.items import ACCESS_ORDER, AccessLevel, Item

T = TypeVar("T")

RECENCY_WEIGHT = 0.1
RECENCY_HALF_LIFE = timedelta(days=30)
DIVERSITY = 0.25
SAME_TEXT = 0.9


def may_see(asker: str, level: str) -> bool:
    """Whether an asker of one access level may see an item of another; unknown askers see `public` only (CF-70)."""
    return ACCESS_ORDER.get(level, len(ACCESS_ORDER)) <= ACCESS_ORDER.get(asker, 0)


def highest(levels: Iterable[AccessLevel]) -> AccessLevel:
    """The most restricted of some levels; `public` of none."""
    return max(levels, key=ACCESS_ORDER.__getitem__, default="public")


def recency(recorded_at: datetime, as_of: datetime) -> float:
    """1 for now, one half after a half-life, towards 0; never negative."""
    age = max((as_of - recorded_at).total_seconds(), 0.0)
    return float(0.5 ** (age / RECENCY_HALF_LIFE.total_seconds()))


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """Shared words over all words; 0 for two empty texts."""
    shared = len(a & b)
    union = len(a) + len(b) - shared
    return shared / union if union else 0.0


def identifiers(question: str) -> frozenset[str]:
    """What a question names exactly: words with a letter and a digit, `rel_456`, `DMD.0001/26`, `PETR4`."""
    return frozenset(word for word in text.words(question) if _has(word, str.isdigit) and _has(word, str.isalpha))


def naming(wanted: frozenset[str], found: str) -> float:
    """The weight of a passage by how much of what is named exactly it has: 1 where nothing is, 2 where all is."""
    return 1.0 + len(wanted & set(text.words(found))) / len(wanted) if wanted else 1.0


def _has(word: str, kind: Callable[[str], bool]) -> bool:
    return any(map(kind, word))


def diversify(
    found: Sequence[T], *, score: Callable[[T], float], words: Callable[[T], frozenset[str]], limit: int
) -> list[T]:
    """Maximal marginal relevance: best first, each weighed against its likeness to those already chosen.

    Near-copies of a chosen one are left out; what differs in a number is none (`página 8`, `página 9`).
    """
    # Likeness only grows while others are chosen, so what was computed before is an upper bound: only the candidate on
    # top is held against the newly chosen, and stays on top or goes back (lazy greedy, Minoux 1978).
    ranked = [(-score(item), index, 0, 0.0) for index, item in enumerate(found)]
    heapq.heapify(ranked)
    chosen: list[int] = []
    texts: list[frozenset[str]] = []
    while ranked and len(chosen) < limit:
        _, index, compared, likeness = heapq.heappop(ranked)
        mine = words(found[index])
        if compared == len(chosen):
            chosen.append(index)
            texts.append(mine)
            continue
        others = texts[compared:]
        near = [jaccard(mine, seen) for seen in others]
        if not any(_same(mine, seen, much) for seen, much in zip(others, near, strict=True)):
            likeness = max(likeness, *near)
            value = score(found[index])
            heapq.heappush(ranked, (-(value - DIVERSITY * value * likeness), index, len(chosen), likeness))
    return [found[index] for index in chosen]


def _same(mine: frozenset[str], seen: frozenset[str], likeness: float) -> bool:
    return likeness >= SAME_TEXT and not any(_has(word, str.isdigit) for word in mine ^ seen)


def fit(items: Sequence[Item], count: Callable[[Item], int], max_tokens: int) -> list[Item]:
    """The best prefix of ranked items within a token cap; an item too large for what is left is passed over.

    The first item is always kept: it is the assembler that cuts a single item over the cap (CF-17).
    """
    kept: list[Item] = []
    left = max_tokens
    for item in items:
        tokens = count(item)
        if tokens <= left or not kept:
            kept.append(item.model_copy(update={"tokens": tokens}))
            left -= tokens
    return kept
