"""Scores of the depth tasks: question type, follow-up, correction, topic shift."""

from collections.abc import Mapping, Sequence

from streams.evaluation.measures import (
    Item,
    LabelledCall,
    Predictions,
    Score,
    average_precision,
    binary,
    precision_recall,
    rate,
    scores,
)
from streams.evaluation.resampling import Sums, rounded

LEAST_WINDOW = 2


def _judged(item: Item, predictions: Predictions, truth: str, called: str) -> LabelledCall:
    predicted = predictions.get(item["id"], {})
    return LabelledCall(
        item["group"], bool(item[truth]), bool(predicted.get(called)), item.get("weight", 1.0), predicted.get("score")
    )


def depth_question_type(items: Sequence[Item], predictions: Predictions, draws: int) -> list[Score]:
    """D2 against all other levels, and the rate of correct answers by category."""
    rows = []
    for item in items:
        predicted = predictions.get(item["id"], {})
        called = predicted.get("label") == "D2"
        rows.append((item, LabelledCall(item["group"], item["label"] == "D2", called, 1.0, predicted.get("score"))))
    made = binary("", [row for _, row in rows], draws)
    for category in sorted({item["category"] for item in items}):
        rights = [row.truth == row.called for item, row in rows if item["category"] == category]
        made.append(rate(category, "right", rights))
    # Nearly all D0 labels are marked as automatic by the authors: the few labelled by people are scored separately.
    people = [(i, row) for i, row in rows if i.get("annotated_by", "unsupervised") != "unsupervised"]
    for label in ("D0", "D2") if people else ():
        rights = [row.truth == row.called for item, row in people if item["label"] == label]
        made.append(rate(f"labelled by people, {label}", "right", rights))
    return [*made, *reliability(items, predictions)]


def reliability(items: Sequence[Item], predictions: Predictions) -> list[Score]:
    """The calibration: the rate of correct decisions by confidence, which should agree."""
    made: dict[int, list[bool]] = {}
    for item in items:
        predicted = predictions.get(item["id"], {})
        if "confidence" in predicted:
            tenth = min(int(predicted["confidence"] * 10), 9)
            made.setdefault(tenth, []).append(predicted.get("label") == item["label"])
    return [
        rate(f"confidence {tenth / 10:.1f} to {(tenth + 1) / 10:.1f}", "right", made[tenth]) for tenth in sorted(made)
    ]


def depth_followup(items: Sequence[Item], predictions: Predictions, draws: int) -> list[Score]:
    """Scores on later turns and on all turns, where "not the first" already predicts most."""
    rows = [(item, _judged(item, predictions, "needs_context", "needs_context")) for item in items]
    later = [row for item, row in rows if not item["first_turn"]]
    return [*binary("later turns", later, draws), *binary("all turns", [row for _, row in rows], draws)]


def depth_correction(items: Sequence[Item], predictions: Predictions, draws: int) -> list[Score]:
    """All turns at their true share, corrections against other negations, and false alarms by kind."""
    rows = [(item, _judged(item, predictions, "correction", "correction")) for item in items]
    made = binary("", [row for item, row in rows if not item.get("extra_repair")], draws)
    if any(item["hard"] for item in items):
        made += binary("hard", [row for item, row in rows if item["correction"] or item["hard"]], draws)
    for kind in sorted({item["label"] for item in items if not item["correction"]}):
        made.append(rate(kind, "false_alarm_rate", [r.called for i, r in rows if i["label"] == kind and not r.truth]))
    return made


def depth_topic_shift(items: Sequence[Item], predictions: Predictions, draws: int) -> list[Score]:
    """Boundaries, exact and within one turn; mean Pk and WindowDiff per dialogue, with those of no boundaries."""
    rows: list[tuple[str, Sums]] = []
    ordered: list[LabelledCall] = []
    scored = True
    for item in items:
        size, wanted = len(item["turns"]), set(item["shifts"])
        predicted = predictions.get(item["id"], {})
        called = {int(at) for at in predicted.get("shifts", ()) if 0 < int(at) < size}
        near = within_one(wanted, called)
        exact = len(wanted & called)
        sums = [exact, len(called) - exact, len(wanted) - exact, near, len(called) - near, len(wanted) - near]
        rows.append(
            (item["group"], [*sums, *window_errors(wanted, called, size), *window_errors(wanted, set(), size), 1])
        )
        weights = predicted.get("scores") or ()
        scored = scored and len(weights) == size
        ordered += [LabelledCall("", at in wanted, False, 1.0, float(weights[at])) for at in range(1, size) if scored]
    made = scores("", rows, _boundaries, len(items), draws)
    if scored and ordered:
        made.append(Score("", "average_precision", rounded(average_precision(ordered)), len(ordered)))
    return made


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
