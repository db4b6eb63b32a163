"""What a text is found by: dates and amounts however they are written, identifiers by their parts."""

import pytest

from agents.core.retrieval.search_terms import document_terms, question_terms


def shares(question: str, asked: str, passage: str, said: str) -> set[str]:
    held = set(document_terms(passage, said))
    return {term.word for term in question_terms(question, asked) if not held.isdisjoint(term.keys)}


@pytest.mark.parametrize(
    ("date", "lang"),
    [
        ("2025-08-09", "en"),
        ("9 August 2025", "en"),
        ("August 9th, 2025", "en"),
        ("09/08/2025", "pt"),
        ("9 de agosto de 2025", "pt"),
        ("9 Aug 2025", "en"),
    ],
)
@pytest.mark.parametrize(
    ("question", "asked"), [("What broke on 9 August 2025?", "en"), ("O que partiu em 2025-08-09?", "pt")]
)
def test_a_date_is_one_term_however_it_is_written(date: str, lang: str, question: str, asked: str) -> None:
    found = shares(question, asked, f"{date}: the winch was mended.", lang)
    assert any("2025" in word and "9" in word for word in found)
    assert not any("2025" in word and "9" in word for word in shares(question, asked, "2025-08-10: a winch.", "en"))


def test_a_date_without_its_year_and_a_month_are_found_too() -> None:
    assert "9 August" in " ".join(shares("Who rang on 9 August?", "en", "2025-08-09: Ines rang.", "en"))
    assert "in August 2025" in shares("What was mended in August 2025?", "en", "2025-08-09: the winch", "en")
    assert "on 9 August 2025" in shares("Who rang on 9 August 2025?", "en", "9 August: Ines rang.", "en")


@pytest.mark.parametrize("written", ["1.250,00", "1,250.00", "1250", "1 250,00"])
def test_an_amount_is_one_term_however_it_is_written(written: str) -> None:
    assert "1250" in shares("who paid 1250 euros", "en", f"Ines paid {written} euros", "pt")
    assert "1250" not in shares("who paid 1250 euros", "en", "Ines paid 1251 euros", "pt")


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("SESSION_IDLE_LIMIT", "session idle limit"),
        ("sessionIdleLimit", "session idle limit"),
        ("session-idle-limit", "session idle limit"),
        ("TLSCertPath", "tls cert path"),
    ],
)
def test_an_identifier_is_found_by_its_parts_and_as_a_whole(identifier: str, words: str) -> None:
    passage = f"`{identifier}` is 40."
    assert shares(f"what is the {words}", "en", passage, "en") == set(words.split())
    assert len(shares(f"what is {identifier}", "en", passage, "en")) >= 1


def test_a_hyphenated_word_is_found_written_apart() -> None:
    assert {"set", "top"} <= shares("who rents set-top boxes", "en", "Set top boxes are rented by Ines.", "en")


def test_any_text_has_its_terms_in_bounded_time() -> None:
    for hostile in ("1. 2/3 05 mar x " * 6_000, "aB" * 50_000, "1 000" * 20_000, "-" * 100_000, "a-" * 50_000):
        assert isinstance(document_terms(hostile, "en"), tuple)
