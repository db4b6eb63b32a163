"""Reciprocal rank fusion of two candidate lists. Ours, because the server silently ignores weights."""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)

RRF_K = 60
CANDIDATES = 50


def fuse(lists: Mapping[str, Sequence[tuple[K, float]]], limit: int) -> list[tuple[K, float, dict[str, float]]]:
    """Candidates best first: key, fused score, and its parts by list name and `rrf`.

    Each list is best first; a candidate's score is the sum of 1 / (60 + rank) over the lists that have it.
    """
    parts: dict[K, dict[str, float]] = {}
    fused: dict[K, float] = {}
    for name, ranked in lists.items():
        for rank, (key, score) in enumerate(ranked, start=1):
            parts.setdefault(key, {})[name] = score
            fused[key] = fused.get(key, 0.0) + 1 / (RRF_K + rank)
    # A sort is stable: of equal scores the one found first, in the first list, stays first.
    best = sorted(fused, key=fused.__getitem__, reverse=True)[:limit]
    return [(key, fused[key], {**parts[key], "rrf": fused[key]}) for key in best]
