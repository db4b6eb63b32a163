"""Access, recency and token limits of ranked items."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from schemas.items import ACCESS_ORDER, AccessLevel, Item

RECENCY_WEIGHT = 0.1
RECENCY_HALF_LIFE = timedelta(days=30)


def may_see(asker: str, level: str) -> bool:
    """Whether a user of one access level may see an item of another; unknown users see `public` only."""
    return ACCESS_ORDER.get(level, len(ACCESS_ORDER)) <= ACCESS_ORDER.get(asker, 0)


def highest(levels: Iterable[AccessLevel]) -> AccessLevel:
    """The most restricted of some access levels; `public` for none."""
    return max(levels, key=ACCESS_ORDER.__getitem__, default="public")


def recency(recorded_at: datetime, as_of: datetime) -> float:
    """1 for now, one half after a half-life, towards 0; never negative."""
    age = max((as_of - recorded_at).total_seconds(), 0.0)
    return float(0.5 ** (age / RECENCY_HALF_LIFE.total_seconds()))


def fit(items: Sequence[Item], count: Callable[[Item], int], max_tokens: int | None) -> tuple[list[Item], list[Item]]:
    """The ranked items that fit a token cap, with their tokens, and those too large for the rest of it.

    The first item is always kept: the assembler truncates a single item over the cap. None: all fit.
    """
    kept: list[Item] = []
    over: list[Item] = []
    left = max_tokens
    for item in items:
        counted = item.model_copy(update={"tokens": count(item)})
        if left is None or not kept or counted.tokens <= left:
            kept.append(counted)
            left = None if left is None else left - counted.tokens
        else:
            over.append(counted)
    return kept, over
