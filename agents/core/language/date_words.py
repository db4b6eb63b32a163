"""What date and time words fix: `dia 20` a day, `terça às 15h` a weekday and a minute, `ontem` a shift of days.

Patterns run on flat text (lower case, no accents, same length). Each is linear: bounded repeats, no nesting.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

_PT_MONTHS = "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro"
_EN_MONTHS = "january february march april may june july august september october november december"
_PT_SHORT = "jan fev mar abr mai jun jul ago set out nov dez"
_EN_SHORT = "jan feb mar apr may jun jul aug sep oct nov dec"
_PT_DAYS = "segunda terca quarta quinta sexta sabado domingo"
_EN_DAYS = "monday tuesday wednesday thursday friday saturday sunday"


def _numbered(*lists: str, first: int) -> dict[str, int]:
    return {word: number for words in lists for number, word in enumerate(words.split(), first)}


MONTHS = _numbered(_PT_MONTHS, _EN_MONTHS, _PT_SHORT, _EN_SHORT, first=1) | {"sept": 9}
WEEKDAYS = _numbered(_PT_DAYS, _EN_DAYS, first=0)
COUNTS = {
    "um": 1, "uma": 1, "one": 1, "a": 1, "an": 1, "dois": 2, "duas": 2, "two": 2, "tres": 3, "quatro": 4, "cinco": 5,
    "seis": 6, "sete": 7, "oito": 8, "nove": 9, "dez": 10, "quinze": 15, "vinte": 20, "trinta": 30, "three": 3,
    "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "fifteen": 15,
    "twenty": 20, "thirty": 30,
}  # fmt: skip
UNITS = {
    "dia": "day", "dias": "day", "day": "day", "days": "day", "semana": "week", "semanas": "week", "week": "week",
    "weeks": "week", "mes": "month", "meses": "month", "month": "month", "months": "month", "ano": "year",
    "anos": "year", "year": "year", "years": "year", "hora": "hour", "horas": "hour", "hour": "hour", "hours": "hour",
    "minuto": "minute", "minutos": "minute", "minute": "minute", "minutes": "minute",
}  # fmt: skip
_SHIFTS = {
    "anteontem": -2, "antes de ontem": -2, "the day before yesterday": -2, "ontem": -1, "yesterday": -1, "hoje": 0,
    "today": 0, "amanha": 1, "tomorrow": 1, "depois de amanha": 2, "the day after tomorrow": 2,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DateWords:
    """What the words fix; `minute` is of the day, `shift` counts `unit`s from the time of speaking.

    `whole` when the words name the unit itself (`semana passada`), not a day so far away (`há uma semana`).
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


def _names(words: list[str]) -> str:
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


_FULL_MONTHS = _names(f"{_PT_MONTHS} {_EN_MONTHS}".split())
_ANY_MONTH = _names(list(MONTHS))
_EN_MONTH = _names(f"{_EN_MONTHS} {_EN_SHORT} sept".split())
_DAYS = _names(list(WEEKDAYS))
_COUNT = rf"(?:\d{{1,3}}|{_names(list(COUNTS))})"
_UNIT = _names(list(UNITS))
# `segunda fase` is no Monday: a weekday that is also an ordinal is followed by nothing, or by words of time.
_AFTER_DAY = (
    r"(?:-?\s?feiras?\b|\b(?!-|\s+[a-z])|(?=\s+(?:as?|e|ou|and|or|at|de|pela|dia|que|passada|agora|mesmo|cedo|nao|not|"
    r"por|mas|but|proxima|do|in|on|morning|night|evening|afternoon)\b))"
)
_ORD = r"(?:st|nd|rd|th|[o\u00ba\u00aa])?"
# Alternatives in order: the longer reading first.
PATTERNS: dict[str, str] = {
    "iso": r"\b\d{4}-\d{2}-\d{2}(?:[t ]\d{2}:\d{2})?\b",
    "dmy": r"\b(?:no |on )?(?:dia )?\d{1,2}([/.-])\d{1,2}\1(?:\d{4}|\d{2})\b(?![/.-]\d)",
    "dm": r"\bdia \d{1,2}/\d{1,2}\b|(?<![\d/.,])\b\d{2}/\d{2}\b(?!/)|\b(?:em|no|ate|para|on|by) \d{1,2}/\d{1,2}\b(?!/)",
    "day_month": rf"\b(?:no |on )?(?:dia |the )?\d{{1,2}}{_ORD} (?:de |of )?(?:{_ANY_MONTH})\b(?:,? (?:de |"
    rf"of )?\d{{4}}\b)?",
    "month_day": rf"\b(?:on )?(?:{_EN_MONTH})\.? (?:the )?\d{{1,2}}(?:st|nd|rd|th)?\b(?!\s?[%\d])(?:,? \d{{4}}\b)?",
    "dia": r"\b(?:n?o )?dia \d{1,2}[o\u00ba]?\b(?!\s?(?:%|mil\b|[/:.]\d))",
    "nth": r"\b(?:on )?the \d{1,2}(?:st|nd|rd|th)\b(?! (?!(?:and|for|but|not|now|then|after|instead|though|"
    r"anyway|please)\b)[a-z]{3,})",
    "ago": rf"\b(?:ha|faz) (?:cerca de )?{_COUNT} (?:{_UNIT})\b(?: atras)?|\b{_COUNT} (?:{_UNIT}) (?:atras|ago)\b",
    "hence": rf"\b(?:daqui a|dentro de|in) {_COUNT} (?:{_UNIT})\b|\b{_COUNT} (?:{_UNIT}) from now\b",
    "near": rf"\b(?:{_names(list(_SHIFTS))})\b",
    "span": (
        r"\b(?:semana|mes|ano) (?:passad[ao]|anterior|que vem|seguinte|proxim[ao])\b"
        r"|\b(?:proxim[ao]|ultim[ao]|est[ae]|ness?[ae]|nest[ae]) (?:semana|mes|ano)\b"
        r"|\b(?:last|next|this|past|previous) (?:week|month|year)\b"
    ),
    "which_day": (
        rf"\b(?:proxim[ao]|ultim[ao]|last|next|this|nest[ae]|ness[ae]) (?:{_DAYS})\b(?:-feira)?"
        rf"|\b(?:{_DAYS})(?:-feira)? (?:passad[ao]|que vem|proxim[ao])\b"
    ),
    "weekday": rf"\b(?:on )?(?:{_DAYS}){_AFTER_DAY}",
    "month": rf"\b(?:em|de|ate|in|by|until|para) (?:{_FULL_MONTHS})\b(?: (?:de |of )?\d{{4}}\b)?"
    rf"|\b(?:{_FULL_MONTHS}) (?:de |of )?\d{{4}}\b",
    "year": r"\b(?:em|in|de|ate|by) (?:19|20)\d{2}\b",
}  # fmt: skip
# The bare word boundary first: it spares most places the trial of every alternative.
_ANY = re.compile(
    r"\b(?=\w)(?:" + "|".join(f"(?P<{name}>{pattern.replace(chr(92) + '1', '[/.-]')})" for name, pattern in
                               PATTERNS.items()) + ")"
)  # fmt: skip
_TIME = re.compile(
    r"(?P<h>\d{1,2})(?:h(?P<m>\d{2})?(?:min)?\b|:(?P<m2>\d{2})(?:\s?h\b)?(?:\s?(?P<half2>[ap])\.?m\b\.?)?"
    r"|\s?(?P<half>[ap])\.?m\b\.?|\s?horas\b)|(?P<noon>meio-dia|meio dia|noon|midday)\b|(?P<night>meia-noite|"
    r"midnight)\b"
)
_BEFORE_TIME = re.compile(r"(?:as|a|ao|at) ")
_LINK = re.compile(r",?\s{1,2}(?:(?:as|a|ao|at|pelas|@)\s)?")


def scan(flat: str, lang: str) -> Iterator[DateMatch]:
    """The dates of a flat text, left to right."""
    position = 0
    while (match := _ANY.search(flat, position)) is not None:
        found = _read(match, flat, lang)
        if found is not None:
            yield found
        position = found.end if found is not None else match.end()


def date_at(flat: str, position: int, lang: str) -> DateMatch | None:
    """The date or time that begins at a place of a flat text."""
    match = _ANY.match(flat, position)
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
    # Months come first in English, unless that cannot be a month.
    day, month = (second, first) if lang == "en" and first <= 12 and "dia" not in text else (first, second)
    return DateWords(_year(year[0]) if year else None, month, day)


def _month_in(text: str) -> int:
    return next(MONTHS[word] for word in re.findall(r"[a-z]+", text) if word in MONTHS)


def _named(text: str, _lang: str) -> DateWords:
    day, *year = _digits(text)
    return DateWords(year[0] if year else None, _month_in(text), day)


def _month(text: str, _lang: str) -> DateWords:
    year = _digits(text)
    return DateWords(year[0] if year else None, _month_in(text))


def _count(text: str) -> int:
    digits = _digits(text)
    return digits[0] if digits else next(COUNTS[word] for word in text.split() if word in COUNTS)


def _counted(text: str, sign: int) -> DateWords:
    # `ha` and `a` are no counts here: `daqui a 3 dias`, `ha dois dias`.
    body = re.sub(r"^(?:ha|faz|daqui a|dentro de|in)\s(?:cerca de )?", "", text)
    unit = next(UNITS[word] for word in body.split() if word in UNITS)
    return DateWords(shift=sign * _count(body), unit=unit)


_BACK = ("passad", "ultim", "last", "past", "previous", "anterior")
_AHEAD = ("proxim", "next", "que vem", "seguinte")


def _toward(text: str) -> int:
    return -1 if any(word in text for word in _BACK) else 1 if any(word in text for word in _AHEAD) else 0


def _span(text: str, _lang: str) -> DateWords:
    unit = next(UNITS[word] for word in text.split() if word in UNITS)
    return DateWords(shift=_toward(text), unit=unit, whole=True)


def _weekday(text: str, _lang: str) -> DateWords:
    day = next(WEEKDAYS[word] for word in re.findall(r"[a-z]+", text) if word in WEEKDAYS)
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
    "near": lambda text, _lang: DateWords(shift=_SHIFTS[text]),
    "span": _span,
    "which_day": _weekday,
    "weekday": _weekday,
    "month": _month,
    "year": lambda text, _lang: DateWords(year=_digits(text)[0]),
}
