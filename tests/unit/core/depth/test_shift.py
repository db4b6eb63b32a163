"""When a message leaves the topic without saying so: what of the past it is held against."""

import pytest

from agents.core.conversation.memory import Turns
from agents.core.depth.levels import classify, is_topic_shift
from schemas.depth import Anchor, DepthLevel
from tests.builders.dialogues import ASKED, OFFER, PROJECT, talk

D0, D1, D2, D3, D4 = DepthLevel

LONG: Turns = talk(
    "Fala do edital da prefeitura",
    "O edital da prefeitura exige garantia bancária.",
    "e os concorrentes?",
    "Três empresas de engenharia entregaram envelopes.",
    "qual delas venceu?",
    "A construtora Horizonte venceu com o menor preço.",
)


def level(text: str, history: Turns, lang: str = "pt", anchor: Anchor | None = None) -> DepthLevel:
    return classify(text, history, lang=lang, anchor=anchor).level


@pytest.mark.covers("S0-22", "S0-28")
def test_words_of_older_turns_do_not_hold_a_topic_that_was_left() -> None:
    text = "Como funciona uma conta bancária no exterior?"
    assert level(text, LONG) == D4
    assert level(text, LONG[:2]) == D2


@pytest.mark.covers("S0-22")
def test_the_anchor_holds_the_topic_however_old() -> None:
    anchor = Anchor(topic="edital", terms=("edital", "bancária"))
    assert level("Como funciona uma conta bancária no exterior?", LONG, anchor=anchor) == D2


@pytest.mark.covers("S0-22")
@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("Perfeito, obrigado! Preciso também de um hotel", "pt"),
        ("Thanks! Please find me a hotel", "en"),
    ],
)
def test_courtesy_settles_what_went_before_so_that_one_word_opens_a_topic(text: str, lang: str) -> None:
    history = PROJECT if lang == "pt" else talk("Book a table for two.", "The table is booked for eight o'clock.")
    assert level(text, history, lang) == D4


def test_after_an_offer_a_request_opens_a_topic() -> None:
    assert level("Quero reservar hotel com piscina", OFFER) == D4


@pytest.mark.covers("CF-05")
def test_a_request_after_a_question_answers_it() -> None:
    assert level("Preciso de doze lugares", ASKED) == D1
    assert level("Agora não, obrigado. Preciso de um hotel barato", ASKED) == D4


def test_a_second_statement_in_a_row_is_no_new_topic() -> None:
    first = talk("A equipe pretende apresentar o plano amanhã")
    more = "Nosso fornecedor mandou caixas azuis com etiquetas novas pelo correio"
    assert not is_topic_shift(more, first)
    assert is_topic_shift("Quais são as políticas de férias?", first)


@pytest.mark.covers("CF-04")
def test_turns_in_another_language_at_the_end_say_nothing_about_the_topic() -> None:
    mixed = (*PROJECT, *talk("What are the vacation policies?", "Vacation is thirty days and must be booked early."))
    assert level("Como está a licitação da escola municipal?", mixed) != D4
