"""Figures of deep answers: what counts as right, wrong, missing and hallucinated, and the risk at each coverage."""

from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from bench.evaluation.deep import figures, pages
from bench.evaluation.deep.figures import DeepAsked, JudgedAnswer
from bench.evaluation.questions import Evidence, Material, PackQuestion, Utterable
from bench.judgement import filled
from schemas.base import JsonObject

TEXT = "The kettle holds 1.7 litres. It is filled through the spout. The lamp hangs on two screws."
MATERIAL = Material("own-0", "own", "en", (("Manual", TEXT),), units=(TEXT,))
LITRES, SPOUT = "The kettle holds 1.7 litres.", "It is filled through the spout."


def question(number: int = 1, *evidence: Evidence, answers: tuple[str, ...] = ()) -> PackQuestion:
    return PackQuestion(
        f"q{number}", "own", "own-0", f"g{number}", "en", "How much does the kettle hold?", evidence=evidence,
        answers=answers,
    )  # fmt: skip


def answered(*texts: str, status: str = "answered", confidence: float = 0.9, **changed: Any) -> JsonObject:
    """An answer that quotes these sentences; `changed` is what its claims say instead."""
    where = {"chunk_uid": "u", "cite": "doc:manual"}
    places = [(text, TEXT.find(text)) for text in texts]
    claims = [{"text": text, **where, "start": at, "end": at + len(text), **changed} for text, at in places]
    sources = [{"chunk_uid": "u", "cite": "doc:manual", "text": TEXT}]
    return {"status": status, "confidence": confidence, "sub_answers": [{"claims": claims}], "sources": sources}


def judged(asked: PackQuestion, answer: JsonObject | None) -> JudgedAnswer:
    [row] = figures.judged([DeepAsked(asked, answer)], [MATERIAL])
    return row


@pytest.mark.parametrize(
    ("evidence", "answers", "quoted", "outcome"),
    [
        ((Evidence("1.7 litres"),), (), (LITRES,), "right"),
        ((Evidence("1.7 litres"), Evidence("through the spout")), (), (LITRES,), "wrong"),
        ((Evidence("1.7 litres"), Evidence("through the spout")), (), (LITRES, SPOUT), "right"),
        ((Evidence(TEXT, passage=True),), (), (SPOUT,), "right"),
        ((Evidence("Of something else it tells nothing.", passage=True),), (), (SPOUT,), "wrong"),
        ((Evidence(TEXT, passage=True),), ("1.7 litres",), (SPOUT,), "wrong"),
        ((), (), (SPOUT,), "wrong"),
    ],
)
def test_an_answer_is_right_where_all_that_is_asked_for_is_quoted(
    evidence: tuple[Evidence, ...], answers: tuple[str, ...], quoted: tuple[str, ...], outcome: str
):
    row = judged(question(1, *evidence, answers=answers), answered(*quoted))
    assert (row.outcome, row.unproven, row.claims) == (outcome, 0, len(quoted))


def test_silence_is_missing_where_something_answers_and_right_where_nothing_does():
    silent = answered(status="abstained", confidence=0.0)
    assert judged(question(1, Evidence("1.7 litres")), silent).outcome == "missing"
    assert judged(question(1, Evidence("1.7 litres")), None).outcome == "missing"
    assert judged(question(), silent).outcome == "right"


@pytest.mark.parametrize(
    "changed",
    [{"text": "The kettle holds 2.7 litres."}, {"cite": "doc:other"}, {"chunk_uid": "v"}, {"start": 3}],
)
def test_a_sentence_that_is_not_in_what_it_cites_is_hallucinated(changed: dict[str, Any]):
    assert judged(question(1, Evidence("1.7 litres")), answered(LITRES, **changed)).unproven == 1


def test_a_sentence_of_no_document_is_hallucinated_whatever_its_source_says():
    answer = answered(LITRES)
    invented = "The kettle holds 9 litres."
    answer["sources"][0]["text"] = invented
    answer["sub_answers"][0]["claims"][0] |= {"text": invented, "start": 0, "end": len(invented)}
    assert judged(question(1, Evidence("1.7 litres")), answer).unproven == 1


def test_words_that_tell_are_those_of_sentences_with_what_is_asked_for():
    phrase, labelled = question(1, Evidence("1.7 litres")), question(1, Evidence(TEXT, passage=True), answers=("1.7",))
    for asked in (phrase, labelled):
        assert judged(asked, answered(LITRES)).telling == 1.0
        assert judged(asked, answered(LITRES, SPOUT)).telling == pytest.approx(6 / 12)
        assert judged(asked, answered(SPOUT)).telling == 0.0


@pytest.mark.parametrize(
    ("turns", "said", "unproven"),
    [
        ((), "I filled it at noon.", 0),
        ((Utterable("user", "I bought it in May."),), "I bought it in May.", 0),
        ((), "I bought it in May.", 1),
        ((), LITRES, 1),
    ],
    ids=["of a talk", "of the question's own talk", "of no talk", "of a document"],
)
def test_a_sentence_that_cites_a_talk_must_be_of_one(turns: tuple[Utterable, ...], said: str, unproven: int):
    answer = answered(said, start=0, end=len(said))
    answer["sources"][0] |= {"text": said, "turn": {"role": "user"}}
    material = replace(MATERIAL, talks=(("t", (Utterable("user", "I filled it at noon."),)),))
    [row] = figures.judged([DeepAsked(replace(question(), turns=turns), answer)], [material])
    assert row.unproven == unproven


def rows() -> list[JudgedAnswer]:
    right, wrong = Evidence("1.7 litres"), Evidence("two screws")
    given = [(right, 0.9, LITRES), (wrong, 0.8, LITRES), (right, 0.7, LITRES), (right, 0.0, None)]
    silent = answered(status="abstained", confidence=0.0)
    asked = [
        DeepAsked(question(number, evidence), answered(quoted, confidence=sure) if quoted else silent)
        for number, (evidence, sure, quoted) in enumerate(given)
    ]
    return figures.judged(asked, [MATERIAL])


def test_risk_is_that_of_the_surest_answers_at_each_coverage():
    assert figures.risk_by_coverage(rows()) == [(0.25, 0.0), (0.5, 0.5), (0.75, 0.3333)]


def test_figures_stand_beside_the_best_sentences_of_the_same_length():
    [made] = figures.by_dataset(rows(), [MATERIAL]).values()
    shares = {name: made[name]["value"] for name in ("right", "wrong", "missing", "precision", "plain")}  # type: ignore[index]
    assert shares == {"right": 0.5, "wrong": 0.25, "missing": 0.25, "precision": 0.6667, "plain": 0.75}
    assert made["hallucinated"] == {"claims": 3, "unproven": 0}
    assert made["words"] == 6.0
    told = {name: made[name]["value"] for name in ("telling", "plain_telling")}  # type: ignore[index]
    assert told == {"telling": 0.6667, "plain_telling": 0.75}
    whole = {"datasets": {"own": made}}
    assert "hallucinated             0 of 3 sentences" in pages.text(whole)
    drawn = ElementTree.fromstring(pages.drawing(whole))
    assert drawn.tag.endswith("svg")
    assert len([each for each in drawn.iter() if each.tag.endswith("polyline")]) == 1
    page = filled("<!-- answers -->\nold\n<!-- end -->\nafter", None, None, whole)
    assert "| own | 4 | 0.500" in page
    assert "| 0 of 3 | 6.0 |" in page
    assert page.endswith("<!-- end -->\nafter")
