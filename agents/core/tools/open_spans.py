"""The one name that a confirmation says and no other argument accounts for: it takes the one argument that is open.

"3 tickets to see Laura Osnes in New York on March 4th?" names a city and a day, which other arguments have; what is
left is the event. Pure, and by form: neither the name of the argument nor the domain is read.
"""

import re
from collections.abc import Iterable
from functools import cache

from agents.core.language.lexicons import framed

# A point ends a sentence, but for a short word: `St. John`.
_WORD = r"(?:[A-ZÀ-Ý][a-zà-ÿ]{0,1}\.(?= )|[A-ZÀ-Ý0-9][\w'’&-]*)"
_SPAN = re.compile(rf"(?<![\w'’.-]){_WORD}(?:(?: (?:of|the|and|de|da|do|das|dos|e))? {_WORD})*")
_NUMBER = re.compile(r"[\d.,:#-]+(?:st|nd|rd|th|º|ª|h|am|pm|AM|PM)?\.?")
_LONGEST = 8


@cache
def _of_time() -> re.Pattern[str]:
    part = r"(?:<<months>>\.?|<<weekdays>>|[ap]m|[\d:.,]+\w{0,2})"
    return framed("argument_values", rf"(?i)(?:i|{part}(?: {part})*)")


def unclaimed(text: str, claimed: Iterable[object]) -> tuple[str, ...]:
    """The names in a text that are none of the values that others have, each once."""
    others = [f" {plain(value)} " for value in claimed if plain(value)]
    found: dict[str, str] = {}
    for match in _SPAN.finditer(text):
        span = "" if _is_spoken_to(match, text) else _without_start(match, text)
        own = f" {plain(span)} "
        if not own.strip() or _is_of_time(span) or len(span.split()) > _LONGEST:
            continue
        if any(own in other or other in own for other in others):
            continue
        found.setdefault(own, span)
    return tuple(found.values())


def _without_start(match: "re.Match[str]", text: str) -> str:
    """The span without the word that begins its sentence, which has a capital anyway."""
    words = match[0].rstrip(".").split()
    before = text[max(match.start() - 3, 0) : match.start()]
    if not before.strip() or "\n" in before or before.rstrip().endswith((".", "?", "!", ":")):
        words = words[1:]
    while words and (_NUMBER.fullmatch(words[0]) and len(words) == 1):
        words = words[1:]
    return " ".join(words)


def _is_spoken_to(match: "re.Match[str]", text: str) -> bool:
    """Whether a name is of who is spoken to: `Ok Maria, a table for two?`."""
    sentence = re.split(r"[.?!:\n]", text[: match.start()])[-1]
    return text[match.end() : match.end() + 1] == "," and len(sentence.split()) < 2


def _is_of_time(span: str) -> bool:
    """Whether a span is a number, a day, a month or an hour."""
    return _of_time().fullmatch(span) is not None


def plain(value: object) -> str:
    """The words of a value, for comparison."""
    return re.sub(r"[\W_]+", " ", str(value).lower()).strip()
