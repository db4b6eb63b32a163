"""The values that a text states, in order, each with its words, its sentence, and whether it is denied."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agents.core.caching.texts import text_cache
from agents.core.language import text
from agents.core.language.date_words import scan
from agents.core.language.sentences import composed, flatten, sentences
from agents.core.language.values import TypedValue, value_at

MAX_CHARS, MAX_VALUES = 2_000, 24
_START = re.compile(r"(?<![\w.,/$-])[^\W_]|R\$|US\$|[$€£]")
_SMALL = r"(?:(?:on|in|at|by|for|the|o|a|os|as|em|n[ao]|às?|ao|dia|d[eoa]|é|is|são)\s+|dr[a]?\.\s+|mrs?\.\s+){0,3}"
INSTEAD = r"(?:not|não|nao|never|isn't|wasn't|instead of|rather than|(?:em vez|ao invés|no lugar) d[eoa]s?)"
_DENIED = re.compile(rf"\b{INSTEAD}\s+{_SMALL}$")
_ENDS = (",", ".", "!", "*", ")", "not ", "não ", "nao ")
_LEAD = re.compile(r"(?:no dia|dia|n[oa]|em|on|at|by|the|o|a)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StatedValue:
    value: TypedValue
    words: str
    sentence: str
    denied: bool = False


@text_cache(4_096)
def stated_in(said: str, lang: str) -> tuple[StatedValue, ...]:
    """The typed values of a text; a word that only begins its sentence is no name."""
    found: list[StatedValue] = []
    for sentence in sentences(composed(said[:MAX_CHARS]), lang):
        found += _of_sentence(sentence, lang)
        if len(found) >= MAX_VALUES:
            break
    return tuple(found[:MAX_VALUES])


def _of_sentence(sentence: str, lang: str) -> Iterator[StatedValue]:
    low, at = sentence.lower(), 0
    while (start := _START.search(sentence, at)) is not None:
        value = value_at(sentence, start.start(), lang)
        if value is None or value.kind == "state" or _only_begins(value, sentence, lang):
            at = start.end()
            continue
        words = _LEAD.sub("", sentence[value.start : value.end], count=1).strip()
        yield StatedValue(value, words, sentence, _DENIED.search(low[: value.start]) is not None)
        at = max(value.end, start.end())


def _only_begins(value: TypedValue, sentence: str, lang: str) -> bool:
    """Whether a name is but the first word of a sentence, one that has no content, or the name of a day."""
    if value.kind not in ("person", "place") or "level" in dict(value.parts):
        return False
    shown = sentence[value.start : value.end]
    if not text.content_words(shown, lang) or any(scan(flatten(shown), lang)):
        return True
    first = not sentence[: value.start].strip(" \"'*(-—") or sentence[: value.start].rstrip()[-1:] in ".!?:"
    rest = sentence[value.end :].strip()
    return first and " " not in shown.strip() and bool(rest) and not rest.startswith(_ENDS)
