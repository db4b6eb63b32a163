"""The places that a user points to (`a hotel there`), and those that a call has. Pure."""

import re
from collections.abc import Mapping
from functools import cache

from agents.core.language.lexicons import framed
from agents.core.tools.argument_reading import read
from agents.core.tools.argument_types import Kind, SlotType, sort_of, words_of

_SENTENCE = re.compile(r"[.?!;\n]")
_DENIES = re.compile(r"\b(?:not|never|no|não|nunca|nem)\b|n't\b", re.I)
_PLACE = SlotType(Kind.PLACE)
_LEFT = frozenset({"from", "origin", "origem", "partida", "leaving", "departure"})
_TOWN = frozenset({"city", "town", "cidade"})


@cache
def _there() -> re.Pattern[str]:
    unless = r"(?<!\bhi )(?<!\bhey )(?<!\bhello )(?<!\bfrom )(?<!\bde )"
    return framed("argument_values", rf"(?i){unless}\b<<there>>\b(?! ?<<is_there>>\b)")


def points_there(said: str) -> bool:
    """Whether a sentence points to a place, denies nothing before it, and names no place of its own."""
    for sentence in _SENTENCE.split(said):
        found = _there().search(sentence)
        if found and not _DENIES.search(sentence[: found.start()]) and read("location", _PLACE, sentence) is None:
            return True
    return False


def places_of(args: Mapping[str, object]) -> list[tuple[bool, str, object]]:
    """The places among the arguments of a call: whether each is a town by its name, its role, its value."""
    named = ((name, {*words_of(name)}, value) for name, value in args.items() if sort_of(name).kind == Kind.PLACE)
    # Where a way begins is not where one will be.
    return [(bool(_TOWN & words), sort_of(name).part, value) for name, words, value in named if not _LEFT & words]
