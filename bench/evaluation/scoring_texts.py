"""Scores of the tasks on single texts and pairs: context needs, contradiction, legal entities."""

from collections.abc import Iterator, Mapping, Sequence

from bench.evaluation.measures import (
    Item,
    LabelledCall,
    Pairs,
    Score,
    binary,
    classes,
    precision_recall,
    rate,
    scores,
)
from bench.evaluation.resampling import Sums

Span = tuple[int, int, str]
NEEDS = ("greeting", "clarification", "other")
RELATIONS = ("entailment", "neutral", "contradiction")
# Equivalent types of another annotation scheme.
ELSEWHERE = {"LEGISLACAO": "FUNDAMENTO", "TEMPO": "DATA"}


def context_needs(pairs: Pairs, draws: int) -> Iterator[Score]:
    """Class measures with false alarms; for a set of direct questions only, the share predicted as such."""
    if all(item["label"] == "direct_question" for item, _ in pairs):
        labels = [predicted.get("label") for _, predicted in pairs]
        yield rate("", "recall_direct_question", [label == "direct_question" for label in labels])
        yield rate("", "called_greeting_or_clarification", [label in NEEDS[:2] for label in labels])
        return
    clear = [(item, predicted) for item, predicted in pairs if not item.get("ambiguous")]
    parts = {"": pairs} if len(clear) == len(pairs) else {"clear intents": clear, "all intents": pairs}
    for part, chosen in parts.items():
        rows = []
        for item, predicted in chosen:
            label = predicted.get("label")
            rows.append((item["group"], item["label"], label if label in NEEDS else "other"))
        yield from classes(part, rows, NEEDS, draws)
        yield rate(part, "false_alarm_on_other", [label in NEEDS[:2] for _, truth, label in rows if truth == "other"])


def contradiction(pairs: Pairs, draws: int) -> Iterator[Score]:
    """Three-class measures, contradiction against the rest, and false contradictions by class."""
    clean = [(item, predicted) for item, predicted in pairs if not item.get("low_quality")]
    parts = {"": pairs} if len(clean) == len(pairs) else {"clean": clean, "all": pairs}
    for part, chosen in parts.items():
        rows = [(item["group"], item["label"], predicted.get("label")) for item, predicted in chosen]
        judged = [
            LabelledCall(group, truth == RELATIONS[-1], label == RELATIONS[-1], 1.0, predicted.get("score"))
            for (group, truth, label), (_, predicted) in zip(rows, chosen, strict=True)
        ]
        yield from classes(part, rows, RELATIONS, draws)
        yield from binary(f"{part}, contradiction".removeprefix(", "), judged, draws)
        for other in RELATIONS[:-1]:
            alarms = [label == RELATIONS[-1] for _, truth, label in rows if truth == other]
            yield rate(part, f"false_contradiction_on_{other}", alarms)


def legal_entities(pairs: Pairs, draws: int) -> Iterator[Score]:
    """Span measures by type: exact match, and overlap with the same type."""
    read = [
        (item["group"], _spans_of(item["spans"]), _spans_of(predicted.get("spans", ()), item.get("source", "")))
        for item, predicted in pairs
    ]
    kinds = [span["type"] for item, _ in pairs for span in item["spans"]]
    names = sorted(set(kinds))
    for part, chosen in (*((name, [name]) for name in names), ("all types", names)):
        rows = [(group, _cells(*({s for s in each if s[2] in chosen} for each in spans))) for group, *spans in read]
        yield from scores(part, rows, _spans, sum(kind in chosen for kind in kinds), draws)


def _spans_of(spans: Sequence[Item], source: str = "") -> set[Span]:
    same = ELSEWHERE if source.startswith("ulysses") else {}
    return {(int(each["start"]), int(each["end"]), str(same.get(each["type"], each["type"]))) for each in spans}


def _cells(wanted: set[Span], called: set[Span]) -> Sums:
    """Counts of exact true, false and missed spans; predicted spans with and without overlap; gold spans likewise."""
    exact = len(wanted & called)
    near, met = (sum(_meets(s, those) for s in these) for these, those in ((called, wanted), (wanted, called)))
    return [exact, len(called) - exact, len(wanted) - exact, near, len(called) - near, met, len(wanted) - met]


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
        "relaxed_precision": near,
        "relaxed_recall": met,
        "relaxed_f1": 2 * near * met / (near + met) if near + met else 0.0,
    }
