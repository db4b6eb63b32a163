"""A word of interest before a message changes nothing in what the message depends on."""

import pytest

from agents.core.depth.levels import classify
from tests.builders.dialogues import talk

TALKS = {
    "en": talk("Who was the surgeon Okafor?", "Amara Okafor was a surgeon in Lagos who tried a cure with honey."),
    "pt": talk("Quem foi a cirurgiã Moura?", "Lia Moura foi uma cirurgiã de Recife que testou uma cura com mel."),
}
ASKED = [
    ("en", "Right. ", "Was the method used elsewhere?"),
    ("en", "Interesting. ", "Who paid for the trials?"),
    ("en", "Wow, ", "how long did the treatment take?"),
    ("en", "Fascinating! ", "What were the side effects?"),
    ("en", "Hmm. ", "Did the cure work?"),
    ("en", "Right. Interesting. ", "What is the main criticism?"),
    ("pt", "Interessante. ", "Quanto tempo durou o tratamento?"),
    ("pt", "Nossa, ", "quanto custou o tratamento?"),
    ("pt", "Uau! ", "Quais foram os efeitos colaterais?"),
    ("pt", "Impressionante. ", "Qual é a principal crítica?"),
    ("pt", "Caramba, ", "quem pagou os testes?"),
    ("pt", "Ah, ", "e onde foi isso?"),
]


@pytest.mark.parametrize(("lang", "reaction", "message"), ASKED)
def test_a_reaction_is_no_part_of_the_question(lang: str, reaction: str, message: str) -> None:
    bare, led = (classify(text, TALKS[lang], lang=lang) for text in (message, reaction + message))
    assert (led.level, led.intent, led.segment > 0.5) == (bare.level, bare.intent, bare.segment > 0.5)
    assert [sign for sign in led.signals if sign.name != "greeting" and sign.evidence == reaction.strip(" .,!")] == []


def test_a_reaction_alone_is_judged_as_before() -> None:
    assert not any(sign.name == "greeting" for sign in classify("Right.", TALKS["en"], lang="en").signals)
