"""Scores of memory retrieval and of tool arguments."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from bench.evaluation.measures import Item, Pairs, Score, precision_recall, rate, scores
from bench.evaluation.resampling import Sums, intervals
from bench.evaluation.words import tokens, within

BUDGETS = (256, 512, 1024, 2048)
CUTS = (1, 5, 10)
DEEPEST = 10
WITH_INTERVAL = ("ndcg@10", "recall@5", "recall@10")
Measured = dict[str, float | None]
Row = tuple[Item, str, Measured]


def memory_retrieval(pairs: Pairs, draws: int) -> Iterator[Score]:
    """Recall, nDCG and MRR, and recall within token budgets; over all queries, and by category."""
    rows = [
        (query, query.get("group", corpus["group"]), measured)
        for corpus, predictions in pairs
        for query, measured in _queries(corpus, predictions)
    ]
    known = [
        (group, [*(measured[name] or 0.0 for name in WITH_INTERVAL), 1.0])
        for _, group, measured in rows
        if measured["recall@5"] is not None
    ]
    found = intervals(known, lambda sums: {name: sums[at] / sums[-1] for at, name in enumerate(WITH_INTERVAL)}, draws)
    yield from _means("", rows, found)
    names = sorted({query["category"] for query, *_ in rows})
    by_category = [list(_means(name, [row for row in rows if row[0]["category"] == name])) for name in names]
    if len(names) > 1:
        gains = [score.value or 0.0 for each in by_category for score in each if score.measure == "ndcg@10"]
        yield Score("", "ndcg@10_mean_over_categories", sum(gains) / len(gains), len(rows))
    if any(query.get("audited_error") for query, *_ in rows):
        yield from _means("without audited errors", [row for row in rows if not row[0].get("audited_error")])
    yield from (score for each in by_category for score in each)


def _queries(corpus: Item, predictions: Mapping[str, Item]) -> Iterator[tuple[Item, Measured]]:
    costs = {document["id"]: tokens(_rendered(document)) for document in corpus["documents"]}
    for query in corpus["queries"]:
        predicted = predictions.get(query["id"], {})
        ranked = [name for name in dict.fromkeys(predicted.get("ranked", ())) if name in costs]
        packs = predicted.get("packs") or {}
        packed = {size: packs.get(str(size)) for size in BUDGETS}
        held = {s: within(ranked, s, costs.__getitem__) if each is None else each for s, each in packed.items()}
        yield query, _measured(query, ranked, held)


def _rendered(document: Item) -> str:
    """The text of a document in a pack: its date, its speaker, its text."""
    at, speaker = document.get("at_text"), document.get("speaker")
    return f"{f'{at} ' if at else ''}{f'{speaker}: ' if speaker else ''}{document['text']}"


def _measured(query: Item, ranked: Sequence[str], packs: Mapping[int, Sequence[str]]) -> Measured:
    wanted, grades = set(query["relevant"]), query.get("grades")

    def recall(found: Sequence[str]) -> float | None:
        return len(set(found) & wanted) / len(wanted) if wanted else None

    gains = {name: 2.0**grade - 1 for name, grade in grades.items()} if grades else dict.fromkeys(wanted, 1.0)
    best = _gain(sorted(gains.values(), reverse=True))
    return {
        **{f"recall@{cut}": recall(ranked[:cut]) for cut in CUTS},
        "ndcg@10": _gain(gains.get(name, 0.0) for name in ranked) / best if best else 1.0,
        "mrr": next((1 / rank for rank, name in enumerate(ranked, 1) if name in wanted), 0.0) if wanted else None,
        **{f"recall_under_{size}_tokens": recall(pack) for size, pack in packs.items()},
    }


def _gain(gains: Iterable[float]) -> float:
    """The discounted gain of the first ten."""
    return sum(each / math.log2(at + 2) for at, each in enumerate(islice(gains, DEEPEST)))


def _means(part: str, rows: Sequence[Row], found: Mapping[str, list[float]] | None = None) -> Iterator[Score]:
    for name in rows[0][2] if rows else ():
        known = [value for *_, measured in rows if (value := measured[name]) is not None]
        yield Score(part, name, sum(known) / len(known) if known else None, len(known), (found or {}).get(name))


# --- tool arguments


def tool_arguments(pairs: Pairs, draws: int) -> Iterator[Score]:
    """Argument accuracy, questions asked, hallucinated and overwritten values, and exact calls."""
    calls = [CallOutcome(item, predicted) for item, predicted in pairs]
    yield from scores("", [(each.item["group"], each.sums()) for each in calls], _calls, len(calls), draws)
    filled = sum(len(each.filled) for each in calls)
    wrong = sum(name in each.filled and not right for each in calls for name, right in each.right.items())
    extra = sum(len(each.extra) for each in calls)
    yield Score("", "hallucinated_argument_rate", extra / filled if filled else 0.0, filled)
    yield Score("", "wrong_value_rate", wrong / filled if filled else 0.0, filled)
    traps = [not each.filled.keys().isdisjoint(each.item["ask"]) for each in calls if each.item["trap"]]
    yield rate("", "traps_filled", traps)
    yield Score("", "explicit_values_overwritten", float(sum(each.overwritten for each in calls)), filled)
    for field in ("origin", "evidence"):
        rights: defaultdict[str, list[bool]] = defaultdict(list)
        for each in calls:
            for name, right in each.right.items():
                rights[each.item[field][name]].append(right)
        yield from (rate(f"{field} {name}", "argument_accuracy", rights[name]) for name in sorted(rights))
    for kind in sorted({each.item["kind"] for each in calls}):
        yield rate(kind, "whole_call_exact", [each.exact for each in calls if each.item["kind"] == kind])


class CallOutcome:
    """The outcome of a prediction for one call."""

    def __init__(self, item: Item, predicted: Item) -> None:
        self.item = item
        self.filled = {name: value for name, value in (predicted.get("filled") or {}).items() if value is not None}
        self.asks = bool(predicted.get("ask"))
        self.right = {name: self._is_right(name, value) for name, value in item["expected"].items()}
        given = item["call"]["args"]
        self.overwritten = sum(name in given and not same(value, given[name]) for name, value in self.filled.items())
        self.extra = self.filled.keys() - item["expected"].keys() - given.keys()
        self.exact = all(self.right.values()) and not self.extra and self.asks == item["must_ask"]

    def _is_right(self, name: str, value: object) -> bool:
        accepted = [value, *self.item["accept"].get(name, ())]
        return name in self.filled and any(same(self.filled[name], each) for each in accepted)

    def sums(self) -> Sums:
        must, asks = self.item["must_ask"], self.asks
        asked = (must and asks, not must and asks, must and not asks)
        return [float(each) for each in (*asked, self.exact, 1, sum(self.right.values()), len(self.right))]


def _calls(sums: Sums) -> Mapping[str, float | None]:
    precision, recall, f1 = precision_recall(*sums[:3])
    return {
        "argument_accuracy": sums[5] / sums[6] if sums[6] else None,
        "ask_precision": precision,
        "ask_recall": recall,
        "ask_f1": f1,
        "whole_call_exact": sums[3] / sums[4],
    }


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
