"""Mentions of law in a text, wider than references; references and their normal forms are as they were."""

import json
from importlib.resources import files
from pathlib import Path

import pytest

from agents.legal.legal_tokens import tokens
from agents.legal.mentions import mentions
from tests.checkout import ROOT

WEIGHTS = json.loads(files("agents.legal").joinpath("weights/legal_mentions.json").read_text("utf-8"))
FORMS = [
    line.partition("=>")[0].strip()
    for line in Path(__file__).with_name("citations.txt").read_text("utf-8").splitlines()
    if line.partition("=>")[2].strip() and not line.startswith("#")
]


def found(text: str) -> list[str]:
    return [text[each.start : each.end] for each in mentions(text)]


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("A Lei Rouanet exige prestação de contas.", ["Lei Rouanet"]),
        ("A Lei Geral de Proteção de Dados exige consentimento.", ["Lei Geral de Proteção de Dados"]),
        ("Veja o REsp 1.777.123/SP e a Súmula 375 do STJ.", ["REsp 1.777.123/SP", "Súmula 375 do STJ"]),
        ("Nos termos do art. 42 da Lei nº 14.133/2021, cabe recurso.", ["art. 42 da Lei nº 14.133/2021"]),
    ],
)
def test_a_mention_is_a_whole_span_with_or_without_a_normal_form(text: str, quoted: list[str]) -> None:
    assert found(text) == quoted


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "Amanhã o encontro fica para as 15h30 na sala 204.",
        "O tema 3 da prova era meio ambiente.",
        "Order 4821 ships on 12/05/2024.",
        "The law of supply and demand explains the price.",
    ],
)
def test_other_texts_mention_no_law(text: str) -> None:
    assert found(text) == []


def test_most_forms_of_references_are_mentions_even_without_a_sentence_around_them() -> None:
    assert sum(bool(found(form)) for form in FORMS) / len(FORMS) > 0.85


def test_a_token_of_digits_keeps_its_form_and_not_its_number() -> None:
    one, other = (tokens(f"processo {number}") for number in ("0001234-56.2024.5.02.0000", "7654321-98.2019.8.26.0100"))
    assert [each.word for each in one] == [each.word for each in other]
    assert [each.word for each in tokens("em 1998")] == ["em", "#year"]


def test_the_table_says_where_it_comes_from_and_holds_no_number_of_a_case() -> None:
    assert WEIGHTS["fitted_on"]["lener_br"] == "MIT"
    assert (ROOT / WEIGHTS["script"]).is_file()
    assert WEIGHTS["cross_validated"]["LEGISLACAO"]["relaxed_f1"] > 0.95
    assert not [name for name in WEIGHTS["weights"] if sum(char.isdecimal() for char in name) > 8]
