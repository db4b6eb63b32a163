"""A message that asks several questions is cut into them, and one that asks a single one is left alone."""

import pytest

from agents.core.language.question_parts import MAX_PARTS, question_parts

SEVERAL = [
    (
        "pt",
        "Qual é o prazo para apelação e qual é o prazo para embargos?",
        ("Qual é o prazo para apelação", "qual é o prazo para embargos?"),
    ),
    ("pt", "A faxina custa quanto, e em que dia ela vem?", ("A faxina custa quanto", "em que dia ela vem?")),
    (
        "pt",
        "Empregado em home office tem direito a horas extras e o empregador pode reduzir o salário por acordo?",
        ("Empregado em home office tem direito a horas extras", "o empregador pode reduzir o salário por acordo?"),
    ),
    (
        "pt",
        "Quantos dias úteis não contam nos 15 dias do art. 5 e quem não pode recorrer?",
        ("Quantos dias úteis não contam nos 15 dias do art. 5", "quem não pode recorrer?"),
    ),
    (
        "en",
        "Who waters the ferns? When is the boiler checked?",
        ("Who waters the ferns?", "When is the boiler checked?"),
    ),
    (
        "en",
        "How long is the permit valid and what does the renewal cost?",
        ("How long is the permit valid", "what does the renewal cost?"),
    ),
    (
        "en",
        "Does the tenant pay for repairs, and can the landlord raise the rent?",
        ("Does the tenant pay for repairs", "can the landlord raise the rent?"),
    ),
]
ONE = [
    ("pt", "Quem paga a água e a luz?"),
    ("pt", "O contrato diz quando começa a obra."),
    ("pt", "Quando chove e faz frio, as crianças ficam onde?"),
    ("pt", "Art. 5 CF"),
    ("en", "What do Ana and Bruno eat?"),
    ("en", "I moved when the lease ended and what I liked was the garden."),
    ("en", "What?! And why?"),
    ("en", ""),
]


@pytest.mark.parametrize(("lang", "said", "parts"), SEVERAL)
def test_each_question_of_a_message_stands_for_itself(lang: str, said: str, parts: tuple[str, ...]) -> None:
    assert question_parts(said, lang) == parts


@pytest.mark.parametrize(("lang", "said", "parts"), SEVERAL)
def test_accents_do_not_matter(lang: str, said: str, parts: tuple[str, ...]) -> None:
    plain = str.maketrans("áãâéêíóõôúç", "aaaeeiooouc")
    assert question_parts(said.translate(plain), lang) == tuple(part.translate(plain) for part in parts)


@pytest.mark.parametrize(("lang", "said"), ONE)
def test_a_single_question_is_not_cut(lang: str, said: str) -> None:
    assert question_parts(said, lang) == ()


def test_no_more_parts_than_can_be_searched() -> None:
    asked = " ".join(f"Where is box {number}?" for number in range(40))
    assert question_parts(asked, "en") == tuple(f"Where is box {number}?" for number in range(MAX_PARTS))
