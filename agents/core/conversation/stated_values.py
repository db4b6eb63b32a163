"""The values that a text states, in order, each with its words, its sentence, and whether it is denied."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, product
from operator import attrgetter

from agents.core.caching.texts import text_cache
from agents.core.language import text
from agents.core.language.date_words import scan
from agents.core.language.sentences import composed, flatten, sentences
from agents.core.language.values import TypedValue, exclude, same, value_at

MAX_CHARS, MAX_VALUES = 2_000, 24
# What two texts must share beside a value to be of one thing.
MIN_WORDS = 2
# `paguei`, and not `lei`, `hei` or `rei`.
MIN_PAST = 4
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


def restated(
    old: str, old_at: datetime, new: str, new_at: datetime, lang: str
) -> tuple[StatedValue, StatedValue] | None:
    """The older and the newer value of two texts with the same words around them: `the gym costs 29`, later `34`.

    None for the past tense, since each time may have a value of its own, and for names: one may have two sisters.
    """
    for (words, was), (other, now) in product(_by_words(old, lang), _by_words(new, lang)):
        if words != other or len(was) != len(now):
            continue
        differ = [pair for pair in zip(was, now, strict=True) if not same(pair[0].value, old_at, pair[1].value, new_at)]
        if len(differ) == 1 and differ[0][0].value.kind not in ("person", "place"):
            [(before, after)] = differ
            if not after.denied and exclude(before.value, old_at, after.value, new_at):
                return before, after
    return None


@text_cache(4_096)
def _by_words(said: str, lang: str) -> tuple[tuple[tuple[str, ...], tuple[StatedValue, ...]], ...]:
    """The sentences that state how things are, each as its words beside its values and the values; no questions."""
    found = []
    for sentence, values in groupby(stated_in(said, lang), key=attrgetter("sentence")):
        stated, rest = tuple(values), sentence
        for each in reversed(stated):
            rest = f"{rest[: each.value.start]} {rest[each.value.end :]}"
        words = text.words(rest)
        counted = " ".join(each.words for each in stated if each.value.kind == "number")
        # `The deadline is the 15th` may be of any project.
        about = {each for each in text.content_words(f"{rest} {counted}", lang) if not each[0].isdigit()}
        holds = not sentence.rstrip().endswith("?") and not any(_is_past(word, lang) for word in words)
        if holds and len(about) >= MIN_WORDS:
            found.append((words, stated))
    return tuple(found)


def _is_past(word: str, lang: str) -> bool:
    return text.is_past_form(word, lang) or (lang == "pt" and len(word) > MIN_PAST and word.endswith("ei"))
