"""Scores against figures worked out by hand, and the report of a folder."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bench.evaluation import measures, scoring, scoring_depth, scoring_memory
from bench.evaluation.floors import FLOORS
from bench.evaluation.measures import LabelledCall
from streams.edges.cli.main import app
from streams.edges.client.errors import USAGE, CommandFailed

Figures = dict[tuple[str, str], Any]


def figures(task: str, gold: list[dict[str, Any]], predicted: list[dict[str, Any]], draws: int = 0) -> Figures:
    """Part and measure to value, of items that form one data set in groups of their own."""
    items = [{"source": "s", "group": str(number), **item} for number, item in enumerate(gold)]
    rows = scoring.score(task, items, predicted, draws)["datasets"]["s"]
    return {(row["part"], row["measure"]): row["value"] for row in rows}


def called(name: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"id": key, name: value} for key, value in values.items()]


def test_precision_recall_and_balanced_accuracy() -> None:
    truths, calls = [1, 1, 1, 0, 0, 0, 0, 0], [1, 1, 0, 1, 0, 0, 0, 0]
    rows = [LabelledCall("g", bool(t), bool(c)) for t, c in zip(truths, calls, strict=True)]
    made = {score.measure: score.value for score in measures.binary("", rows, 0)}
    assert (made["precision"], made["recall"], made["f1"]) == (0.6667, 0.6667, 0.6667)
    assert made["balanced_accuracy"] == pytest.approx((2 / 3 + 4 / 5) / 2, abs=1e-4)
    assert made["false_alarm_rate"] == 0.2
    assert "average_precision" not in made


def test_an_items_weight_is_how_many_it_stands_for() -> None:
    rows = [LabelledCall("g", True, True), LabelledCall("g", False, True, weight=3.0)]
    made = {score.measure: score.value for score in measures.binary("", rows, 0)}
    assert made["precision"] == 0.25


def test_ties_of_a_score_are_one_threshold() -> None:
    tied = [LabelledCall("g", truth, False, 1.0, 0.5) for truth in (True, False, True, False)]
    assert measures.average_precision(tied) == 0.5
    rows = [
        LabelledCall("g", bool(t), False, 1.0, s)
        for t, s in zip([1, 1, 1, 0, 0], [0.9, 0.8, 0.3, 0.7, 0.2], strict=True)
    ]
    assert measures.average_precision(rows) == pytest.approx(1 / 3 + 1 / 3 + 1 / 3 * 3 / 4)
    assert measures.recall_at_false_alarms(rows) == pytest.approx(2 / 3)
    assert measures.recall_at_false_alarms(rows, 0.5) == 1.0


def test_sub_questions_are_aligned_with_the_nearest() -> None:
    gold = [
        {"id": "a", "kind": "bridge", "sub_questions": ["the red film", "who made #1"]},
        {"id": "b", "kind": "comparison", "sub_questions": ["one"]},
        {"id": "c", "kind": "single", "sub_questions": ["two"]},
    ]
    said = [
        {"id": "a", "sub_questions": ["Who made #1?", "The film?"], "kind": "bridge"},
        {"id": "b", "sub_questions": ["three", "four"], "kind": "bridge"},
        {"id": "c", "sub_questions": ["two"]},
    ]
    made = figures("decomposition", gold, said)
    # Steps of a: 1 and 2 * 2 / 5 = .8 of two each; b has nothing in common.
    assert made["", "aligned_f1"] == pytest.approx((2 * 1.8 / 4 + 0) / 2)
    assert made["", "step_count_accuracy"] == 0.5
    assert made["one or two steps", "over_decomposition"] == 0.5
    assert made["single questions", "over_decomposition"] == 0.0
    assert made["kind", "macro_f1"] == pytest.approx(1 / 3, abs=1e-4)


def test_macro_f1_counts_every_class_alike() -> None:
    rows = [("g", label, call) for label, call in zip("aabc", "abbb", strict=True)]
    made = {score.measure: score.value for score in measures.classes("", rows, ["a", "b", "c"], 0)}
    assert made["macro_f1"] == pytest.approx((2 / 3 + 1 / 2) / 3, abs=1e-4)
    assert (made["accuracy"], made["f1 of c"]) == (0.5, 0.0)


def test_question_types_are_told_by_category_and_by_who_labelled() -> None:
    gold = [
        {"id": "a", "label": "D2", "category": "REASON", "annotated_by": "authors"},
        {"id": "b", "label": "D0", "category": "FACTOID", "annotated_by": "unsupervised"},
        {"id": "c", "label": "D0", "category": "FACTOID", "annotated_by": "authors"},
    ]
    made = figures("depth_question_type", gold, called("label", {"a": "D2", "b": "D1", "c": "D2"}))
    assert made["", "f1"] == pytest.approx(2 / 3, abs=1e-4)
    assert made["FACTOID", "right"] == 0.5
    assert made["labelled by people, D0", "right"] == 0.0


def test_decisions_are_counted_by_how_sure_they_were() -> None:
    gold = [{"id": key, "label": label, "category": "X"} for key, label in (("a", "D2"), ("b", "D0"), ("c", "D0"))]
    predicted = [
        {"id": "a", "label": "D2", "confidence": 0.85},
        {"id": "b", "label": "D1", "confidence": 0.8},
        {"id": "c", "label": "D0", "confidence": 1.0},
    ]
    made = figures("depth_question_type", gold, predicted)
    assert made["confidence 0.8 to 0.9", "right"] == 0.5
    assert made["confidence 0.9 to 1.0", "right"] == 1.0


def test_follow_ups_are_told_on_later_turns_apart() -> None:
    gold = [{"id": key, "needs_context": key != "a", "first_turn": key == "a"} for key in "abc"]
    made = figures("depth_followup", gold, called("needs_context", {"a": True, "b": True}))
    assert (made["later turns", "recall"], made["later turns", "precision"]) == (0.5, 1.0)
    assert made["all turns", "precision"] == 0.5


def test_corrections_are_told_from_negations_that_correct_nothing() -> None:
    labels = {"a": "correction", "b": "negation", "c": "other"}
    gold = [{"id": k, "correction": k == "a", "hard": k == "b", "label": label} for k, label in labels.items()]
    made = figures("depth_correction", gold, called("correction", {"a": True, "b": True}))
    assert made["hard", "precision"] == made["", "precision"] == 0.5
    assert (made["negation", "false_alarm_rate"], made["other", "false_alarm_rate"]) == (1.0, 0.0)


def test_boundaries_are_exact_or_near_and_windows_differ() -> None:
    # Windows of two over turns 0 to 3: wanted 0 1 1 0, called 0 0 1 1.
    assert scoring_depth.window_errors({3}, {4}, 6) == (0.5, 0.5)
    assert scoring_depth.window_errors({6}, set(), 12) == (3 / 9, 3 / 9)
    assert scoring_depth.within_one({3, 4}, {4}) == 1
    gold = [{"id": "d", "turns": [0] * 6, "shifts": [3]}]
    made = figures("depth_topic_shift", gold, called("shifts", {"d": [4]}))
    assert (made["", "f1"], made["", "f1_within_1"], made["", "pk"]) == (0.0, 1.0, 0.5)
    assert made["", "pk_of_never"] == pytest.approx(0.5)
    right = figures("depth_topic_shift", gold, [{"id": "d", "shifts": [3], "scores": [0, 0, 0, 1, 0.5, 0]}])
    assert (right["", "f1"], right["", "pk"], right["", "average_precision"]) == (1.0, 0.0, 1.0)


def test_needs_are_three_classes_and_direct_questions_by_themselves() -> None:
    gold = [{"id": "a", "label": "greeting"}, {"id": "b", "label": "other"}, {"id": "c", "label": "other"}]
    made = figures("context_needs", gold, called("label", {"a": "greeting", "b": "greeting", "c": "direct_question"}))
    assert (made["", "false_alarm_on_other"], made["", "f1 of greeting"]) == (0.5, 0.6667)
    direct = [{"id": "a", "label": "direct_question"}, {"id": "b", "label": "direct_question"}]
    made = figures("context_needs", direct, called("label", {"a": "greeting", "b": "direct_question"}))
    assert made == {("", "recall_direct_question"): 0.5, ("", "called_greeting_or_clarification"): 0.5}


def test_false_contradictions_are_told_by_class() -> None:
    gold = [{"id": "a", "label": "neutral"}, {"id": "b", "label": "contradiction"}, {"id": "c", "label": "entailment"}]
    made = figures("contradiction", gold, called("label", {"a": "contradiction", "b": "contradiction"}))
    assert made["", "false_contradiction_on_neutral"] == 1.0
    assert made["", "false_contradiction_on_entailment"] == 0.0
    assert made["contradiction", "f1"] == pytest.approx(2 / 3, abs=1e-4)


def test_spans_are_strict_or_overlap() -> None:
    def spans(*places: tuple[int, int]) -> list[dict[str, Any]]:
        return [{"start": start, "end": end, "type": "L"} for start, end in places]

    gold = [{"id": "e", "spans": spans((0, 4), (10, 20))}]
    made = figures("legal_entities", gold, called("spans", {"e": spans((0, 4), (12, 25), (30, 31))}))
    assert made["L", "strict_f1"] == pytest.approx(2 * (1 / 3) * 0.5 / (1 / 3 + 0.5), abs=1e-4)
    assert (made["L", "relaxed_recall"], made["L", "relaxed_f1"]) == (1.0, 0.8)
    assert made["all types", "strict_f1"] == made["L", "strict_f1"]


def test_rankings_and_their_prefix_in_a_budget() -> None:
    documents = [{"id": name, "text": "x" * 400} for name in "abcd"]
    gold = [{"documents": documents, "queries": [{"id": "q", "category": "k", "relevant": ["b", "d"]}]}]
    made = figures("memory_retrieval", gold, [{"id": "q", "ranked": ["a", "b", "b", "z", "c", "d"]}])
    assert (made["", "recall@1"], made["", "recall@5"], made["", "mrr"]) == (0.0, 1.0, 0.5)
    assert (made["", "recall_under_256_tokens"], made["", "recall_under_512_tokens"]) == (0.5, 1.0)
    wanted = (1 / 1.584963 + 1 / 2.321928) / (1 + 1 / 1.584963)
    assert made["", "ndcg@10"] == pytest.approx(wanted, abs=1e-4)
    assert figures("memory_retrieval", gold, [])["", "recall@10"] == 0.0


CALL: dict[str, Any] = {"accept": {}, "trap": False, "call": {"name": "f", "args": {}}, "ask": [], "must_ask": False}
RESOLVABLE = {
    **CALL, "id": "1", "call": {"name": "f", "args": {"n": 2}}, "kind": "resolvable", "accept": {"date": ["March 1st"]},
    "expected": {"city": "Rio", "date": "2019-03-01"}, "origin": {"city": "other", "date": "same"},
    "evidence": {"city": "call", "date": "system"},
}  # fmt: skip
UNRESOLVABLE = {
    **CALL, "id": "2", "expected": {}, "origin": {}, "evidence": {}, "ask": ["time"], "must_ask": True, "trap": True,
    "kind": "unresolvable",
}  # fmt: skip


def test_arguments_filled_asked_made_up_and_overwritten() -> None:
    filled = {"city": "rio", "date": "march 1st", "n": 3}
    made = figures(
        "tool_arguments", [RESOLVABLE, UNRESOLVABLE], called("filled", {"1": filled, "2": {"time": "10:00"}})
    )
    assert made["", "argument_accuracy"] == made["origin other", "argument_accuracy"] == 1.0
    assert (made["", "hallucinated_argument_rate"], made["", "traps_filled"]) == (0.25, 1.0)
    assert (made["", "explicit_values_overwritten"], made["", "ask_f1"]) == (1.0, 0.0)


def test_asking_without_need_spoils_a_call() -> None:
    right = {"id": "1", "filled": {"city": "Rio", "date": "2019-03-01"}}
    asks = {"id": "2", "ask": ["time"]}
    assert figures("tool_arguments", [RESOLVABLE, UNRESOLVABLE], [right, asks])["", "whole_call_exact"] == 1.0
    made = figures("tool_arguments", [RESOLVABLE, UNRESOLVABLE], [{**right, "ask": ["n"]}, asks])
    assert (made["", "whole_call_exact"], made["", "ask_precision"]) == (0.5, 0.5)
    assert made["resolvable", "whole_call_exact"] == 0.0


def test_values_are_the_same_however_they_are_written() -> None:
    same = scoring_memory.same
    assert same("4", 4)
    assert same("True", True)
    assert same([1, "A"], ["1", "a"])
    assert same({"a": 1}, {"a": "1.0"})
    assert not same(1, True)
    assert not same([1], [1, 2])


def test_missing_and_unknown_predictions_are_counted() -> None:
    gold = [{"source": "s", "group": "g", "id": "a", "label": "D2", "category": "X"}]
    made = scoring.score("depth_question_type", gold, [{"id": "z", "label": "D2"}], 0)
    assert (made["items"], made["missing"], made["unknown_ids"]) == (1, 1, 1)


def test_floors_stand_beside_figures_that_exist() -> None:
    assert {task for task, *_ in FLOORS} <= set(scoring.SCORERS)
    gold = [
        {"source": "cast", "group": str(n), "id": str(n), "needs_context": n > 1, "first_turn": n == 0}
        for n in range(4)
    ]
    rows = scoring.score("depth_followup", gold, [], 50)["datasets"]["cast"]
    [row] = [row for row in rows if (row["part"], row["measure"]) == ("later turns", "balanced_accuracy")]
    assert (row["floor"], row["value"], row["n"]) == (0.731, 0.5, 3)
    assert row["ci95"] == [0.5, 0.5]


# --- the command


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    labelled, predicted = tmp_path / "labelled", tmp_path / "predicted"
    labelled.mkdir()
    predicted.mkdir()
    gold = [
        {"id": str(n), "source": "cast", "group": str(n), "needs_context": n > 1, "first_turn": False} for n in range(4)
    ]
    (labelled / "depth_followup.dev.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, gold)).encode()))
    made = [{"id": str(n), "needs_context": n > 0} for n in range(4)]
    (predicted / "depth_followup.jsonl").write_text("\n".join(map(json.dumps, made)))
    return labelled, predicted


def report(folders: tuple[Path, Path], *more: str) -> str:
    done = CliRunner().invoke(app, ["eval", "report", str(folders[0]), "--predictions", str(folders[1]), *more])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def test_a_folder_is_reported_task_by_task(folders: tuple[Path, Path], tmp_path: Path) -> None:
    said = report(folders, "--html", str(tmp_path / "page.html"))
    assert "depth_followup: 4 items, 0 without a prediction" in said
    assert "later turns: balanced_accuracy" in said
    assert "0.750 [" in said
    assert "floor 0.731 (a pronoun, or short)" in said
    assert "decomposition: no labelled items" in said
    assert "legal_entities: no labelled items" in said
    page = (tmp_path / "page.html").read_text()
    assert page.count('class="floor"') == 2
    assert json.loads(report(folders, "--json"))["tasks"][1]["datasets"]["cast"]


def test_a_folder_without_predictions_or_with_bad_ones_is_refused(folders: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="no predictions") as failed:
        report((folders[0], tmp_path))
    assert failed.value.code == USAGE
    (folders[1] / "depth_followup.jsonl").write_text('{"needs_context": true}')
    with pytest.raises(CommandFailed, match="lacks a field"):
        report(folders)
    (folders[1] / "depth_followup.jsonl").write_text("{")
    with pytest.raises(CommandFailed, match="cannot be read"):
        report(folders)
