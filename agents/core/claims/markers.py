"""Markers of contested or replaced statements: `Não, …`, `na verdade`, `moved to`, a value without a subject."""

from dataclasses import dataclass
from functools import cache

from agents.core.caching.texts import text_cache
from agents.core.claims import grammar
from agents.core.claims.attributes import cleaned, leaves_whole
from agents.core.claims.extraction import assertions, fragments, predicate
from agents.core.language.lexicons import lexicon
from agents.core.language.sentences import composed, lower, sentences
from agents.core.language.values import TypedValue

MAX_CHARS, MAX_BARE_CHARS = 600, 300
MAX_REPLY = 80


@dataclass(frozen=True, slots=True)
class BareValue:
    """A value that fills its whole fragment, and whether it is denied."""

    text: str
    value: TypedValue
    negated: bool


def bare_values(text: str, lang: str) -> tuple[BareValue, ...]:
    """The values without a subject in a short text; none for a question."""
    found: list[BareValue] = []
    for sentence in sentences(composed(text[:MAX_BARE_CHARS]), lang)[:4]:
        sentence = grammar.without_source(sentence)
        low = lower(sentence)
        if hedged := grammar.HEDGE.search(low):
            low = low[: hedged.start()] + " " * (hedged.end() - hedged.start()) + low[hedged.end() :]
        if low.rstrip().endswith("?"):
            continue
        for start, end, _ in fragments(low):
            found += _of_fragment(sentence, low, start, end, lang)
    return tuple(found)


def _of_fragment(text: str, low: str, start: int, end: int, lang: str) -> list[BareValue]:
    if grammar.OPENER_WHOLE.fullmatch(low, start, end):
        return []
    while (opener := grammar.OPENER.match(low, start, end)) and opener.end() < end:
        start = opener.end()
    found: list[BareValue] = []
    while start < end:
        lead = grammar.BARE_LEAD.match(low, start, end)
        at = lead.end() if lead else start
        value, _ = predicate(text, low, at, end, lang, None)
        if value is None or low[at : value.start].strip(" *\"'") not in _before_value():
            return found
        negated = bool(lead and any(lead[name] for name in ("neg", "neg2", "not", "instead")))
        found.append(BareValue(cleaned(text[value.start : value.end], value), value, negated))
        if not leaves_whole(low[value.end : end]) and not grammar.AND.match(low, value.end, end):
            return found[:-1]
        link = grammar.AND.match(low, value.end, end)
        start = link.end() if link else value.end
    return found


@cache
def _before_value() -> frozenset[str]:
    """Function words that may precede a bare value, and the empty string."""
    return frozenset(("", *lexicon("claims").lines("before_bare_value")))


@text_cache(4_096)
def is_correction(text: str, lang: str) -> bool:
    """Whether a text contests or corrects a statement: by a strong marker, or a weak one beside an assertion."""
    low = lower(composed(text[:MAX_CHARS]))
    low = grammar.WRONG_OTHERWISE.sub(" ", low)
    contests = grammar.CONTESTING.search(low)
    if contests and not _asked(low, contests.start()):
        return True
    if grammar.POLITE.match(low):
        return False
    if len(text) <= MAX_REPLY and grammar.is_reported(text) and bare_values(text, lang):
        # `the invite says Tuesday`: without a subject it can only refer to the previous statement.
        return True
    marked = grammar.NO.match(low) or grammar.WAIT.match(low) or grammar.CORRECTING.search(low)
    if not marked:
        return False
    return bool(bare_values(text, lang) or assertions(text[:MAX_CHARS], "user", lang))


def _asked(low: str, position: int) -> bool:
    """Whether the sentence around a position is a question, except with a tag (`está errado, não?`)."""
    ends = [end for mark in ".!?\n" if (end := low.find(mark, position)) >= 0]
    end = min(ends, default=len(low) - 1)
    return low[end : end + 1] == "?" and not low[:end].rstrip().endswith(("não", "né", "right", "no"))


@text_cache(4_096)
def announces_change(text: str) -> bool:
    """Whether a text announces a change: `mudou`, `agora`, `moved to`, `no longer`."""
    return grammar.CHANGING.search(lower(composed(text[:MAX_CHARS]))) is not None
