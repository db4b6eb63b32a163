"""Spelling correction: unknown words of a question replaced by similar words of the retrieved texts."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from sys import intern

from agents.core.caching.texts import text_cache
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
    written = sorted({word for said in found for word in _correct(said) if word[0] in initials})
    read = question
    for folded, word in mistyped.items():
        for likest in get_close_matches(folded, [each for each in written if each[0] == folded[0]], 1, MIN_SIMILARITY):
            read = re.sub(rf"(?i)\b{re.escape(word)}\b", likest, read)
    return read if read != question else None


# The same texts are found for question after question. Of their words only one copy is kept.
@text_cache(1_024)
def _correct(said: str) -> tuple[str, ...]:
    """The distinct words of a text that a mistyped one may stand for."""
    return tuple(intern(word) for word in {*text.words(said)} if len(word) >= MIN_LETTERS and word.isalpha())
