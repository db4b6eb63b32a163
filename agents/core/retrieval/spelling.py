"""Unknown words of a question, replaced by what the retrieved texts have: similar words, an acronym written out."""

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
# An acronym of two letters is one only in capitals: too many pairs of words begin with two letters.
MIN_INITIALS, MAX_INITIALS = 2, 5
_WORDS = re.compile(r"[^\W\d_]+(?:[ -][^\W\d_]+)*")


def corrected(question: str, unknown: Iterable[str], found: Iterable[str]) -> str | None:
    """The question with its `unknown` words written as in the retrieved texts, but for accents; None if unchanged.

    Of a mistyped word the first letter must agree, since it is seldom mistyped; codes and numbers are never corrected.
    An acronym is written out where the texts have words that begin with its letters.
    """
    unknown, found = list(unknown), list(found)
    mistyped = {text.fold(word): word for word in unknown if len(word) >= MIN_LETTERS and word.isalpha()}
    read = _written_out(question, unknown, found)
    if not 0 < len(mistyped) <= MAX_UNKNOWN:
        return read if read != question else None
    initials = {word[0] for word in mistyped}
    written = sorted({word for said in found for word in _correct(said) if word[0] in initials})
    for folded, word in mistyped.items():
        for likest in get_close_matches(folded, [each for each in written if each[0] == folded[0]], 1, MIN_SIMILARITY):
            read = re.sub(rf"(?i)\b{re.escape(word)}\b", likest, read)
    return read if read != question else None


def _written_out(question: str, unknown: Iterable[str], found: Iterable[str]) -> str:
    read = question
    for word in unknown:
        said = re.search(rf"(?i)(?<!\w){re.escape(word)}(?!\w)", question) if word.isalpha() else None
        if said is None or not MIN_INITIALS <= len(word) <= MAX_INITIALS:
            continue
        if len(word) > MIN_INITIALS or said.group().isupper():
            words = next(filter(None, (_beginning_with(text.fold(word), each) for each in found)), None)
            read = read.replace(said.group(), words) if words else read
    return read


def _beginning_with(letters: str, said: str) -> str | None:
    """The first words in a row that begin with the letters, in a text."""
    for run in _WORDS.finditer(said):
        words = text.fold(run.group()).replace("-", " ").split()
        initials = "".join(word[0] for word in words)
        at = initials.find(letters)
        if at >= 0:
            return " ".join(words[at : at + len(letters)])
    return None


# The same texts are found for question after question. Of their words only one copy is kept.
@text_cache(1_024)
def _correct(said: str) -> tuple[str, ...]:
    """The distinct words of a text that a mistyped one may stand for."""
    return tuple(intern(word) for word in {*text.words(said)} if len(word) >= MIN_LETTERS and word.isalpha())
