"""What is shown of a long text that was found: the sentences that answer, in their order."""

import pytest

from agents.core.retrieval.evidence import ELLIPSIS, WHOLE_WORDS, excerpt

FILLER = "The weather on that day was mild and nobody remembers much of it. "
LONG = FILLER * 4 + "The invoice of Marta is due on May 3. " + FILLER * 12 + "Marta pays the invoice by card."


def test_a_short_text_is_shown_whole() -> None:
    assert excerpt("When is the invoice due?", "en", "Nothing of it.", "en") == "Nothing of it."


@pytest.mark.covers("S2-02")
def test_of_a_long_text_the_sentences_that_have_the_questions_words_are_shown_in_their_order() -> None:
    assert len(LONG.split()) > WHOLE_WORDS
    shown = excerpt("When is the invoice of Marta due?", "en", LONG, "en")
    assert shown == f"{ELLIPSIS} The invoice of Marta is due on May 3. {ELLIPSIS} Marta pays the invoice by card."


def test_a_long_text_that_has_none_of_them_is_shown_by_its_beginning() -> None:
    shown = excerpt("Qual o prazo?", "pt", FILLER * 20, "en")
    assert shown == f"{FILLER.strip()} {ELLIPSIS}"
