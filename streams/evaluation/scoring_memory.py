"""Scores of memory retrieval and of tool arguments."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from streams.evaluation.measures import Item, Predictions, Score, precision_recall, rate, scores
from streams.evaluation.resampling import Sums, rounded
from streams.evaluation.words import tokens

BUDGETS = (256, 512, 1024, 2048)
CUTS = (1, 5, 10)
DEEPEST = 10
WITH_INTERVAL = ("ndcg@10", "recall@5", "recall@10")


def memory_retrieval(items: Sequence[Item], predictions: Predictions, draws: int) -> list[Score]:
    """Recall, nDCG and MRR, and recall within token budgets; over all queries, and by category."""
    rows = [row for corpus in items for row in _queries(corpus, predictions)]
    made = _means("", rows)
    whole = [(group, _sums(measured)) for group, measured, _ in rows if measured["recall@5"] is not None]
    intervals = {score.measure: score.ci95 for score in scores("", whole, _interval, len(rows), draws)}
    made = [Score(s.part, s.measure, s.value, s.n, intervals.get(s.measure)) for s in made]
    names = sorted({query["category"] for _, _, query in rows})
    by_category = [_means(name, [row for row in rows if row[2]["category"] == name]) for name in names]
    if len(names) > 1:
        gains = [score.value or 0.0 for each in by_category for score in each if score.measure == "ndcg@10"]
        made.append(Score("", "ndcg@10_mean_over_categories", rounded(sum(gains) / len(gains)), len(rows)))
    if any(query.get("audited_error") for _, _, query in rows):
        made += _means("without audited errors", [row for row in rows if not row[2].get("audited_error")])
    return [*made, *(score for each in by_category for score in each)]


Measured = dict[str, float | None]
Row = tuple[str, Measured, Item]


def _queries(corpus: Item, predictions: Predictions) -> Iterator[Row]:
    costs = {document["id"]: tokens(_rendered(document)) for document in corpus["documents"]}
    for query in corpus["queries"]:
        predicted = predictions.get(query["id"], {})
        ranked = [name for name in dict.fromkeys(predicted.get("ranked", ())) if name in costs]
        yield query.get("group", corpus["group"]), _measured(query, ranked, predicted, costs), query


def _rendered(document: Item) -> str:
    """The text of a document in a pack: its date, its speaker, its text."""
    at, speaker = document.get("at_text"), document.get("speaker")
    return f"{f'{at} ' if at else ''}{f'{speaker}: ' if speaker else ''}{document['text']}"


def _measured(query: Item, ranked: Sequence[str], predicted: Item, costs: Mapping[str, int]) -> Measured:
    wanted, grades = set(query["relevant"]), query.get("grades")

    def recall(found: Sequence[str]) -> float | None:
        return len(set(found) & wanted) / len(wanted) if wanted else None

    made: Measured = {f"recall@{cut}": recall(ranked[:cut]) for cut in CUTS}
    if grades:
        made["ndcg@10"] = gain(
            ranked, lambda name: 2.0 ** grades[name] - 1, [2.0**each - 1 for each in grades.values()]
        )
    else:
        made["ndcg@10"] = gain(ranked, lambda name: float(name in wanted), [1.0] * len(wanted))
    first = next((1 / rank for rank, name in enumerate(ranked, 1) if name in wanted), 0.0)
    made["mrr"] = first if wanted else None
    packs = predicted.get("packs") or {}
    for budget in BUDGETS:
        pack = packs.get(str(budget))
        made[f"recall_under_{budget}_tokens"] = recall(_prefix(ranked, costs, budget) if pack is None else pack)
    return made


def _prefix(ranked: Sequence[str], costs: Mapping[str, int], budget: int) -> list[str]:
    taken: list[str] = []
    for name in ranked:
        budget -= costs[name]
        if budget < 0:
            break
        taken.append(name)
    return taken


def gain(ranked: Sequence[str], of: Callable[[str], float], ideal: Sequence[float]) -> float:
    """The nDCG of the first ten."""
    made = sum(of(name) / math.log2(at + 2) for at, name in enumerate(ranked[:DEEPEST]))
    best = sum(each / math.log2(at + 2) for at, each in enumerate(sorted(ideal, reverse=True)[:DEEPEST]))
    return made / best if best else 1.0


def _means(part: str, rows: Sequence[Row]) -> list[Score]:
    made = []
    for name in rows[0][1] if rows else ():
        values = [measured[name] for _, measured, _ in rows]
        known = [value for value in values if value is not None]
        made.append(Score(part, name, rounded(sum(known) / len(known)) if known else None, len(known)))
    return made


def _sums(measured: Measured) -> Sums:
    return [*(measured[name] or 0.0 for name in WITH_INTERVAL), 1.0]


def _interval(sums: Sums) -> Mapping[str, float | None]:
    return {name: value / sums[-1] for name, value in zip(WITH_INTERVAL, sums, strict=False)}


# --- tool arguments


def tool_arguments(items: Sequence[Item], predictions: Predictions, draws: int) -> list[Score]:
    """Argument accuracy, questions asked, hallucinated and overwritten values, and exact calls."""
    outcomes = [CallOutcome(item, predictions.get(item["id"], {})) for item in items]
    rows = [(item["group"], _call_sums(item, each)) for item, each in zip(items, outcomes, strict=True)]
    made = scores("", rows, _calls, len(items), draws)
    filled = sum(len(each.filled) for each in outcomes)
    wrong = sum(name in each.filled and not right for each in outcomes for name, right in each.right.items())
    extra = sum(len(each.extra) for each in outcomes)
    made.append(Score("", "hallucinated_argument_rate", rounded(extra / filled) if filled else 0.0, filled))
    made.append(Score("", "wrong_value_rate", rounded(wrong / filled) if filled else 0.0, filled))
    traps = [bool(set(item["ask"]) & set(o.filled)) for item, o in zip(items, outcomes, strict=True) if item["trap"]]
    made.append(rate("", "traps_filled", traps))
    overwritten = sum(each.overwritten for each in outcomes)
    made.append(Score("", "explicit_values_overwritten", float(overwritten), filled))
    made += _by(items, outcomes, "origin") + _by(items, outcomes, "evidence")
    for kind in sorted({item["kind"] for item in items}):
        made.append(
            rate(kind, "whole_call_exact", [o.exact for i, o in zip(items, outcomes, strict=True) if i["kind"] == kind])
        )
    return made


class CallOutcome:
    """The outcome of a prediction for one call."""

    def __init__(self, item: Item, predicted: Item) -> None:
        self.filled = {name: value for name, value in (predicted.get("filled") or {}).items() if value is not None}
        self.asks = bool(predicted.get("ask") or [])
        self.right = {name: self._is_right(item, name, value) for name, value in item["expected"].items()}
        given, unwanted = item["call"]["args"], set(self.filled) - set(item["expected"])
        self.overwritten = sum(not same(self.filled[name], given[name]) for name in set(self.filled) & set(given))
        self.extra = unwanted - set(given)
        self.exact = all(self.right.values()) and not self.extra and self.asks == item["must_ask"]

    def _is_right(self, item: Item, name: str, value: object) -> bool:
        accepted = [value, *item["accept"].get(name, ())]
        return name in self.filled and any(same(self.filled[name], each) for each in accepted)


def _call_sums(item: Item, outcome: CallOutcome) -> Sums:
    must, asks = item["must_ask"], outcome.asks
    asked = [must and asks, not must and asks, must and not asks]
    return [float(each) for each in (*asked, outcome.exact, 1, sum(outcome.right.values()), len(outcome.right))]


def _calls(sums: Sums) -> Mapping[str, float | None]:
    precision, recall, f1 = precision_recall(*sums[:3])
    return {
        "argument_accuracy": sums[5] / sums[6] if sums[6] else None,
        "ask_precision": precision,
        "ask_recall": recall,
        "ask_f1": f1,
        "whole_call_exact": sums[3] / sums[4],
    }


def _by(items: Sequence[Item], outcomes: Sequence[CallOutcome], field: str) -> list[Score]:
    rights: defaultdict[str, list[bool]] = defaultdict(list)
    for item, outcome in zip(items, outcomes, strict=True):
        for name, right in outcome.right.items():
            rights[item[field][name]].append(right)
    return [rate(f"{field} {name}", "argument_accuracy", each) for name, each in sorted(rights.items())]


def same(one: object, other: object) -> bool:
    """Whether two values are equal, regardless of notation."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    written, wanted = str(one).strip().casefold(), str(other).strip().casefold()
    if written == wanted:
        return True
    try:
        return not isinstance(one, bool) and not isinstance(other, bool) and float(written) == float(wanted)
    except ValueError:
        return False
