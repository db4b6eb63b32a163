"""Confidence intervals by cluster bootstrap: items of one group (a dialogue, a document) are drawn together."""

import random
from collections.abc import Callable, Mapping, Sequence

Sums = Sequence[float]
Statistic = Callable[[Sums], Mapping[str, float | None]]
DRAWS = 400
LOW = 0.025
DIGITS = 4


def rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


def intervals(rows: Sequence[tuple[str, Sums]], statistic: Statistic, draws: int = DRAWS) -> dict[str, list[float]]:
    """The 95 % interval of each figure of `statistic` over summed rows; none for a single group.

    A row is its group and its contribution to each sum.
    """
    groups: dict[str, list[float]] = {}
    for group, sums in rows:
        known = groups.get(group)
        groups[group] = list(sums) if known is None else [a + b for a, b in zip(known, sums, strict=True)]
    if len(groups) < 2 or not draws:
        return {}
    blocks = [groups[name] for name in sorted(groups)]
    chance, drawn = random.Random(0), dict[str, list[float]]()
    for _ in range(draws):
        totals = [sum(column) for column in zip(*chance.choices(blocks, k=len(blocks)), strict=True)]
        for name, value in statistic(totals).items():
            if value is not None:
                drawn.setdefault(name, []).append(value)
    return {name: _between(sorted(values)) for name, values in drawn.items()}


def _between(ordered: list[float]) -> list[float]:
    last = len(ordered) - 1
    return [round(ordered[int(LOW * last)], DIGITS), round(ordered[-1 - int(LOW * last)], DIGITS)]


def share(rows: Sequence[tuple[str, float]], draws: int = DRAWS) -> dict[str, object]:
    """The mean of one number per question, with its count and interval."""
    blocks = [(group, (value, 1.0)) for group, value in rows]
    interval = intervals(blocks, lambda sums: {"mean": sums[0] / sums[1]}, draws).get("mean")
    mean = sum(value for _, value in rows) / len(rows) if rows else None
    return {"value": rounded(mean), "n": len(rows), "ci95": interval}


def shares(rows: Sequence[tuple[str, Sums]], statistic: Statistic) -> dict[str, object]:
    """The figures of `statistic` over summed rows, each with its count and interval."""
    found = statistic([sum(column) for column in zip(*(sums for _, sums in rows), strict=True)]) if rows else {}
    between = intervals(rows, statistic)
    return {name: {"value": rounded(value), "n": len(rows), "ci95": between.get(name)} for name, value in found.items()}
