"""What opens a segment depends on the talk: in a chat either side begins, in errands the next step is nothing new."""

import pytest

from agents.core.conversation.memory import ConversationTurn
from agents.core.depth.levels import classify, segment_of_answer
from schemas.topics import CONVERSATION_TURNS
from streams.testing.pipeline import Pipeline
from tests.builders.dialogues import talk

CHAT = talk(
    "I just came home from the lake.",
    "Nice, I am at home with my sister today.",
    "My brother is here as well.",
    "My sister bakes on Sundays.",
    "That sounds cosy.",
)
CHAT_PT = talk(
    "Acabei de voltar da praia.",
    "Que bom, eu moro longe do mar.",
    "Aqui chove muito.",
    "Gosto de chuva, minha casa fica no morro.",
    "Que delícia.",
)
SERVED = talk(
    "I need a form for my passport.",
    "It is form 12, at the town hall.",
    "Where is the town hall?",
)
BEGUN = (
    "Do you have any pets? My dog is called Biscuit.",
    "What do you do for work? I am a carpenter.",
    "I play the cello, do you like music?",
    "Have you ever been to Norway? My uncle lives there.",
    "I am training for a marathon, do you do any sports?",
    "What is your favourite food? I am a big fan of noodles.",
)
BEGUN_PT = (
    "Você tem bichos? Meu cachorro se chama Biscoito.",
    "Você trabalha com quê? Eu sou marceneiro.",
    "Eu toco violoncelo, você gosta de música?",
    "Você já foi a Portugal? Meu tio vive lá.",
    "Estou treinando para uma corrida, você faz esporte?",
    "Qual é a sua comida preferida? Sou fã de macarrão.",
)
ERRAND = talk(
    "I need to rent a bicycle for Saturday.",
    "Which size do you need, and for how long?",
    "A big one, for three hours.",
    "Wheels & Co has one for 12 euros. Would you like to take it?",
)
ERRAND_PT = talk(
    "Preciso alugar uma bicicleta para sábado.",
    "De qual tamanho, e por quanto tempo?",
    "Grande, por três horas.",
    "A Roda Livre tem uma por 40 reais. Você quer reservar, qual o seu nome?",
)
STEPS = (
    "Yes, and does it have a basket?",
    "Is there anything cheaper?",
    "What is their address?",
    "How much is it in all?",
    "Are there any other shops?",
    "When do they close?",
)
STEPS_PT = (
    "Sim, ela tem cesta?",
    "Tem outra mais barata?",
    "Qual o endereço deles?",
    "Quanto fica no total?",
    "Tem outras lojas?",
    "Quando eles fecham?",
)


def _segment(text: str, history: tuple[ConversationTurn, ...], lang: str) -> float:
    return classify(text, history, lang=lang).segment


@pytest.mark.parametrize(("begun", "history", "lang"), [(BEGUN, CHAT, "en"), (BEGUN_PT, CHAT_PT, "pt")])
def test_in_a_chat_the_assistant_begins_something(
    begun: tuple[str, ...], history: tuple[ConversationTurn, ...], lang: str
) -> None:
    assert [text for text in begun if segment_of_answer(text, history, lang) < 0.5] == []


def test_an_assistant_that_serves_opens_nothing() -> None:
    assert {segment_of_answer(text, (*ERRAND, *SERVED), "en") for text in ("How many?", "It is in Mill Street.")} == {0}


@pytest.mark.parametrize(("steps", "history", "lang"), [(STEPS, ERRAND, "en"), (STEPS_PT, ERRAND_PT, "pt")])
def test_the_next_step_of_an_errand_opens_nothing(
    steps: tuple[str, ...], history: tuple[ConversationTurn, ...], lang: str
) -> None:
    assert [text for text in steps if _segment(text, history, lang) >= 0.5] == []


@pytest.mark.parametrize(
    ("text", "history", "lang"),
    [
        ("Thanks. Now I want to hear some old jazz.", ERRAND, "en"),
        ("Could you also find me a dentist in Leith?", ERRAND, "en"),
        ("Obrigado. Agora quero ouvir um samba antigo.", ERRAND_PT, "pt"),
        ("Também preciso de um dentista em Olinda.", ERRAND_PT, "pt"),
    ],
)
def test_another_errand_opens_a_segment(text: str, history: tuple[ConversationTurn, ...], lang: str) -> None:
    done = talk("ok", "It is reserved." if lang == "en" else "Está reservada.")
    assert _segment(text, (*history, *done), lang) > 0.5


def test_a_turn_says_whether_it_opens_a_segment() -> None:
    with Pipeline() as fathom:
        for turn in CHAT:
            fathom.say(turn.content, role=turn.role)
        said = fathom.say(BEGUN[0], role="assistant")
        turns = {each.event.message_id: each.event.segment for each in fathom.events(CONVERSATION_TURNS)}
    assert (turns[said] or 0) > 0.5
