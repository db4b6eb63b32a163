"""Predictions are what the stages decide: dialogues played, corpora ranked, texts read."""

from typing import Any

import pytest

from bench.evaluation import predictions
from bench.evaluation.played import played
from bench.evaluation.predictions import TASKS
from bench.evaluation.scoring import SCORERS


def one(task: str, **item: Any) -> dict[str, Any]:
    [made] = TASKS[task]({"id": "x", **item})
    return dict(made)


def turns(*texts: str) -> list[dict[str, str]]:
    """A user and an assistant by turns."""
    return [{"role": "assistant" if at % 2 else "user", "text": text} for at, text in enumerate(texts)]


def test_every_task_that_is_predicted_is_scored() -> None:
    assert set(TASKS) == set(SCORERS)


def test_the_level_of_a_first_message_is_its_question_type() -> None:
    assert one("depth_question_type", text="Why did the empire fall? Explain the reasons.")["label"] == "D2"
    plain = one("depth_question_type", text="What is the capital of Chile?")
    assert plain["label"] == "D0"


def test_a_message_that_leans_on_its_history_needs_context() -> None:
    history = turns("How old is the tower in Belém?", "It was built in 1519.")
    assert one("depth_followup", history=history, text="And how tall is it?")["needs_context"] is True
    assert one("depth_followup", history=history, text="What is the capital of Chile?")["needs_context"] is False


def test_a_value_that_is_set_right_is_a_correction() -> None:
    history = turns("Quando é a entrega?", "A entrega é no dia 15.")
    assert one("depth_correction", history=history, text="Não, a entrega mudou para o dia 20.")["correction"] is True
    assert one("depth_correction", history=history, text="Obrigado!")["correction"] is False


def test_a_shift_is_a_users_turn_that_opens_a_topic() -> None:
    said = turns(
        "Where is my parcel from Porto?",
        "It left Porto on Monday.",
        "Changing the subject: how do I renew my passport?",
        "At the citizen's desk.",
    )
    made = one("depth_topic_shift", turns=said)
    assert made["shifts"] == [2]
    assert len(made["scores"]) == 4
    assert made["scores"][2] > 0.6


def test_frames_arise_as_in_the_stage_and_empty_turns_are_passed_over() -> None:
    said = [
        ("user", "Where is my parcel?"),
        ("user", " "),
        ("user", "Changing the subject: how do I renew my passport?"),
    ]
    first, empty, last = played(said)
    assert empty is None
    assert first is not None
    assert last is not None
    assert (first.frame_opened, last.frame_opened) == (False, True)
    assert first.frame_id != last.frame_id


def test_claims_that_exclude_each_other_are_a_contradiction() -> None:
    said = one("contradiction", premise="O prazo da entrega é dia 15.", hypothesis="O prazo da entrega é dia 20.")
    assert said["label"] == "contradiction"
    assert said["score"] > 0
    other = one("contradiction", premise="O prazo da entrega é dia 15.", hypothesis="O cão corre na praia.")
    assert other["label"] == "neutral"


@pytest.mark.parametrize(
    ("hypothesis", "label"),
    [
        ("Ninguém corre no parque.", "contradiction"),
        ("Uma mulher está sentada no sofá de casa.", "contradiction"),
        ("Uma mulher está correndo.", "entailment"),
        ("A mulher está esperando uma amiga.", "neutral"),
    ],
)
def test_where_no_claims_are_made_the_meanings_of_the_sentences_decide(hypothesis: str, label: str) -> None:
    said = one("contradiction", premise="Uma mulher corre no parque.", hypothesis=hypothesis)
    assert said["label"] == label
    assert (said["score"] > 0.6) == (label == "contradiction")


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("Nos termos da Lei nº 8.112/1990, cabe recurso.", "Lei nº 8.112/1990"),
        ("O art. 5º da Constituição Federal garante.", "art. 5º da Constituição Federal"),
        ("Veja o REsp 1.234.567/SP, que decidiu.", "REsp 1.234.567/SP"),
        ("Conforme a Súmula 331 do TST, responde.", "Súmula 331 do TST"),
        ("Autos 0012843-03.2015.8.07.0001 conclusos.", "Autos 0012843-03.2015.8.07.0001"),
    ],
)
def test_a_legal_reference_ends_where_it_is_wholly_read(text: str, quoted: str) -> None:
    spans = [
        span for span in one("legal_entities", text=text)["spans"] if span["type"] in ("LEGISLACAO", "JURISPRUDENCIA")
    ]
    assert [text[span["start"] : span["end"]] for span in spans] == [quoted]


def test_people_and_organisations_are_spans_too() -> None:
    text = "Ontem o Banco Central ouviu a Dra. Lívia Sampaio."
    found = {text[s["start"] : s["end"]]: s["type"] for s in one("legal_entities", text=text)["spans"]}
    assert found["Banco Central"] == "ORGANIZACAO"
    assert found["Lívia Sampaio"] == "PESSOA"


def test_corpora_are_ranked_by_what_the_stages_bring() -> None:
    documents = [
        {"id": "kettle", "text": "The kettle holds 1.7 litres of water and is filled through the spout."},
        {"id": "lamp", "text": "The lamp is fixed to the wall with two screws and a small bracket."},
    ]
    queries = [{"id": "q1", "text": "How is the lamp fixed?"}, {"id": "q2", "text": "How much water is in the kettle?"}]
    given = list(TASKS["memory_retrieval"]({"id": "c", "lang": "en", "documents": documents, "queries": queries}))
    assert [(each["id"], each["ranked"][0]) for each in given] == [("q1", "lamp"), ("q2", "kettle")]
    spoken = [{**each, "speaker": name, "session": "1"} for each, name in zip(documents, ("Ana", "Rui"), strict=True)]
    said = list(TASKS["memory_retrieval"]({"id": "c", "lang": "en", "documents": spoken, "queries": queries}))
    assert [(each["id"], each["ranked"][0]) for each in said] == [("q1", "lamp"), ("q2", "kettle")]


def test_a_field_that_is_no_text_is_refused() -> None:
    with pytest.raises(TypeError, match="'text' is no text"):
        predictions.text_of({"text": 7})


def test_sub_questions_come_in_the_order_of_their_answers() -> None:
    bridge = one("decomposition", lang="en", text="Who paid for the bridge that Anna Reed designed?")
    assert bridge["sub_questions"] == ["What is the bridge that Anna Reed designed?", "Who paid for #1?"]
    assert bridge["kind"] == "bridge"
    compared = one("decomposition", lang="en", text="Which town is older, Avis or Tomar?")
    assert compared["sub_questions"] == ["How old is Avis?", "How old is Tomar?", "How do #1 and #2 compare?"]
    assert compared["kind"] == "comparison"
