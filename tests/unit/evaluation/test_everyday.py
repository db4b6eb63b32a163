"""The everyday set: it is whole, and measures what its kinds say."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from streams.evaluation import everyday
from streams.evaluation.everyday import ITEMS, EverydaySet
from streams.evaluation.words import spelled, spelled_all
from tests.checkout import ROOT

SET = ROOT / "bench" / "everyday"


@pytest.fixture(scope="module")
def given() -> EverydaySet:
    return everyday.load(SET)


def test_every_kind_of_question_is_there_often_enough(given: EverydaySet) -> None:
    kinds = Counter(item.kind for item in given.items)
    assert kinds["document"] >= 60
    assert kinds["told"] >= 12
    assert kinds["updated"] >= 6
    assert kinds["told"] + kinds["said"] + kinds["updated"] >= 35
    assert kinds["followup"] >= 30
    assert kinds["unanswerable"] >= 20
    assert kinds["nothing"] >= 20
    for kind in kinds:
        assert {item.lang for item in given.items if item.kind == kind} == {"en", "pt"}, kind


def test_there_are_documents_with_near_copies_and_talks_of_several_sessions(given: EverydaySet) -> None:
    assert sum(len(tenant.documents) for tenant in given.tenants.values()) >= 12
    talks = [tenant for tenant in given.tenants.values() if len(tenant.sessions) >= 2]
    assert len(talks) >= 6
    assert all({turn.role for turn in s.turns} == {"user", "assistant"} for t in talks for s in t.sessions)
    assert sum(bool(item.not_) for item in given.items) >= 15


def test_what_a_near_copy_says_is_not_what_answers(given: EverydaySet) -> None:
    for item in given.items:
        for phrase in item.not_:
            assert all(spelled(phrase) not in spelled(right) for right in item.evidence), item.id


def test_many_questions_share_few_words_with_their_answer(given: EverydaySet) -> None:
    asked = [item for item in given.items if item.kind in ("document", "told", "said", "updated")]
    short = [item for item in asked if len(item.text.split()) <= 6]
    assert len(short) >= 50
    disjoint = [
        item
        for item in asked
        if not {w for w in spelled(item.text).split() if len(w) > 3} & set(spelled_all(item.evidence).split())
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
        everyday.load(tmp_path / "set")


def test_an_id_that_stands_twice_is_refused(tmp_path: Path) -> None:
    shutil.copytree(SET, tmp_path / "set")
    first = (SET / ITEMS).read_text().splitlines()[0]
    (tmp_path / "set" / ITEMS).write_text(f"{first}\n{first}\n")
    with pytest.raises(ValueError, match="twice"):
        everyday.load(tmp_path / "set")


def test_a_phrase_is_whole_words_in_a_row() -> None:
    assert spelled("9 euros") not in spelled("249 euros")
    assert spelled("Filter | 9 EUROS") in spelled("| filter | 9 euros |")
    assert spelled("one two") not in spelled_all(["one", "two"])
