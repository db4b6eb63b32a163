"""Scoring of predictions against labelled items: by task and data set."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict

from bench.evaluation import scoring_decomposition, scoring_depth, scoring_memory, scoring_texts
from bench.evaluation.floors import FLOORS
from bench.evaluation.measures import Item, Pairs, Score

Scorer = Callable[[Pairs, int], Iterator[Score]]
SCORERS: Mapping[str, Scorer] = {
    "depth_question_type": scoring_depth.depth_question_type,
    "depth_followup": scoring_depth.depth_followup,
    "depth_correction": scoring_depth.depth_correction,
    "depth_topic_shift": scoring_depth.depth_topic_shift,
    "context_needs": scoring_texts.context_needs,
    "contradiction": scoring_texts.contradiction,
    "legal_entities": scoring_texts.legal_entities,
    "memory_retrieval": scoring_memory.memory_retrieval,
    "decomposition": scoring_decomposition.decomposition,
    "tool_arguments": scoring_memory.tool_arguments,
}


def score(task: str, gold: Iterable[Item], predictions: Iterable[Item], draws: int) -> dict[str, object]:
    """The figures of one task; a missing prediction counts as the negative answer and is reported."""
    called = {each["id"]: each for each in predictions}
    datasets: dict[str, list[Item]] = {}
    asked: set[str] = set()
    for item in gold:
        datasets.setdefault(item.get("dataset") or item["source"], []).append(item)
        # What is predicted of a corpus is the ranking of each of its queries.
        asked.update(each["id"] for each in item.get("queries", [item]))
    return {
        "task": task,
        "items": len(asked),
        "missing": len(asked - called.keys()),
        "unknown_ids": len(called.keys() - asked),
        "datasets": {name: list(_rows(task, name, items, called, draws)) for name, items in datasets.items()},
    }


def _rows(
    task: str, name: str, items: Sequence[Item], called: Mapping[str, Item], draws: int
) -> Iterator[dict[str, object]]:
    pairs = [(item, called if "queries" in item else called.get(item["id"], {})) for item in items]
    for each in SCORERS[task](pairs, draws):
        floor = FLOORS.get((task, name, each.part, each.measure))
        yield asdict(each) | ({"floor": floor.value, "rule": floor.rule} if floor else {})
