"""Tokens of a Brazilian legal text, each with its form and its class of words."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from agents.core.language.lexicons import lexicon
from agents.core.language.text import fold

NUMBER = "9"
_TOKEN = re.compile(r"\d+(?:[.\-/⁄]\d+)*|[^\W\d_]+|[^\w\s]|_")
_ROMAN = re.compile(r"[IVXLC]+")
_DIGITS = ((1, "a"), (2, "b"), (3, "c"), (4, "d"), (6, "e"), (9, "f"), (13, "g"), (19, "h"))
_SIGNS = {"act", "code", "charter", "series"}


@dataclass(frozen=True, slots=True)
class LegalToken:
    """A token: its place, folded word (a number by its form), shape, and class of words."""

    start: int
    end: int
    raw: str
    word: str
    shape: str
    kind: str


def tokens(text: str) -> tuple[LegalToken, ...]:
    """The tokens of a text, in order: words, numbers with their dots, dashes and strokes, and single marks."""
    return tuple(_token(match) for match in _TOKEN.finditer(text))


def may_mention(read: Iterable[LegalToken]) -> bool:
    """Whether there is a number or a word for an act or a series of rulings: elsewhere is no mention."""
    return any(each.kind in _SIGNS or each.kind == NUMBER for each in read)


def _token(match: "re.Match[str]") -> LegalToken:
    raw = match[0]
    word = _number(raw) if raw[0].isdecimal() else fold(raw)
    return LegalToken(*match.span(), raw, word, _shape(raw), _class(raw, word))


def _number(raw: str) -> str:
    """The form of a number: a year, or its marks and how many digits; never the number itself."""
    if raw.isdecimal() and len(raw) == 4 and raw[:2] in ("19", "20"):
        return "#year"
    marks = "".join("/" if char == "⁄" else char for char in raw if not char.isdecimal())
    count = len(raw) - len(marks)
    return "#" + marks + next((size for most, size in _DIGITS if count <= most), "i")


def _shape(raw: str) -> str:
    if raw[0].isdecimal():
        return "N" + re.sub(r"\d+", lambda run: str(min(len(run[0]), 9)), raw.replace("⁄", "/"))
    if not raw.isalpha():
        return raw
    if len(raw) == 1:
        return "X" if raw.isupper() else "x"
    if raw.isupper() or raw.islower():
        return "XX" if raw.isupper() else "xx"
    return ("Xx" if raw[1:].islower() else "XxX") if raw[0].isupper() else "xX"


@cache
def _classes() -> Mapping[str, str]:
    return {word: part for part, words in lexicon("legal").parts("word_class").items() for word in words}


def _class(raw: str, word: str) -> str:
    """The class of a token: a number, one of the lexicon, a mark itself, or how the word is written."""
    if raw[0].isdecimal():
        return NUMBER
    if known := _classes().get(word):
        return known
    if raw in "ºª°":
        return "o"
    if not raw.isalpha():
        return raw
    if _ROMAN.fullmatch(raw):
        return "R"
    if len(raw) == 1:
        return "l"
    if raw.isupper():
        return "A" if len(raw) < 7 else "U"
    return ("C" if raw[1:].islower() else "A") if raw[0].isupper() else "x"
