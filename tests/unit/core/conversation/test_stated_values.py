"""A value that takes the place of another because the same is said again with it."""

from datetime import UTC, datetime, timedelta

import pytest

from agents.core.conversation.stated_values import restated

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


def again(old: str, new: str, lang: str) -> tuple[str, str] | None:
    found = restated(old, AT, new, AT + timedelta(days=30), lang)
    return found and (found[0].words, found[1].words)


@pytest.mark.parametrize(
    ("old", "new", "lang", "values"),
    [
        ("The pool costs 29 euros a month.", "The pool costs 34 euros a month.", "en", ("29 euros", "34 euros")),
        ("The choir practice is at 18:15.", "The choir practice is at 19:30.", "en", ("18:15", "19:30")),
        ("For the raffle we have 60 prizes.", "Hi again! For the raffle we have 75 prizes.", "en", ("60", "75")),
        ("Our crates hold 40 kg each.", "Our crates hold 35 kg each.", "en", ("40", "35")),
        ("A piscina custa 29 euros por mês.", "A piscina custa 34 euros por mês.", "pt", ("29 euros", "34 euros")),
        ("O ensaio do coro é às 18h15.", "O ensaio do coro é às 19h30.", "pt", ("às 18h15", "às 19h30")),
        ("Para a rifa temos 60 prémios.", "Para a rifa temos 75 prémios.", "pt", ("60 prémios", "75 prémios")),
        ("Tenho 9 dias de folga por tirar.", "Tenho 4 dias de folga por tirar.", "pt", ("9 dias", "4 dias")),
    ],
)
def test_the_same_words_with_another_value_replace_it(old: str, new: str, lang: str, values: tuple[str, str]) -> None:
    found = again(old, new, lang)
    assert found is not None
    assert [each.split(" ")[0] for each in found] == [each.split(" ")[0] for each in values]


@pytest.mark.parametrize(
    ("old", "new", "lang"),
    [
        ("I paid 20 euros for the ferry.", "I paid 25 euros for the ferry.", "en"),
        ("Paguei 20 euros pela balsa.", "Paguei 25 euros pela balsa.", "pt"),
        ("Hall 1 has 200 seats.", "Hall 2 has 300 seats.", "en"),
        ("A sala 1 tem 200 lugares.", "A sala 2 tem 300 lugares.", "pt"),
        ("My sister is called Ana.", "My sister is called Rita.", "en"),
        ("The deadline is 3 May.", "The deadline is 9 May.", "en"),
        ("O prazo é dia 15.", "O prazo é dia 20.", "pt"),
        ("The pool costs 29 euros a month.", "The sauna costs 34 euros a month.", "en"),
        ("The pool costs 29 euros a month.", "The pool costs 29 euros a month.", "en"),
        ("The pool costs 29 euros a month.", "Does the pool cost 34 euros a month?", "en"),
        ("De manhã tomo 5 mg do xarope.", "À noite tomo 10 mg do xarope.", "pt"),
        ("A piscina custa 29 euros por mês.", "A piscina não custa 29 euros por mês.", "pt"),
    ],
)
def test_what_was_and_what_is_of_another_thing_replaces_nothing(old: str, new: str, lang: str) -> None:
    assert again(old, new, lang) is None
