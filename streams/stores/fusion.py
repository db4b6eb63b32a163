"""Reciprocal rank fusion of two candidate lists. Ours, because the server silently ignores weights."""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)

RRF_K = 60
CANDIDATES = 50
FIRST = 3


def fuse(lists: Mapping[str, Sequence[tuple[K, float]]], limit: int) -> list[tuple[K, float, dict[str, float]]]:
    """Candidates best first: key, fused score, and its parts by list name and `rrf`.

    Each list is best first; a candidate's score is the sum of 1 / (60 + rank) over the lists that have it. The first
    three of each list are among the candidates whatever the other says: the only passage that has a rare word may be
    like none of those that the other list is full of.
    """
    parts: dict[K, dict[str, float]] = {}
    fused: dict[K, float] = {}
    first: set[K] = set()
    for name, ranked in lists.items():
        first.update(key for key, _ in ranked[:FIRST])
        for rank, (key, score) in enumerate(ranked, start=1):
            parts.setdefault(key, {})[name] = score
            fused[key] = fused.get(key, 0.0) + 1 / (RRF_K + rank)
    # A sort is stable: of equal scores the one found first, in the first list, stays first.
    order = sorted(fused, key=fused.__getitem__, reverse=True)
    kept = {*sorted(order, key=lambda key: key not in first)[:limit]}
    best = [key for key in order if key in kept]
    return [(key, fused[key], {**parts[key], "rrf": fused[key]}) for key in best]
