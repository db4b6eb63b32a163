"""Texts as words, regardless of case, punctuation and markup."""

from collections.abc import Callable, Iterable

from streams.edges.cli.demo.plain_search import spelled, words

TOKEN_CHARS = 4


def spelled_all(texts: Iterable[str]) -> str:
    """Several texts joined for phrase search; no phrase spans two texts."""
    return "\n".join(map(spelled, texts))


def trigrams(text: str) -> set[tuple[str, ...]]:
    """The word trigrams; for a shorter text the whole text."""
    found = words(text)
    return {tuple(found[at : at + 3]) for at in range(len(found) - 2)} or {tuple(found)}


def tokens(text: str) -> int:
    """The number of tokens, estimated from the characters."""
    return max(1, len(text) // TOKEN_CHARS)


def within(ranked: Iterable[str], budget: float, cost: Callable[[str], int] = tokens) -> list[str]:
    """The top of a ranking within a token budget, up to the first one that does not fit."""
    taken: list[str] = []
    for each in ranked:
        budget -= cost(each)
        if budget < 0:
            break
        taken.append(each)
    return taken
