"""Scores of the tasks on single texts and pairs: context needs, contradiction, legal entities."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from streams.evaluation.measures import (
    Item,
    LabelledCall,
    Predictions,
    Score,
    binary,
    classes,
    precision_recall,
    rate,
    scores,
)
from streams.evaluation.resampling import Sums, rounded

Span = tuple[int, int, str]
NEEDS = ("greeting", "clarification", "other")
RELATIONS = ("entailment", "neutral", "contradiction")
# Counts of exact true, false and missed spans; predicted spans with and without overlap; gold spans met and missed.
CELLS = 7
# Equivalent types of another annotation scheme.
ELSEWHERE = {"LEGISLACAO": "FUNDAMENTO", "TEMPO": "DATA"}


def context_needs(items: Sequence[Item], predictions: Predictions, draws: int) -> list[Score]:
    """Class measures with false alarms; for a set of direct questions only, the share predicted as such."""
    called = [(item, predictions.get(item["id"], {}).get("label")) for item in items]
    if all(item["label"] == "direct_question" for item in items):
        simple = [label in NEEDS[:2] for _, label in called]
        direct = [label == "direct_question" for _, label in called]
        return [rate("", "recall_direct_question", direct), rate("", "called_greeting_or_clarification", simple)]
    if not any(item.get("ambiguous") for item in items):
        return _needs("", called, draws)
    clear = [(item, label) for item, label in called if not item.get("ambiguous")]
    return [*_needs("clear intents", clear, draws), *_needs("all intents", called, draws)]


def _needs(part: str, called: Sequence[tuple[Item, str | None]], draws: int) -> list[Score]:
    rows = [(item["group"], item["label"], label if label in NEEDS else "other") for item, label in called]
    alarms = [label in NEEDS[:2] for _, truth, label in rows if truth == "other"]
    return [*classes(part, rows, NEEDS, draws), rate(part, "false_alarm_on_other", alarms)]


def contradiction(items: Sequence[Item], predictions: Predictions, draws: int) -> list[Score]:
    """Three-class measures, contradiction against the rest, and false contradictions by class."""
    if not any(item.get("low_quality") for item in items):
        return _relations("", items, predictions, draws)
    clean = [item for item in items if not item.get("low_quality")]
    return [*_relations("clean", clean, predictions, draws), *_relations("all", items, predictions, draws)]


def _relations(part: str, items: Sequence[Item], predictions: Predictions, draws: int) -> list[Score]:
    named = f"{part}, contradiction".removeprefix(", ")
    rows, judged = [], []
    for item in items:
        predicted = predictions.get(item["id"], {})
        label = predicted.get("label")
        rows.append((item["group"], item["label"], label))
        truth, called = item["label"] == RELATIONS[-1], label == RELATIONS[-1]
        judged.append(LabelledCall(item["group"], truth, called, 1.0, predicted.get("score")))
    made = [*classes(part, rows, RELATIONS, draws), *binary(named, judged, draws)]
    for other in RELATIONS[:-1]:
        alarms = [label == RELATIONS[-1] for _, truth, label in rows if truth == other]
        made.append(rate(part, f"false_contradiction_on_{other}", alarms))
    return made


def legal_entities(items: Sequence[Item], predictions: Predictions, draws: int) -> list[Score]:
    """Span measures by type: exact match, and overlap with the same type."""
    names = sorted({span["type"] for item in items for span in item["spans"]})
    rows = [(item["group"], _cells(item, predictions.get(item["id"], {}), names)) for item in items]
    wanted: defaultdict[str, int] = defaultdict(int)
    for item in items:
        for span in item["spans"]:
            wanted[span["type"]] += 1
    made = []
    for at, name in enumerate(names):
        own = [(group, cells[at * CELLS : (at + 1) * CELLS]) for group, cells in rows]
        made += scores(name, own, _spans, wanted[name], draws)
    every = [(group, [sum(cells[at::CELLS]) for at in range(CELLS)]) for group, cells in rows]
    return [*made, *scores("all types", every, _spans, sum(wanted.values()), draws)]


def _cells(item: Item, predicted: Item, names: Sequence[str]) -> list[float]:
    wanted = {(span["start"], span["end"], span["type"]) for span in item["spans"]}
    called = {each for span in predicted.get("spans", ()) if (each := _read(span, item))[2] in names}
    cells = [0.0] * (CELLS * len(names))
    for span in called:
        at = CELLS * names.index(span[2])
        cells[at + (0 if span in wanted else 1)] += 1
        cells[at + (3 if _meets(span, wanted) else 4)] += 1
    for span in wanted:
        at = CELLS * names.index(span[2])
        cells[at + 2] += span not in called
        cells[at + (5 if _meets(span, called) else 6)] += 1
    return cells


def _read(span: Item, item: Item) -> Span:
    kind = span["type"]
    if item["source"].startswith("ulysses"):
        kind = ELSEWHERE.get(kind, kind)
    return int(span["start"]), int(span["end"]), str(kind)


def _meets(span: Span, others: set[Span]) -> bool:
    return any(span[2] == kind and span[0] < end and start < span[1] for start, end, kind in others)


def _spans(sums: Sums) -> Mapping[str, float | None]:
    precision, recall, f1 = precision_recall(*sums[:3])
    near = sums[3] / (sums[3] + sums[4]) if sums[3] + sums[4] else 0.0
    met = sums[5] / (sums[5] + sums[6]) if sums[5] + sums[6] else 0.0
    return {
        "strict_precision": precision,
        "strict_recall": recall,
        "strict_f1": f1,
        "relaxed_precision": rounded(near),
        "relaxed_recall": rounded(met),
        "relaxed_f1": 2 * near * met / (near + met) if near + met else 0.0,
    }
