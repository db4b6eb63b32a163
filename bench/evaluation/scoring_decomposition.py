"""Scores of decompositions: sub-questions aligned with the labelled ones, over-decomposition, kinds."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from bench.evaluation.measures import Item, Pairs, Score, classes, rate, scores
from bench.evaluation.resampling import Sums

KINDS = ("bridge", "comparison")
FEW = 2


def decomposition(pairs: Pairs, draws: int) -> Iterator[Score]:
    """Aligned token F1 and number of steps; the share of simple questions divided; the kind of what has one."""
    divided = [each for each in pairs if each[0].get("sub_questions") and each[0]["kind"] != "single"]
    rows = [(item["group"], _cells(item["sub_questions"], _said(predicted))) for item, predicted in divided]
    yield from scores("", rows, _aligned, len(rows), draws)
    few = [each for each in divided if len(each[0]["sub_questions"]) <= FEW]
    if few:
        more = [len(_said(predicted)) > len(item["sub_questions"]) for item, predicted in few]
        yield rate("one or two steps", "over_decomposition", more)
    single = [_said(predicted) for item, predicted in pairs if item["kind"] == "single"]
    if single:
        yield rate("single questions", "over_decomposition", [len(said) > 1 for said in single])
    kinds = [(item["group"], item["kind"], predicted.get("kind")) for item, predicted in pairs if item["kind"] in KINDS]
    yield from classes("kind", kinds, KINDS, draws)


def _said(predicted: Item) -> list[str]:
    return [each for each in predicted.get("sub_questions", ()) if each and each.strip()]


def _cells(wanted: Sequence[str], said: Sequence[str]) -> Sums:
    return [aligned(said, wanted), float(len(said) == len(wanted)), 1.0]


def _aligned(sums: Sums) -> Mapping[str, float | None]:
    shared, same, items = sums
    return {"aligned_f1": shared / items, "step_count_accuracy": same / items} if items else {}


def aligned(said: Sequence[str], wanted: Sequence[str]) -> float:
    """Token F1 of two lists of steps, 0-1, each step with at most one of the other; the most similar first."""
    alike = sorted(
        ((_token_f1(one, other), -i, -j) for i, one in enumerate(said) for j, other in enumerate(wanted)), reverse=True
    )
    left, right, total = set[int](), set[int](), 0.0
    for score, i, j in alike:
        if score > 0 and i not in left and j not in right:
            left.add(i)
            right.add(j)
            total += score
    return 2 * total / max(1, len(said) + len(wanted))


def _token_f1(one: str, other: str) -> float:
    ours, theirs = (Counter(re.findall(r"[a-z0-9#]+", text.lower())) for text in (one, other))
    return 2 * (ours & theirs).total() / max(1, ours.total() + theirs.total())
