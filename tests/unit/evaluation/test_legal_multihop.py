"""The legal questions of more than one hop: the set is whole, in both languages, and every facet has its phrase."""

import pytest

from bench.evaluation import questions
from bench.evaluation.questions import PackQuestion
from tests.checkout import ROOT


@pytest.fixture(scope="module")
def asked() -> list[PackQuestion]:
    return questions.of_everyday(ROOT / "bench" / "legal_multihop")[1]


def test_there_are_sixty_answerable_questions_in_both_languages_and_some_that_are_not(
    asked: list[PackQuestion],
) -> None:
    answerable = [each for each in asked if each.evidence]
    assert len(answerable) >= 60
    for questions_of in (answerable, [each for each in asked if each.kind == "unanswerable"]):
        assert {each.lang for each in questions_of} == {"en", "pt"}


def test_nearly_every_question_needs_more_than_one_passage(asked: list[PackQuestion]) -> None:
    answerable = [each for each in asked if each.evidence]
    assert sum(len(each.evidence) >= 2 for each in answerable) >= 0.95 * len(answerable)
    passages = [
        passage for each in questions.of_everyday(ROOT / "bench" / "legal_multihop")[0] for passage in each.units
    ]
    scattered = [
        each for each in answerable if not any(all(e.text in text for e in each.evidence) for text in passages)
    ]
    assert len(scattered) >= 40
