"""No text makes a regular expression take more than its length: each is run over hostile texts as it is used."""

import math
import re
import signal
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from tests.unit.house.patterns import Used, used

SCREENED, SIZE = 2_000, 5_000
# Four times the text: four times the work where it is linear, sixteen times where it is quadratic.
MAX_GROWTH = 8
# Only the slowest texts of a pattern are measured at both sizes, and again while another load may have slowed one.
LOOKED_AT, TRIES = 3, 8
# Ends what would take hours; a linear pattern takes milliseconds.
HANGS_S = 0.5
BLANKS = (" ", "\t", "\n", "\r\n", "\u00a0", " \n", "\u2028", " \t\u00a0\u3000")
RUNS = ("a", "A", "aB", "é", "İ", "中", "👍", "0", "1.", "1,2", "-", "_", "=", "*", "'", '"', "…", "?!")
NEAR = (
    "a ", "a, ", "A b ", "12 ", "Ab. ", "and ", "não ", "a-", "a@b.", "://a/", "1/", "2026-", "12:3", "&amp", "Dr. ",
)  # fmt: skip
OPEN = ("(", "[", "{", "<", "“", "<!--", "[a](", "((a)", "<a ", "```\n")
LINES = ("\n- ", "\n# ", "\n1. ", "\n| a ", "> \n", ": a\n")


def units(pattern: re.Pattern[Any]) -> Iterator[str]:
    """What hostile texts are made of, again and again; at the end the longest words of the pattern itself."""
    yield from (*BLANKS, *RUNS, *NEAR, *OPEN, *LINES)
    said = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    plain = re.sub(r"\(\?P?[^:)>]*[:)>]|\\.|\[[^\]]*\]|[?*+{}|()^$]", "\0", said)
    words = sorted({each for each in plain.split("\0") if each.strip()}, key=len)[-2:]
    yield from (f"{word}{end}" for word in words for end in ("", " "))


@cache
def text(unit: str, size: int) -> str:
    return f"{unit * (size // len(unit))}x"


def hangs(*_: object) -> None:
    raise TimeoutError


def seconds(each: Used, unit: str, size: int) -> float:
    """The CPU time of one pass. `search` is the first step of `finditer`, `sub` its steps and the pieces between."""
    said = text(unit, size)
    hostile: Any = said.encode() if isinstance(each.pattern.pattern, bytes) else said
    signal.signal(signal.SIGVTALRM, hangs)
    began = time.thread_time()
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, HANGS_S)
        if each.found:
            for _ in each.pattern.finditer(hostile):
                pass
        if not each.found and "match" in each.ways:
            each.pattern.match(hostile)
        if not each.found and "fullmatch" in each.ways:
            each.pattern.fullmatch(hostile)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except TimeoutError:
        return math.inf
    return time.thread_time() - began


def growth(each: Used, unit: str) -> float:
    """How many times longer four times the text takes, by the least of some tries."""
    short, long = math.inf, math.inf
    for _ in range(TRIES):
        short, long = min(short, seconds(each, unit, SIZE)), min(long, seconds(each, unit, 4 * SIZE))
        if long <= MAX_GROWTH * short or long == math.inf:
            break
    return math.inf if long == math.inf else long / short


def worst(each: Used) -> tuple[float, str]:
    """The largest growth of a pattern, and the unit of the text, of up to 20,000 characters."""
    taken = {unit: seconds(each, unit, SCREENED) for unit in units(each.pattern)}
    return max((growth(each, unit), unit) for unit in sorted(taken, key=lambda unit: taken[unit])[-LOOKED_AT:])


def test_no_pattern_takes_more_than_the_length_of_its_text():
    patterns = used()
    assert len(patterns) > 200
    found = {each.name: worst(each) for each in patterns}
    assert {name: unit for name, (times, unit) in found.items() if times > MAX_GROWTH} == {}


@pytest.fixture
def measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too slow is so at every try: more of them are for what another load slows once."""
    monkeypatch.setattr(f"{__name__}.TRIES", 1)


@pytest.mark.usefixtures("measured_once")
@pytest.mark.parametrize(("pattern", "unit"), [(r"\s*<b>.*?</b>", " "), (r"\w+@", "a"), (r"(?:a|aa)+b", "a")])
def test_a_pattern_that_takes_more_is_found(pattern: str, unit: str):
    assert growth(Used(pattern, re.compile(pattern), frozenset({"sub"})), unit) > MAX_GROWTH


def test_what_looks_at_one_place_may_begin_with_blanks(monkeypatch: pytest.MonkeyPatch):
    blanks = re.compile(r"\s*<b>")
    assert growth(Used("blanks", blanks, frozenset({"match"})), " ") <= MAX_GROWTH
    monkeypatch.setattr(f"{__name__}.TRIES", 1)  # as above
    assert growth(Used("blanks", blanks, frozenset({"search"})), " ") > MAX_GROWTH
