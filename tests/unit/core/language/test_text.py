"""The words of a message: folding, tokens, content words."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.core.language.text import (
    clip,
    content_words,
    fold,
    jaccard,
    overlap,
    stem,
    surface_terms,
    words,
)


def test_fold_drops_case_accents_and_repeated_blanks_but_keeps_punctuation() -> None:
    assert fold("  Qual É  a\tDIFERENÇA?\n") == "qual e a diferenca?"


def test_fold_reads_typographic_and_decomposed_letters_as_the_plain_ones() -> None:
    assert fold("don\u2019t pa\u0303o") == "don't pao"


def test_identifiers_and_times_stay_whole_and_run_on_sentences_do_not() -> None:
    found = words("Filtre rel_456, DMD.0001/26 às 12:30 no fim.Depois envie-me")
    expected = "filtre rel_456 dmd.0001/26 as 12:30 no fim depois envie-me"
    assert found == tuple(expected.split())


@pytest.mark.covers("AC-15")
def test_surface_terms_are_the_content_words_as_written() -> None:
    assert surface_terms("Quais são as políticas de férias?", "pt") == ("políticas", "férias")
    assert surface_terms("FÉRIAS, férias e Férias", "pt") == ("férias",)


def test_operator_words_and_pleonasms_are_no_content() -> None:
    assert content_words("explica melhor, liste todos e resuma a diferença", "pt") == ()
    assert content_words("can you explain it in more detail, please?", "en") == ()


@pytest.mark.parametrize(
    ("one", "other", "lang"),
    [
        ("política", "políticas", "pt"),
        ("férias", "ferias", "pt"),
        ("reunião", "reunioes", "pt"),
        ("decidiu", "decidimos", "pt"),
        ("orçamento", "orcamentos", "pt"),
        ("policy", "policies", "en"),
        ("approved", "approves", "en"),
        ("meeting", "meetings", "en"),
    ],
)
def test_inflections_share_a_stem(one: str, other: str, lang: str) -> None:
    assert stem(one, lang) == stem(other, lang)


def test_different_words_keep_different_stems() -> None:
    assert len({stem(word, "pt") for word in ("férias", "feira", "prazo", "prato", "conta")}) == 5


def test_possessives_and_clitics_are_cut_off() -> None:
    assert surface_terms("Maria's phone; envia-lhe o relatório", "en")[0] == "maria"
    assert "compara" not in surface_terms("compara-os", "pt")


def test_jaccard_counts_all_words_and_overlap_those_of_the_smaller_side() -> None:
    assert jaccard({"a", "b"}, {"b", "c"}) == pytest.approx(1 / 3)
    assert overlap({"a", "b"}, {"b", "c", "d"}) == pytest.approx(1 / 2)
    assert jaccard((), {"a"}) == 0.0
    assert overlap({"a"}, ()) == 0.0


def test_clip_keeps_head_and_tail_of_a_long_message() -> None:
    long = "a" * 2_000 + "b" * 40_000 + "c" * 500
    assert clip(long) == "a" * 2_000 + " " + "c" * 500
    assert clip("curta") == "curta"


@given(st.text(max_size=400), st.sampled_from(["pt", "en", "xx"]))
def test_any_text_has_words_and_terms(text: str, lang: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert all(words(text))
    assert len(set(surface_terms(text, lang))) == len(surface_terms(text, lang))
    assert set(content_words(text, lang)) == {stem(term, lang) for term in surface_terms(text, lang)}


@pytest.mark.parametrize("piece", ["a.", "a-", "a/1", "'", "_", "é ", "1:", "\u0301", "word "])
def test_fifty_thousand_characters_of_anything_stay_cheap(piece: str) -> None:
    text = (piece * 50_000)[:50_000]
    began = time.process_time()
    words(text)
    fold(text)
    assert time.process_time() - began < 1.0
