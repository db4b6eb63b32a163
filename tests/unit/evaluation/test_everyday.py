"""The everyday set: it is whole, and measures what its kinds say."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from bench.evaluation import questions
from bench.evaluation.questions import ITEMS, PackQuestion
from bench.evaluation.words import spelled_all
from streams.edges.cli.demo.plain_search import spelled
from tests.checkout import ROOT

SET = ROOT / "bench" / "everyday"


@pytest.fixture(scope="module")
def asked() -> list[PackQuestion]:
    return questions.of_everyday(SET)[1]


def test_every_kind_of_question_is_there_often_enough(asked: list[PackQuestion]) -> None:
    kinds = Counter(each.kind for each in asked)
    assert kinds["document"] >= 60
    assert kinds["told"] >= 12
    assert kinds["updated"] >= 6
    assert kinds["told"] + kinds["said"] + kinds["updated"] >= 35
    assert kinds["followup"] >= 30
    assert kinds["unanswerable"] >= 20
    assert kinds["nothing"] >= 20
    for kind in kinds:
        assert {each.lang for each in asked if each.kind == kind} == {"en", "pt"}, kind


def test_there_are_documents_with_near_copies_and_talks_of_several_sessions(asked: list[PackQuestion]) -> None:
    materials, _ = questions.of_everyday(SET)
    assert sum(len(material.documents) for material in materials) >= 12
    talks = [material.talks for material in materials if len(material.talks) >= 2]
    assert len(talks) >= 6
    assert all({turn.role for turn in turns} == {"user", "assistant"} for each in talks for _, turns in each)
    assert sum(bool(each.avoid) for each in asked) >= 15


def test_what_a_near_copy_says_is_not_what_answers(asked: list[PackQuestion]) -> None:
    for each in asked:
        for phrase in each.avoid:
            assert all(spelled(phrase) not in spelled(right.text) for right in each.evidence), each.id


def test_many_questions_share_few_words_with_their_answer(asked: list[PackQuestion]) -> None:
    answered = [each for each in asked if each.kind in ("document", "told", "said", "updated")]
    short = [each for each in answered if len(each.text.split()) <= 6]
    assert len(short) >= 50
    disjoint = [
        each
        for each in answered
        if not {w for w in spelled(each.text).split() if len(w) > 3}
        & set(spelled_all(right.text for right in each.evidence).split())
    ]
    assert len(disjoint) >= 60


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"evidence": ["a phrase that nobody wrote"]}, "is not in kestrel"),
        ({"text": "Is it 58 dB?"}, "in its own conversation"),
        ({"kind": "nothing"}, "has evidence"),
        ({"holds": "58 dB"}, "both holds and was"),
        ({"kind": "followup"}, "follows something"),
        ({"kind": "taken_back", "evidence": []}, "is told in not"),
        ({"kind": "repaired"}, "both holds and was"),
        ({"half": "third"}, "line 1: half"),
        ({"corpus": "nobody"}, "no corpus nobody"),
        ({"kind": "riddle"}, "line 1: kind"),
        ({"answer": 1}, "line 1: answer"),
    ],
)
def test_an_item_that_measures_nothing_is_refused(tmp_path: Path, change: dict[str, object], why: str) -> None:
    shutil.copytree(SET, tmp_path / "set")
    first = (SET / ITEMS).read_text().splitlines()[0]
    (tmp_path / "set" / ITEMS).write_text(json.dumps({**json.loads(first), **change}))
    with pytest.raises(ValueError, match=why):
        questions.of_everyday(tmp_path / "set")


def test_an_id_that_stands_twice_is_refused(tmp_path: Path) -> None:
    shutil.copytree(SET, tmp_path / "set")
    first = (SET / ITEMS).read_text().splitlines()[0]
    (tmp_path / "set" / ITEMS).write_text(f"{first}\n{first}\n")
    with pytest.raises(ValueError, match="twice"):
        questions.of_everyday(tmp_path / "set")


def test_a_corpus_belongs_to_one_half_and_each_half_is_a_data_set(tmp_path: Path) -> None:
    shutil.copytree(SET, tmp_path / "set")
    rows = [{**json.loads(line), "half": "fit"} for line in (SET / ITEMS).read_text().splitlines()[:2]]
    (tmp_path / "set" / ITEMS).write_text("\n".join(map(json.dumps, rows)))
    materials, asked = questions.of_everyday(tmp_path / "set")
    assert {each.dataset for each in asked} == {"set (fit)"}
    assert {each.tenant: each.dataset for each in materials}["kestrel"] == "set (fit)"
    rows[1]["half"] = "report"
    (tmp_path / "set" / ITEMS).write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(ValueError, match="more than one half"):
        questions.of_everyday(tmp_path / "set")


def test_a_phrase_is_whole_words_in_a_row() -> None:
    assert spelled("9 euros") not in spelled("249 euros")
    assert spelled("Filter | 9 EUROS") in spelled("| filter | 9 euros |")
    assert spelled("one two") not in spelled_all(["one", "two"])
