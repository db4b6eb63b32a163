"""Mistyped words of a question: which are read as another, and which never are."""

import random
import re
from difflib import get_close_matches

import pytest

from agents.core.language import text
from agents.core.retrieval import spelling
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


@pytest.mark.parametrize("seed", range(20))
def test_what_is_found_again_is_read_as_it_was_the_first_time(seed: int) -> None:
    """Remembered words of a text, against those taken from the texts anew."""
    chance = random.Random(seed)
    known = ["bateria", "garantia", "orçamento", "diretoria", "reembolso", "battery", "warranty", "KS-0102", "4711"]
    said = [" ".join(chance.choices(known, k=6)) for _ in range(5)]
    typed = [_mistyped(word, chance) for word in chance.sample(known, 2)]
    question = f"onde está {' e '.join(typed)}?"
    first = corrected(question, typed, said)
    assert corrected(question, typed, [*reversed(said)]) == first == _read_anew(question, typed, said)


def _mistyped(word: str, chance: random.Random) -> str:
    at = chance.randrange(1, len(word))
    return word[:at] + word[at + 1 :]


def _read_anew(question: str, unknown: list[str], found: list[str]) -> str | None:
    mistyped = {text.fold(word): word for word in unknown if len(word) >= spelling.MIN_LETTERS and word.isalpha()}
    written = sorted({word for each in found for word in text.words(each) if len(word) >= 5 and word.isalpha()})
    read = question
    for folded, word in mistyped.items():
        same = [each for each in written if each[0] == folded[0]]
        for likest in get_close_matches(folded, same, 1, spelling.MIN_SIMILARITY):
            read = re.sub(rf"(?i)\b{re.escape(word)}\b", likest, read)
    return read if read != question else None


@pytest.mark.parametrize(
    ("question", "acronym", "said", "read"),
    [
        ("Who pays for BYOD?", "byod", "Bring your own device is not insured.", "Who pays for bring your own device?"),
        ("Is P2M on?", "p2m", "Point to multipoint is on.", None),
        ("When is the EOD?", "eod", "The end-of-day report is due at six.", "When is the end of day?"),
        ("Quem fala com o RH?", "rh", "Os recursos humanos ficam no 2.º andar.", "Quem fala com o recursos humanos?"),
        ("who is at rh?", "rh", "Run home.", None),
    ],
)
def test_an_acronym_is_written_out_as_the_texts_have_it(
    question: str, acronym: str, said: str, read: str | None
) -> None:
    assert corrected(question, [acronym], [said]) == read
