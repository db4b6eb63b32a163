"""Scoring of predictions against labelled items: by task and data set."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict

from streams.evaluation import scoring_depth, scoring_memory, scoring_texts
from streams.evaluation.floors import FLOORS
from streams.evaluation.measures import Item, Predictions, Score

Scorer = Callable[[Sequence[Item], Predictions, int], list[Score]]
SCORERS: Mapping[str, Scorer] = {
    "depth_question_type": scoring_depth.depth_question_type,
    "depth_followup": scoring_depth.depth_followup,
    "depth_correction": scoring_depth.depth_correction,
    "depth_topic_shift": scoring_depth.depth_topic_shift,
    "context_needs": scoring_texts.context_needs,
    "contradiction": scoring_texts.contradiction,
    "legal_entities": scoring_texts.legal_entities,
    "memory_retrieval": scoring_memory.memory_retrieval,
    "tool_arguments": scoring_memory.tool_arguments,
}


def score(task: str, gold: Iterable[Item], predictions: Iterable[Item], draws: int) -> dict[str, object]:
    """The figures of one task; a missing prediction counts as the negative answer and is reported."""
    called = {each["id"]: each for each in predictions}
    datasets: dict[str, list[Item]] = {}
    for item in gold:
        datasets.setdefault(item.get("dataset") or item["source"], []).append(item)
    asked = {name for items in datasets.values() for item in items for name in _ids(item)}
    return {
        "task": task,
        "items": len(asked),
        "missing": len(asked - called.keys()),
        "unknown_ids": len(called.keys() - asked),
        "datasets": {name: _rows(task, name, items, called, draws) for name, items in datasets.items()},
    }


def _ids(item: Item) -> list[str]:
    """The ids to predict: of a corpus those of its queries."""
    return [query["id"] for query in item["queries"]] if "queries" in item else [item["id"]]


def _rows(task: str, name: str, items: Sequence[Item], called: Predictions, draws: int) -> list[dict[str, object]]:
    rows = []
    for each in SCORERS[task](items, called, draws):
        floor = FLOORS.get((task, name, each.part, each.measure))
        beside = {"floor": floor.value, "rule": floor.rule} if floor else {}
        rows.append({**asdict(each), **beside})
    return rows
