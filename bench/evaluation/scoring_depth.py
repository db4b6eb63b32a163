"""Scores of the depth tasks: question type, follow-up, correction, topic shift."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from bench.evaluation.measures import (
    Item,
    LabelledCall,
    Pairs,
    Score,
    average_precision,
    binary,
    precision_recall,
    rate,
    scores,
)
from bench.evaluation.resampling import Sums

LEAST_WINDOW = 2


def depth_question_type(pairs: Pairs, draws: int) -> Iterator[Score]:
    """D2 against all other levels, and the rate of correct answers by category, by people's labels, by confidence."""
    parts: defaultdict[str, list[bool]] = defaultdict(list)
    sure: defaultdict[int, list[bool]] = defaultdict(list)
    people: defaultdict[str, list[bool]] = defaultdict(list)
    rows = []
    for item, predicted in pairs:
        label, called = item["label"], predicted.get("label")
        row = LabelledCall(item["group"], label == "D2", called == "D2", 1.0, predicted.get("score"))
        rows.append(row)
        parts[item["category"]].append(row.truth == row.called)
        # Nearly all D0 labels are marked as automatic by the authors: the few labelled by people are scored separately.
        if item.get("annotated_by", "unsupervised") != "unsupervised":
            people[label].append(row.truth == row.called)
        if "confidence" in predicted:
            sure[min(int(predicted["confidence"] * 10), 9)].append(called == label)
    yield from binary("", rows, draws)
    yield from (rate(category, "right", parts[category]) for category in sorted(parts))
    yield from (rate(f"labelled by people, {label}", "right", people[label]) for label in ("D0", "D2") if people)
    for tenth in sorted(sure):
        yield rate(f"confidence {tenth / 10:.1f} to {(tenth + 1) / 10:.1f}", "right", sure[tenth])


def _judged(item: Item, predicted: Item, name: str) -> LabelledCall:
    truth, called = bool(item[name]), bool(predicted.get(name))
    return LabelledCall(item["group"], truth, called, item.get("weight", 1.0), predicted.get("score"))


def depth_followup(pairs: Pairs, draws: int) -> Iterator[Score]:
    """Scores on later turns and on all turns, where "not the first" already predicts most."""
    rows = [(item, _judged(item, predicted, "needs_context")) for item, predicted in pairs]
    yield from binary("later turns", [row for item, row in rows if not item["first_turn"]], draws)
    yield from binary("all turns", [row for _, row in rows], draws)


def depth_correction(pairs: Pairs, draws: int) -> Iterator[Score]:
    """All turns at their true share, corrections against other negations, and false alarms by kind."""
    rows = [(item, _judged(item, predicted, "correction")) for item, predicted in pairs]
    yield from binary("", [row for item, row in rows if not item.get("extra_repair")], draws)
    if any(item["hard"] for item, _ in rows):
        yield from binary("hard", [row for item, row in rows if row.truth or item["hard"]], draws)
    for kind in sorted({item["label"] for item, row in rows if not row.truth}):
        alarms = [row.called for item, row in rows if item["label"] == kind and not row.truth]
        yield rate(kind, "false_alarm_rate", alarms)


def depth_topic_shift(pairs: Pairs, draws: int) -> Iterator[Score]:
    """Boundaries, exact and within one turn; mean Pk and WindowDiff per dialogue, with those of no boundaries."""
    rows: list[tuple[str, Sums]] = []
    ordered: list[LabelledCall] = []
    for item, predicted in pairs:
        size, wanted = len(item["turns"]), set(item["shifts"])
        called = {int(at) for at in predicted.get("shifts", ()) if 0 < int(at) < size}
        cells = [
            count
            for met in (len(wanted & called), within_one(wanted, called))
            for count in (met, len(called) - met, len(wanted) - met)
        ]
        differ = (*window_errors(wanted, called, size), *window_errors(wanted, set(), size))
        rows.append((item["group"], [*cells, *differ, 1]))
        weights = predicted.get("scores") or ()
        ordered += [LabelledCall("", at in wanted, False, 1.0, float(weights[at])) for at in range(1, len(weights))]
    yield from scores("", rows, _boundaries, len(rows), draws)
    if ordered and all(len(predicted.get("scores") or ()) == len(item["turns"]) for item, predicted in pairs):
        yield Score("", "average_precision", average_precision(ordered), len(ordered))


def _boundaries(sums: Sums) -> Mapping[str, float | None]:
    precision, recall, f1 = precision_recall(*sums[:3])
    dialogues = sums[10]
    return {
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "f1_within_1": precision_recall(*sums[3:6])[2],
        "pk": sums[6] / dialogues,
        "windowdiff": sums[7] / dialogues,
        "pk_of_never": sums[8] / dialogues,
        "windowdiff_of_never": sums[9] / dialogues,
    }


def window_errors(wanted: set[int], called: set[int], size: int) -> tuple[float, float]:
    """Pk and WindowDiff: the share of windows (half a mean segment) that differ in having, or counting, boundaries."""
    # A boundary follows turn i where turn i + 1 opens a topic.
    reference = [int(at + 1 in wanted) for at in range(size)]
    made = [int(at + 1 in called) for at in range(size)]
    width = max(LEAST_WINDOW, round(size / (2 * (sum(reference) + 1))))
    pairs = [(sum(reference[at : at + width]), sum(made[at : at + width])) for at in range(size - width)]
    if not pairs:
        return 0.0, 0.0
    differ = sum((a == 0) != (b == 0) for a, b in pairs)
    return differ / len(pairs), sum(a != b for a, b in pairs) / len(pairs)


def within_one(wanted: set[int], called: set[int]) -> int:
    """The number of boundaries matched one to one at most a turn apart, nearest first."""
    pairs = sorted((abs(a - b), a, b) for a in wanted for b in called if abs(a - b) <= 1)
    taken_a, taken_b = set[int](), set[int]()
    for _, a, b in pairs:
        if a not in taken_a and b not in taken_b:
            taken_a.add(a)
            taken_b.add(b)
    return len(taken_a)
