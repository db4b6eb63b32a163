"""What a decision says besides its level: the thing named, how sure it is, how much was read."""

import pytest

from agents.core.depth.levels import classify
from agents.core.language.phrases import read
from tests.builders.dialogues import DEADLINE, PROJECT


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("qual o prazo do projeto X?", "projeto X"),
        ("filtre rel_456", "rel_456"),
        ("abra o DMD.0001/26", "DMD.0001/26"),
        ('o que diz a cláusula "força maior"?', "força maior"),
        ("What does Ana Souza do?", "Ana Souza"),
        ("e o orçamento?", None),
        ("Qual o prazo?", None),
    ],
)
def test_the_entity_is_what_is_named(text: str, about: str | None) -> None:
    assert classify(text, PROJECT, lang="pt").entity == about


def test_a_message_of_many_sentences_is_read_at_its_head_and_tail() -> None:
    sentences = read("".join(f"frase{at}. " for at in range(200)))
    assert len(sentences) == 50
    assert (sentences[0].plain, sentences[-1].plain) == (("frase0",), ("frase199",))


def test_confidence_grows_with_evidence() -> None:
    said = [
        classify(text, DEADLINE, lang="pt").confidence
        for text in ("meu vizinho viajou cedo", "o prazo está errado", "não concordo")
    ]
    assert said == sorted(said)
    assert said[0] < 0.6 < said[1] < said[2]
