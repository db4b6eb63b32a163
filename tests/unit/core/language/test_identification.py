"""The language of a text: by function words outside names, by spelling, else as before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.core.language.identification import first_language, identify_language


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("and the budget?", "en"),
        ("e o orçamento?", "pt"),
        ("What time is it?", "en"),
        ("How should I structure the repository layer?", "en"),
        ("Quais são as políticas de férias?", "pt"),
        ("como solicitar reembolso de viagem", "pt"),
        ("faz o deploy", "pt"),
    ],
)
def test_function_words_tell_whatever_was_spoken_before(text: str, lang: str) -> None:
    assert [identify_language(text, default) for default in ("pt", "en")] == [lang, lang]


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("I live in São Paulo.", "en"),
        ("I was born in Évora.", "en"),
        ("I study at the Universidade de São João del Rei", "en"),
        ("We met João and Conceição in Belém yesterday.", "en"),
        ("She lives in Ribeirão Preto, near Praça da República.", "en"),
        ("What did José Simão say about Pão de Açúcar?", "en"),
        ("Who is João Guimarães?", "en"),
        ("i live in são paulo", "en"),
        ("Moro em New York.", "pt"),
        ("A minha irmã mudou-se para Los Angeles.", "pt"),
        ("Quem é o John Smith?", "pt"),
        ("Reunião com Brian e Kathy na Wall Street", "pt"),
        ("Gostei do The Lord of the Rings.", "pt"),
        ("Manda para 42 Oxford Street, London", "pt"),
    ],
)
def test_names_of_the_other_language_tell_nothing(text: str, lang: str) -> None:
    other = "pt" if lang == "en" else "en"
    assert first_language(text, other) == lang
    assert len(text.split()) < 4 or identify_language(text, other) == lang


@pytest.mark.covers("AC-04")
@pytest.mark.parametrize(
    "text",
    ["👍", "ok", "OK!", "???", "E21?", "", "42", "12 + 3", "1 2 3 4 5", "deploy", "OKR", "faz deploy"],
)
def test_what_is_of_no_language_or_of_both_keeps_the_one_before(text: str) -> None:
    assert [identify_language(text, default) for default in ("pt", "en")] == ["pt", "en"]


@pytest.mark.parametrize("text", ["MY ORDER HAS NOT ARRIVED", "The Return of the King", "WHERE IS JOÃO?"])
def test_a_text_in_capitals_is_read_whole(text: str) -> None:
    assert identify_language(text, "pt") == "en"


@given(st.text(max_size=400))
def test_any_text_has_a_language_and_a_first_one(text: str) -> None:
    assert identify_language(text, "pt") in {"pt", "en"}
    assert first_language(text, "default") in {"pt", "en", "default"}
