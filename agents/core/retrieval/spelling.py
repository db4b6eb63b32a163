"""Spelling correction: unknown words of a question replaced by similar words of the retrieved texts."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache

from agents.core.language import text

# Shorter words are too close to each other to correct: `rota`, `roda`, `rata`.
MIN_LETTERS = 5
# One edit per five letters.
MIN_SIMILARITY = 0.8
# A question with more unknown words is about something else.
MAX_UNKNOWN = 4


def corrected(question: str, unknown: Iterable[str], found: Iterable[str]) -> str | None:
    """The question with its `unknown` words spelled as in the retrieved texts, but for accents; None if unchanged.

    The first letter must agree, since it is seldom mistyped; codes and numbers are never corrected.
    """
    mistyped = {text.fold(word): word for word in unknown if len(word) >= MIN_LETTERS and word.isalpha()}
    if not 0 < len(mistyped) <= MAX_UNKNOWN:
        return None
    initials = {word[0] for word in mistyped}
    written = sorted({word for said in found for word in _spellings(said) if word[0] in initials})
    read = question
    for folded, word in mistyped.items():
        for likest in get_close_matches(folded, [each for each in written if each[0] == folded[0]], 1, MIN_SIMILARITY):
            read = re.sub(rf"(?i)\b{re.escape(word)}\b", likest, read)
    return read if read != question else None


@lru_cache(maxsize=2_048)
def _spellings(said: str) -> frozenset[str]:
    """The words of a text that others may be read as; cached, since the same texts are found repeatedly."""
    return frozenset(word for word in text.words(said) if len(word) >= MIN_LETTERS and word.isalpha())
