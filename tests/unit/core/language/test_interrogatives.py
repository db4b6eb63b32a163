"""What asks is told from what says something, with or without a question mark."""

import pytest

from agents.core.language.interrogatives import is_asked_again, is_question, only_asks
from streams.testing.pipeline import Pipeline

ASKING = (
    "how wide is the twin",
    "whats the fee for a second key",
    "who drives on sundays",
    "where did the ladder end up",
    "what can't she eat",
    "remind me which colour we chose",
    "do they sell oat milk",
    "can you tell me who has the key",
    "is there parking",
    "como se divide a gorjeta",
    "qto custa a segunda via",
    "quem rega as plantas quando eu viajo",
    "que legume eu não suporto",
    "onde fica a sala 5",
    "bom dia, qual o ramal da portaria",
    "O prazo é sexta?",
)
TELLING = (
    "When I arrive on Friday I will call you",
    "what I like most is jazz",
    "Have a meeting with Ana on Friday at 3",
    "will send it tomorrow",
    "Do not forget: rent is due on the 5th",
    "show starts at 8",
    "can you book a table for four on Friday",
    "I can't eat kiwi",
    "Quem assinou foi a Carla",
    "Como combinado, o prazo é dia 20",
    "O que eu quero é paz",
    "quando chove eu fico em casa",
    "onde eu moro tem feira na quinta",
    "posso ir na sexta às 9",
    "Que bom, a festa é dia 5",
    "mostra de cinema é dia 4",
    "Could you please remember that the boat leaves from pier 3?",
    "Can you make a note of this: the spare key is under the pot?",
    "The rent goes up to 700, ok?",
    "Podes anotar que o cacifo é o 31?",
    "Consegue guardar aí que a senha do portão é 5512?",
    "A reunião passou para as 16h, está bem?",
)
ASKING_STILL = (
    "Can you remember where the boat leaves from?",
    "Podes lembrar onde deixei a chave?",
    "Is it ready, please?",
)


@pytest.mark.parametrize("said", [*ASKING, *ASKING_STILL])
def test_a_question_needs_no_question_mark(said: str) -> None:
    assert is_question(said)


@pytest.mark.parametrize("said", TELLING)
def test_a_statement_that_opens_like_a_question_is_none(said: str) -> None:
    assert not is_question(said)


def test_a_text_only_asks_where_all_its_sentences_do() -> None:
    assert only_asks("Hi. How big is the twin? And which floor", "en") is False
    assert only_asks("How big is the twin? And which floor is it on?", "en") is True


def test_a_message_over_again_is_told_from_the_statement_that_answers_it() -> None:
    assert is_asked_again("Posso levar meu rádio pra piscina", "posso levar o meu rádio pra piscina")
    assert not is_asked_again("Estou na sala 5.", "Estou na sala 5?")
    assert not is_asked_again("I may take my radio to the pool", "which radio may I take to the pool, and when")


@pytest.mark.parametrize("asked", ["how wide is the twin room", "Posso dormir com meu gato no quarto twin"])
def test_what_was_asked_before_does_not_stand_in_for_the_answer(asked: str) -> None:
    with Pipeline() as fathom:
        fathom.document(
            "rooms", "Rooms", "# Twin room\n\nThe twin room is 4 metres wide. No quarto twin, gato não dorme."
        )
        fathom.say(asked, conversation="before")
        pack = fathom.ask(asked, conversation="now").model_dump(mode="json")
    said = [event["label"] for event in pack.get("episodic", {}).get("relevant_events", [])]
    assert not any(asked in label for label in said)
    assert "4 metres wide" in str(pack["semantic"])
