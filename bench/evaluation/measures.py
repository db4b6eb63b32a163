"""Measures of predictions against labels: precision and recall, curves, classes; with intervals by group."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bench.evaluation.resampling import Statistic, Sums, intervals, rounded
from schemas.base import JsonObject

# A line of labelled items or of predictions, parsed from JSON; an item with its prediction, empty where it is missing.
Item = JsonObject
Pairs = Sequence[tuple[Item, Item]]
FALSE_ALARMS = 0.01
EXACTLY = 1e-12
# Truth and call of true positives, false positives, false negatives, true negatives.
OUTCOMES = ((True, True), (False, True), (True, False), (False, False))


@dataclass(slots=True)
class Score:
    """One figure, rounded, of one part of a data set; `part` is empty for the whole set, `n` is the number of items."""

    part: str
    measure: str
    value: float | None
    n: int
    ci95: list[float] | None = None

    def __post_init__(self) -> None:
        self.value = rounded(self.value)


class LabelledCall(NamedTuple):
    """A binary label with its prediction; `weight` is the number of items it represents."""

    group: str
    truth: bool
    called: bool
    weight: float = 1.0
    score: float | None = None


def precision_recall(true: float, false: float, missed: float) -> tuple[float, float, float]:
    """Precision, recall and F1; 0 for a zero denominator."""
    precision = true / (true + false) if true + false else 0.0
    recall = true / (true + missed) if true + missed else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def scores(part: str, rows: Sequence[tuple[str, Sums]], statistic: Statistic, n: int, draws: int) -> Iterator[Score]:
    """The figures of a statistic over the rows, with their intervals."""
    if rows:
        found = intervals(rows, statistic, draws)
        whole = statistic([sum(column) for column in zip(*(sums for _, sums in rows), strict=True)])
        yield from (Score(part, name, value, n, found.get(name)) for name, value in whole.items())


def binary(part: str, rows: Sequence[LabelledCall], draws: int) -> Iterator[Score]:
    """Precision, recall, F1, balanced accuracy, false alarms; with scores also the ranking measures."""
    cells = [(row.group, [row.weight * (each == (row.truth, row.called)) for each in OUTCOMES]) for row in rows]
    yield from scores(part, cells, _binary, len(rows), draws)
    if rows and all(row.score is not None for row in rows):
        yield Score(part, "average_precision", average_precision(rows), len(rows))
        yield Score(part, "recall_at_1pct_false_alarm", recall_at_false_alarms(rows), len(rows))


def _binary(sums: Sums) -> Mapping[str, float | None]:
    true, false, missed, negative = sums
    precision, recall, f1 = precision_recall(true, false, missed)
    quiet = negative / (negative + false) if negative + false else None
    return {
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "balanced_accuracy": None if quiet is None or not true + missed else (recall + quiet) / 2,
        "false_alarm_rate": None if quiet is None else 1 - quiet,
    }


def _levels(rows: Sequence[LabelledCall]) -> Iterable[tuple[float, float]]:
    """Cumulative positives and negatives down to each distinct score, highest first."""
    true = false = 0.0
    ordered = sorted(rows, key=lambda row: -(row.score or 0.0))
    for at, row in enumerate(ordered):
        true, false = true + row.weight * row.truth, false + row.weight * (not row.truth)
        if at + 1 == len(ordered) or ordered[at + 1].score != row.score:
            yield true, false


def average_precision(rows: Sequence[LabelledCall]) -> float | None:
    """The area under the precision-recall step function; None without a positive."""
    positives = sum(row.weight for row in rows if row.truth)
    if not positives:
        return None
    area = before = 0.0
    for true, false in _levels(rows):
        area += (true / positives - before) * (true / (true + false))
        before = true / positives
    return area


def recall_at_false_alarms(rows: Sequence[LabelledCall], limit: float = FALSE_ALARMS) -> float | None:
    """The best recall of a threshold with a false-positive rate of at most `limit`."""
    positives = sum(row.weight for row in rows if row.truth)
    negatives = sum(row.weight for row in rows if not row.truth)
    if not positives or not negatives:
        return None
    allowed = (true / positives for true, false in _levels(rows) if false / negatives <= limit + EXACTLY)
    return max(allowed, default=0.0)


def classes(
    part: str, rows: Sequence[tuple[str, str, str | None]], names: Sequence[str], draws: int
) -> Iterator[Score]:
    """Accuracy, macro F1 and F1 per class from (group, label, called); an unknown predicted label is only a miss."""
    if not rows:
        return

    def counted(label: str, called: str | None) -> Sums:
        cells = [0.0] * (3 * len(names))
        cells[names.index(label) * 3 + (0 if label == called else 2)] = 1.0
        if label != called and called in names:
            cells[names.index(called) * 3 + 1] = 1.0
        return cells

    def statistic(sums: Sums) -> Mapping[str, float | None]:
        each = {f"f1 of {name}": precision_recall(*sums[at * 3 : at * 3 + 3])[2] for at, name in enumerate(names)}
        return {"macro_f1": sum(each.values()) / len(names), **each}

    yield rate(part, "accuracy", [label == called for _, label, called in rows])
    yield from scores(
        part, [(group, counted(label, called)) for group, label, called in rows], statistic, len(rows), draws
    )


def rate(part: str, measure: str, rights: Sequence[bool]) -> Score:
    """The share of correct items."""
    return Score(part, measure, sum(rights) / len(rights) if rights else None, len(rights))
