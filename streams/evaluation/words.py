"""Texts as words: what stands in a text, whatever its case, punctuation and markup."""

import re
from collections.abc import Iterable, Iterator

WORD = re.compile(r"\w+")
TOKEN_CHARS = 4


def words(text: str) -> list[str]:
    """The words of a text, case folded."""
    return [word.casefold() for word in WORD.findall(text)]


def spelled(text: str) -> str:
    """The words with one blank around each: a phrase stands in a text when its words stand there in a row."""
    return f" {' '.join(words(text))} "


def spelled_all(texts: Iterable[str]) -> str:
    """Several texts as one to look into; no phrase goes from one into the next."""
    return "\n".join(map(spelled, texts))


def trigrams(text: str) -> set[tuple[str, ...]]:
    """The runs of three words; of a shorter text all of it."""
    found = words(text)
    return set(_runs(found)) or {tuple(found)}


def _runs(found: list[str]) -> Iterator[tuple[str, ...]]:
    return (tuple(found[at : at + 3]) for at in range(len(found) - 2))


def tokens(text: str) -> int:
    """The tokens of a text, estimated from its characters."""
    return max(1, len(text) // TOKEN_CHARS)
