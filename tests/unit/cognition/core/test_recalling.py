"""Which questions are one in other words, which themes a question has, and which earlier answers may be given again."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agents.cognition.core.memory_check import RecalledConsultations, checked, signature_of, signature_of_node
from agents.cognition.core.signatures import question_signature
from agents.cognition.core.theme_activator import activated
from agents.ports.cognition import PastAnswer, PastConsultation, ThemeFound
from schemas.cognition import CognitiveState, CognitiveTree, EvidencePassage, LeafEvidence, MindMapNode

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
QUESTION = "Quanto dura o intervalo de almoço?"
TEXT = "O intervalo de almoço dura uma hora. Ele não conta na jornada."


@pytest.mark.covers("AC-77")
@pytest.mark.parametrize(
    ("one", "other", "lang"),
    [
        ("O empregado pode ser dispensado?", "O empregado não pode ser dispensado?", "pt"),
        ("O que diz o art. 59 da CLT?", "O que diz o art. 61 da CLT?", "pt"),
        ("Quem deve 15 dias de aviso?", "Quem deve 30 dias de aviso?", "pt"),
        ("O que decidiu o STF sobre o aviso?", "O que decidiu o STJ sobre o aviso?", "pt"),
        ("O que valia em 5 de maio de 2023?", "O que valia em 6 de maio de 2023?", "pt"),
        ("O que deve a Aurora Linhas?", "O que deve a Boreal Linhas?", "pt"),
        ("May the Warden hold the ship?", "May the Warden not hold the ship?", "en"),
        ("Are dues payable within 10 days?", "Are dues payable within 20 days?", "en"),
    ],
)
def test_questions_that_differ_in_what_matters_have_other_signatures(one: str, other: str, lang: str) -> None:
    assert question_signature(one, lang, "single") != question_signature(other, lang, "single")


@pytest.mark.parametrize(
    ("one", "other", "lang"),
    [
        ("O que diz o art. 59 da CLT?", "O que prevê o artigo 59 da CLT?", "pt"),
        ("Qual é a duração do intervalo?", "Quanto dura o intervalo?", "pt"),
        ("When are the dues payable?", "By when must one pay the dues?", "en"),
    ],
)
def test_a_question_in_other_words_has_its_signature(one: str, other: str, lang: str) -> None:
    assert question_signature(one, lang, "single") == question_signature(other, lang, "single")
    assert question_signature(one, lang, "single") != question_signature(other, lang, "comparison")


def state(**fields: Any) -> CognitiveState:
    tree = CognitiveTree(root_question=QUESTION, nodes={"1": MindMapNode(node_id="1", question=QUESTION, level=0)})
    place = {"document_id": "d1", "cite": "lei:CLT-art71", "lang": "pt", "recorded_at": NOON}
    passages = {uid: EvidencePassage(chunk_uid=uid, text=TEXT, title="CLT", **place) for uid in ("a", "b", "c")}
    found = tuple(LeafEvidence(chunk_uid=uid, score=0.9) for uid in ("a", "b"))
    names = ("job_id", "client_id", "conversation_id", "message_id", "pack_id", "frame_id", "user_id", "tenant_id")
    made: dict[str, Any] = {
        **dict.fromkeys(names, "x"),
        **{"query": QUESTION, "lang": "pt", "scope": "tenant", "as_of": NOON, "mind_map": tree},
        **{"deadline_at": NOON + timedelta(minutes=2), "passages": passages, "refined_evidence": {"1": found}},
    }
    return CognitiveState(**{**made, **fields})


def past(**fields: Any) -> PastConsultation:
    whole = state()
    assert whole.mind_map is not None
    own = signature_of_node(whole, whole.mind_map.root())
    answer = PastAnswer(
        question="Qual é a duração do intervalo de almoço?",
        answer="O intervalo de almoço dura uma hora. [lei:CLT-art71]",
        signature=own,
        chunks=("a",),
        evidence=("a", "b"),
        confidence=0.8,
        verified=True,
    )
    made = PastConsultation(
        id="q1", question=answer.question, status="approved", access_level="public", scope="tenant", case_id=None,
        corrected=False, answers=(answer,),
    )  # fmt: skip
    return replace(made, **fields)


def answered(**fields: Any) -> PastConsultation:
    return past(answers=tuple(replace(each, **fields) for each in past().answers))


def recalled(found: PastConsultation, near: float = 0.9, **fields: Any) -> RecalledConsultations:
    return RecalledConsultations([found], {(found.question, QUESTION): near}, **fields)


@pytest.mark.covers("S2-93", "S2-158", "AC-77", "CF-33")
def test_an_earlier_answer_is_given_again_in_the_sentences_of_now() -> None:
    made = checked(state(), recalled(past()))
    [answer] = made.sub_answers.values()
    assert made.similar_consultation == answer.reused_from == "q1"
    [claim] = answer.claims
    assert (claim.text, claim.chunk_uid, claim.cite) == (TEXT[:36], "a", "lei:CLT-art71")
    assert TEXT[claim.start : claim.end] == claim.text
    assert answer.confidence == 0.8


@pytest.mark.covers("S2-93", "S2-95", "AC-77", "AC-78")
@pytest.mark.parametrize(
    ("found", "near", "penalised", "reason"),
    [
        (past(), 0.84, (), "similarity"),
        (past(scope="case"), 0.9, (), "scope"),
        (past(case_id="case-7"), 0.9, (), "scope"),
        (past(status="abstain"), 0.9, (), "status"),
        (past(status="rejected"), 0.9, (), "status"),
        (past(corrected=True), 0.9, (), "corrected"),
        (past(), 0.9, ("a",), "penalised"),
        (answered(verified=False), 0.9, (), "evidence"),
        (answered(signature="x"), 0.9, (), "evidence"),
        (answered(chunks=("c",)), 0.9, (), "evidence"),
        (answered(chunks=("b",), evidence=("b",)), 0.9, (), "evidence"),
        (answered(answer="Dura duas. [lei:CLT-art71]"), 0.9, (), "evidence"),
    ],
)  # fmt: skip
def test_an_earlier_answer_that_does_not_hold_is_not_given_again(
    found: PastConsultation, near: float, penalised: tuple[str, ...], reason: str
) -> None:
    made = checked(state(), recalled(found, near, penalised=frozenset(penalised)))
    assert (made.similar_consultation, made.sub_answers) == (None, {})
    assert [(each.consultation_id, each.reason) for each in made.near_misses] == [("q1", reason)]


def test_what_is_not_similar_at_all_is_not_worth_a_note() -> None:
    assert checked(state(), recalled(past(), 0.5)).near_misses == ()


def test_the_signature_of_a_run_is_that_of_its_question() -> None:
    assert signature_of(state()) == question_signature(QUESTION, "pt", "single")
    assert signature_of(state(query="Quanto não dura?")) != signature_of(state())


@pytest.mark.covers("S2-36", "S2-38")
def test_themes_weigh_by_what_is_named_of_them_and_half_one_step_on() -> None:
    named = [ThemeFound("t1", "Horas extras", "sub", 2, 2), ThemeFound("t2", "Aviso prévio", "sub", 1, 2)]
    near = [
        ThemeFound("m1", "CLT", "macro", near="t2"),
        ThemeFound("m1", "CLT", "macro", near="t1"),
        ThemeFound("t2", "Aviso prévio", "sub", near="t1"),
        ThemeFound("x", "Outro", "sub", near="nobody"),
    ]
    themes = {each.theme_id: each.weight for each in activated(state(), named, near).themes}
    assert [*themes.items()] == [("t1", 1.0), ("m1", 0.5), ("t2", 0.5)]
    assert activated(state(), [], []).themes == ()
