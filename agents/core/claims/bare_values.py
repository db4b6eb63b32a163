"""Values said without a subject: `não, é dia 20`, `Actually, it's the 20th`, `the 20th, not the 15th`."""

from dataclasses import dataclass

from agents.core.claims import grammar, reports
from agents.core.claims.attributes import cleaned, leaves_whole
from agents.core.claims.extraction import fragments, predicate
from agents.core.language.sentences import composed, lower, sentences
from agents.core.language.values import TypedValue

MAX_CHARS = 300


@dataclass(frozen=True, slots=True)
class BareValue:
    """A value that is all its fragment says, and whether it is denied."""

    text: str
    value: TypedValue
    negated: bool


def bare_values(text: str, lang: str) -> tuple[BareValue, ...]:
    """The values a short text gives without saying of what; a question gives none."""
    found: list[BareValue] = []
    for sentence in sentences(composed(text[:MAX_CHARS]), lang)[:4]:
        sentence = reports.without_source(sentence)
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
        if value is None or low[at : value.start].strip(" *\"'") not in _SMALL:
            return found
        negated = bool(lead and any(lead[name] for name in ("neg", "neg2", "not", "instead")))
        found.append(BareValue(cleaned(text[value.start : value.end], value), value, negated))
        if not leaves_whole(low[value.end : end]) and not grammar.AND.match(low, value.end, end):
            return found[:-1]
        link = grammar.AND.match(low, value.end, end)
        start = link.end() if link else value.end
    return found


_SMALL = frozenset(
    {
        "",
        "de",
        "do",
        "da",
        "em",
        "no",
        "na",
        "para",
        "o",
        "a",
        "as",
        "às",
        "on",
        "in",
        "at",
        "to",
        "the",
        "by",
        "até",
        "for",
        "em vez de",
        "pelo",
        "pela",
        "por",
    }
)
