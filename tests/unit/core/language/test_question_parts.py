"""A message that asks several questions is cut into them, and one that asks a single one is left alone."""

import pytest

from agents.core.language.question_parts import MAX_PARTS, asked_parts, question_parts

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


MAILS = [
    (
        "en",
        "Hello team,\n\nthanks for the cake, it was lovely. One question: who orders the toner?\n\nBest,\nIda",
        ["who orders the toner?"],
    ),
    ("en", "who orders the toner?\n\n--\nIda Lund | Office | Building 4", ["who orders the toner?"]),
    (
        "en",
        "The printer upstairs has been red since Monday and my boss wants a report on it, so who orders the toner?",
        ["who orders the toner?"],
    ),
    (
        "pt",
        "Ontem a impressora parou e o relatório ficou por imprimir. Quem encomenda o toner?",
        ["Quem encomenda o toner?"],
    ),
    ("en", "Is it open? Who has the key?\n> Where is the toner?\n> Ida", ["Is it open?", "Who has the key?"]),
    ("en", "Please translate this: Who orders the toner and where is it?", []),
    ("en", "Who orders the toner?", []),
    ("en", "The toner is empty.", []),
]


@pytest.mark.parametrize(("lang", "said", "parts"), MAILS)
def test_a_question_within_a_mail_is_searched_by_its_own_words(lang: str, said: str, parts: list[str]) -> None:
    assert [each.text for each in asked_parts(said, lang)] == parts


def test_a_part_of_a_sentence_is_completed_by_it_and_a_sentence_stands_alone() -> None:
    joined = asked_parts("What is the lease of flat 3, and when does it end?", "en")
    assert [(each.alone, "flat 3" in each.context) for each in joined] == [(False, True), (False, True)]
    (part,) = asked_parts("I rent flat 3. When does the lease end?", "en")
    assert (part.alone, part.context) == (True, "I rent flat 3.")
