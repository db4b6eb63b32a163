"""Reading of date and time words: `dia 20` gives a day, `terça às 15h` a weekday and a minute, `ontem` a shift of days.

Patterns run on flat text (lower case, no accents, same length). Each is linear: bounded repeats, no nesting.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from agents.core.language.lexicons import lexicon


@cache
def numbers(section: str) -> Mapping[str, int]:
    """The number of each word: `months`, `weekdays` from Monday, `counts`, `shifts` of days."""
    names = ("months", "short_months") if section == "months" else (section,)
    rows = (row for name in names for row in lexicon("dates").rows(name).items())
    return {word: int(number) for word, number in rows}


@cache
def units() -> Mapping[str, str]:
    """The unit of time of each word: minute, hour, day, week, month, year."""
    return lexicon("dates").rows("units")


@dataclass(frozen=True, slots=True)
class DateWords:
    """The fields read from the words; `minute` is of the day, `shift` counts `unit`s from the time of speaking.

    `whole` when the words name the unit itself (`semana passada`), not a day at that distance (`há uma semana`).
    `toward` is -1 for a last, 1 for a next, 0 for a plain weekday.
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    minute: int | None = None
    shift: int | None = None
    unit: str = "day"
    toward: int = 0
    whole: bool = False


@dataclass(frozen=True, slots=True)
class DateMatch:
    start: int
    end: int
    words: DateWords


def any_of(words: Iterable[str]) -> str:
    """A pattern of any of the words, longer ones first."""
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


# `segunda fase` is not Monday: a weekday that is also an ordinal must be followed by nothing or by words of time.
_AFTER_DAY = (
    r"(?:-?\s?feiras?\b|\b(?!-|\s+[a-z])|(?=\s+(?:as?|e|ou|and|or|at|de|pela|dia|que|passada|agora|mesmo|cedo|nao|not|"
    r"por|mas|but|proxima|do|in|on|morning|night|evening|afternoon)\b))"
)
# What four figures may count that are no year: `é de 2000 euros`.
_MEASURES = (
    r"euros?|reais|dolar(?:es)?|dollars?|pounds?|libras?|brl|usd|eur|kg|quilos?|kilos?|km|m2?|metros?|met(?:er|re)s?|ml|"
    r"litros?|lit(?:er|re)s?|g|gramas?|grams?|mil|words?|palavras?|pessoas?|people"
)
_ORD = r"(?:st|nd|rd|th|[o\u00ba\u00aa])?"


def _patterns() -> Iterator[tuple[str, str]]:
    """The patterns of dates, in order: the longer reading first."""
    known = lexicon("dates")
    full_months, any_month = any_of(known.rows("months")), any_of(numbers("months"))
    en_month = any_of((*known.rows("months", "en"), *known.rows("short_months", "en")))
    days, unit = any_of(numbers("weekdays")), any_of(units())
    count = rf"(?:\d{{1,3}}|{any_of(numbers('counts'))})"
    yield from {
        "iso": r"\b\d{4}-\d{2}-\d{2}(?:[t ]\d{2}:\d{2})?\b",
        "dmy": r"\b(?:no |on )?(?:dia )?\d{1,2}([/.-])\d{1,2}\1(?:\d{4}|\d{2})\b(?![/.-]\d)",
        "dm": r"\bdia \d{1,2}/\d{1,2}\b|(?<![\d/.,])\b\d{2}/\d{2}\b(?!/)|"
        r"\b(?:em|no|ate|para|on|by) \d{1,2}/\d{1,2}\b(?!/)",
        "day_month": rf"\b(?:no |on )?(?:dia |the )?\d{{1,2}}{_ORD} (?:de |of )?(?:{any_month})\b(?:,? (?:de |"
        rf"of )?\d{{4}}\b)?",
        "month_day": rf"\b(?:on )?(?:{en_month})\.? (?:the )?\d{{1,2}}(?:st|nd|rd|th)?\b(?!\s?[%\d])(?:,? \d{{4}}\b)?",
        "dia": r"\b(?:n?o )?dia \d{1,2}[o\u00ba]?\b(?!\s?(?:%|mil\b|[/:.]\d))",
        "nth": r"\b(?:on )?the \d{1,2}(?:st|nd|rd|th)\b(?! (?!(?:and|for|but|not|now|then|after|instead|though|"
        r"anyway|please)\b)[a-z]{3,})",
        "ago": rf"\b(?:ha|faz) (?:cerca de )?{count} (?:{unit})\b(?: atras)?|\b{count} (?:{unit}) (?:atras|ago)\b",
        "hence": rf"\b(?:daqui a|dentro de|in) {count} (?:{unit})\b|\b{count} (?:{unit}) from now\b",
        "near": rf"\b(?:{any_of(numbers('shifts'))})\b",
        "span": (
            r"\b(?:semana|mes|ano) (?:passad[ao]|anterior|que vem|seguinte|proxim[ao])\b"
            r"|\b(?:proxim[ao]|ultim[ao]|est[ae]|ness?[ae]|nest[ae]) (?:semana|mes|ano)\b"
            r"|\b(?:last|next|this|past|previous) (?:week|month|year)\b"
        ),
        "weekend": (
            r"\b(?:this|next|last|on the) weekend\b|\b(?:n?est[ea]|ness[ea]|no|n?o proximo|n?o ultimo) "
            r"(?:fim de semana|final de semana|fds)\b"
        ),
        "which_day": (
            rf"\b(?:proxim[ao]|ultim[ao]|last|next|this|nest[ae]|ness[ae]) (?:{days})\b(?:-feira)?"
            rf"|\b(?:{days})(?:-feira)? (?:passad[ao]|que vem|proxim[ao])\b"
        ),
        "weekday": rf"\b(?:on )?(?:{days}){_AFTER_DAY}",
        "month": rf"\b(?:em|de|ate|in|by|until|para) (?:{full_months})\b(?: (?:de |of )?\d{{4}}\b)?"
        rf"|\b(?:{full_months}) (?:de |of )?\d{{4}}\b",
        "year": rf"\b(?:em|in|de|ate|by) (?:19|20)\d{{2}}\b(?![/-]\d|\s?(?:[%€£$]|(?:{_MEASURES}|{unit})\b))",
    }.items()  # fmt: skip


@cache
def _any_date() -> re.Pattern[str]:
    readings = (f"(?P<{name}>{pattern.replace(chr(92) + '1', '[/.-]')})" for name, pattern in _patterns())
    # The bare word boundary first: it rules out most positions without trying every alternative.
    return re.compile(rf"\b(?=\w)(?:{'|'.join(readings)})")


_TIME = re.compile(
    r"(?P<h>\d{1,2})(?:h(?P<m>\d{2})?(?:min)?\b|:(?P<m2>\d{2})(?:\s?h\b)?(?:\s?(?P<half2>[ap])\.?m\b\.?)?"
    r"|\s?(?P<half>[ap])\.?m\b\.?|\s?horas\b)|(?P<noon>meio-dia|meio dia|noon|midday)\b|(?P<night>meia-noite|"
    r"midnight)\b"
)
_BEFORE_TIME = re.compile(r"(?:as|a|ao|at) ")
_LINK = re.compile(r",?\s{1,2}(?:(?:as|a|ao|at|pelas|@)\s)?")


def scan(flat: str, lang: str) -> Iterator[DateMatch]:
    """The dates of a flat text, left to right."""
    position, dates = 0, _any_date()
    while (match := dates.search(flat, position)) is not None:
        found = _read(match, flat, lang)
        if found is not None:
            yield found
        position = found.end if found is not None else match.end()


def date_at(flat: str, position: int, lang: str) -> DateMatch | None:
    """The date or time that begins at a position of a flat text."""
    match = _any_date().match(flat, position)
    found = _read(match, flat, lang) if match else None
    return found or _time_only(flat, position)


def _read(match: re.Match[str], flat: str, lang: str) -> DateMatch | None:
    name = match.lastgroup or ""
    words = _READERS[name](match.group(), lang)
    if not _possible(words):
        return None
    end = match.end()
    if words.minute is None and name not in ("month", "year", "span", "ago", "hence"):
        link = _LINK.match(flat, end)
        clock = _time(flat, link.end()) if link else None
        if clock is not None:
            return DateMatch(match.start(), clock[1], replace(words, minute=clock[0]))
    return DateMatch(match.start(), end, words)


def _possible(words: DateWords) -> bool:
    return (words.month is None or 1 <= words.month <= 12) and (words.day is None or 1 <= words.day <= 31)


def _time_only(flat: str, position: int) -> DateMatch | None:
    link = _BEFORE_TIME.match(flat, position)
    clock = _time(flat, link.end() if link else position)
    return DateMatch(position, clock[1], DateWords(minute=clock[0])) if clock else None


def _time(flat: str, position: int) -> tuple[int, int] | None:
    match = _TIME.match(flat, position)
    if match is None:
        return None
    if match["noon"] or match["night"]:
        return (720 if match["noon"] else 0), match.end()
    hour, minute = int(match["h"]), int(match["m"] or match["m2"] or 0)
    half = match["half"] or match["half2"]
    if half and 1 <= hour <= 12:
        hour = hour % 12 + (12 if half == "p" else 0)
    return (hour * 60 + minute, match.end()) if hour < 24 and minute < 60 else None


def _digits(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text))


def _year(number: int) -> int:
    return number + 2000 if number < 100 else number


def _iso(text: str, _lang: str) -> DateWords:
    year, month, day, *clock = _digits(text)
    return DateWords(year, month, day, minute=clock[0] * 60 + clock[1] if clock else None)


def _numeric(text: str, lang: str) -> DateWords:
    first, second, *year = _digits(text)
    # Months come first in English, unless the number cannot be a month.
    day, month = (second, first) if lang == "en" and first <= 12 and "dia" not in text else (first, second)
    return DateWords(_year(year[0]) if year else None, month, day)


def _month_in(text: str) -> int:
    return next(numbers("months")[word] for word in re.findall(r"[a-z]+", text) if word in numbers("months"))


def _named(text: str, _lang: str) -> DateWords:
    day, *year = _digits(text)
    return DateWords(year[0] if year else None, _month_in(text), day)


def _month(text: str, _lang: str) -> DateWords:
    year = _digits(text)
    return DateWords(year[0] if year else None, _month_in(text))


def _count(text: str) -> int:
    digits = _digits(text)
    return digits[0] if digits else next(numbers("counts")[word] for word in text.split() if word in numbers("counts"))


def _counted(text: str, sign: int) -> DateWords:
    # `ha` and `a` are not counts here: `daqui a 3 dias`, `ha dois dias`.
    body = re.sub(r"^(?:ha|faz|daqui a|dentro de|in)\s(?:cerca de )?", "", text)
    unit = next(units()[word] for word in body.split() if word in units())
    return DateWords(shift=sign * _count(body), unit=unit)


SATURDAY = 5
_BACK = ("passad", "ultim", "last", "past", "previous", "anterior")
_AHEAD = ("proxim", "next", "que vem", "seguinte")


def _toward(text: str) -> int:
    return -1 if any(word in text for word in _BACK) else 1 if any(word in text for word in _AHEAD) else 0


def _span(text: str, _lang: str) -> DateWords:
    unit = next(units()[word] for word in text.split() if word in units())
    return DateWords(shift=_toward(text), unit=unit, whole=True)


def _weekday(text: str, _lang: str) -> DateWords:
    day = next(numbers("weekdays")[word] for word in re.findall(r"[a-z]+", text) if word in numbers("weekdays"))
    return DateWords(weekday=day, toward=_toward(text))


_READERS: dict[str, Callable[[str, str], DateWords]] = {
    "iso": _iso,
    "dmy": _numeric,
    "dm": _numeric,
    "day_month": _named,
    "month_day": _named,
    "dia": lambda text, _lang: DateWords(day=_digits(text)[0]),
    "nth": lambda text, _lang: DateWords(day=_digits(text)[0]),
    "ago": lambda text, _lang: _counted(text, -1),
    "hence": lambda text, _lang: _counted(text, 1),
    "near": lambda text, _lang: DateWords(shift=numbers("shifts")[text]),
    "span": _span,
    "weekend": lambda text, _lang: DateWords(weekday=SATURDAY, toward=_toward(text)),
    "which_day": _weekday,
    "weekday": _weekday,
    "month": _month,
    "year": lambda text, _lang: DateWords(year=_digits(text)[0]),
}
