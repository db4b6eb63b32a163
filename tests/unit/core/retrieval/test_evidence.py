"""What is shown of a long text that was found: the sentences that answer, in their order."""

import pytest

from agents.core.retrieval.evidence import ELLIPSIS, WHOLE_WORDS, excerpt, matching_rows, stated

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


PRICES = """Prices include tax.

| Thing | Price |
|---|---|
| Ladder | 80 euros |
| Bucket | 7 euros |
| Brush, wide | 9 euros |
| Brush, narrow | 6 euros |
| Paint | 21 euros |

Delivery is extra."""


def test_of_a_table_the_head_and_the_rows_that_match_are_shown_with_what_is_around_it() -> None:
    shown = matching_rows("What is the price of a brush in euros?", "en", PRICES, "en")
    kept = "Prices include tax.\n\n| Thing | Price |\n|---|---|\n| Brush, wide | 9 euros |\n| Brush, narrow | 6 euros |"
    assert shown == f"{kept}\n\nDelivery is extra."


@pytest.mark.parametrize("question", ["What is cheapest?", "What costs less than twenty euros?", "Is delivery extra?"])
def test_a_table_is_shown_whole_where_no_row_is_named(question: str) -> None:
    assert matching_rows(question, "en", PRICES, "en") == PRICES


def test_a_turn_states_what_the_question_does_not_have_and_its_own_questions_state_nothing() -> None:
    asked = "When is the invoice due?"
    assert stated(asked, "en", "The invoice is due on Friday, says Marta.", "en") == 3
    assert stated(asked, "en", "When is the other invoice of Marta due?", "en") == 0
