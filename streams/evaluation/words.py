"""Texts as words, regardless of case, punctuation and markup."""

import re
from collections.abc import Iterable, Iterator

WORD = re.compile(r"\w+")
TOKEN_CHARS = 4


def words(text: str) -> list[str]:
    """The words of a text, case folded."""
    return [word.casefold() for word in WORD.findall(text)]


def spelled(text: str) -> str:
    """The words separated by single blanks, so that a phrase search is a substring search."""
    return f" {' '.join(words(text))} "


def spelled_all(texts: Iterable[str]) -> str:
    """Several texts joined for phrase search; no phrase spans two texts."""
    return "\n".join(map(spelled, texts))


def trigrams(text: str) -> set[tuple[str, ...]]:
    """The word trigrams; for a shorter text the whole text."""
    found = words(text)
    return set(_runs(found)) or {tuple(found)}


def _runs(found: list[str]) -> Iterator[tuple[str, ...]]:
    return (tuple(found[at : at + 3]) for at in range(len(found) - 2))


def tokens(text: str) -> int:
    """The number of tokens, estimated from the characters."""
    return max(1, len(text) // TOKEN_CHARS)
