"""Mistyped words of a question: which are read as another, and which never are."""

import pytest

from agents.core.retrieval.spelling import corrected

SAID = ["The warranty of the Kestrel S4 covers the battery, the model KS-0102 for 36 months", "mice are not covered"]


@pytest.mark.parametrize("typed", ["batery", "battrey", "bttery", "batttery", "battary", "BATERY"])
def test_a_mistyped_word_is_read_as_the_one_that_is_nearly_the_same(typed: str) -> None:
    assert corrected(f"And the {typed}?", [typed.lower()], SAID) == "And the battery?"


def test_every_mistyped_word_is_read_so_and_no_part_of_another() -> None:
    read = corrected("warrenty of the batery in the baterybox", ["warrenty", "batery"], SAID)
    assert read == "warranty of the battery in the baterybox"


def test_accents_are_no_mistake_and_are_not_given_back() -> None:
    said = ["A manutenção é feita em março"]
    assert corrected("quando é a mautenção?", ["mautenção"], said) == "quando é a manutencao?"


@pytest.mark.parametrize(
    "unknown",
    ["pattern", "s5", "ks-0103", "37", "nice", "insurance"],
    ids=["another first letter", "a model", "a code", "a number", "too short", "another word"],
)
def test_what_is_another_word_or_no_word_is_read_as_it_is(unknown: str) -> None:
    assert corrected(f"what of {unknown}?", [unknown], SAID) is None


def test_of_many_unknown_words_none_is_taken_for_a_mistyped_one() -> None:
    others = ["elephants", "migrate", "annually", "southwards"]
    assert corrected("Do elephants with a batery migrate annually", [*others[:3], "batery"], SAID) is not None
    assert corrected("Do elephants with a batery migrate annually southwards", [*others, "batery"], SAID) is None


def test_what_is_known_is_not_looked_at() -> None:
    assert corrected("does it cover the batery?", [], SAID) is None
    assert corrected("does it cover the batery?", ["batery"], []) is None
