"""The vocabulary of claims: heads, states, places; flat (lower case, no accents)."""

import re
from collections.abc import Mapping
from functools import cache

from agents.core.language.lexicons import lexicon

NAME_JOINTS = re.compile(r"\s(?:d[aeo]s?\s|von\s|van\s|of\s(?:the\s)?|and\sCo\b)?|-", re.IGNORECASE)


@cache
def words(section: str) -> frozenset[str]:
    """The words of a section of the lexicon, both languages."""
    return lexicon("claims").words(section)


@cache
def concepts() -> Mapping[str, str]:
    """The concept of each head noun; the same for equivalent words of both languages."""
    return lexicon("claims").rows("concepts")


@cache
def states() -> Mapping[str, tuple[str, str]]:
    """The scale and the state that each word expresses; a subject has one state of a scale at a time."""
    rows = ((entry.part, entry.text.partition("=")) for entry in lexicon("claims").entries("states"))
    return {word.strip(): (scale, state.strip()) for scale, (word, _, state) in rows}


@cache
def places() -> Mapping[str, str]:
    """The level of each place; only places of one level exclude each other (Porto is in Portugal)."""
    known = lexicon("claims")
    levels = (("city", "cities"), ("country", "countries"))
    return {name: level for level, section in levels for name in known.lines(section)}
