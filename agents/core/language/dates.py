"""Points in time mentioned in a text, resolved against the time it was said. Pure: no clock.

Resolution of the words, in UTC, to the start of the named period:
- `dia 20`, `the 20th`: that day of the month in which it was said, past or not;
- a day and month without a year: the year that puts it nearest to the time of speaking;
- `terça`, `on Friday`: that weekday on or after the day of speaking; `próxima`/`next` strictly after it,
  `passada`/`last` strictly before it;
- `semana passada`, `next month`: the first day of that week (Monday), month or year.
"""

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

from agents.core.language.date_words import DateWords, scan
from agents.core.language.sentences import MAX_CHARS, composed, flatten, lower, sentences

Precision = Literal["minute", "day", "week", "month", "year"]
_WHOLE: dict[str, Precision] = {"week": "week", "month": "month", "year": "year"}
_LENGTHS = {"minute": timedelta(minutes=1), "day": timedelta(days=1), "week": timedelta(weeks=1)}
_SHOWN = {"minute": "%Y-%m-%d %H:%M", "month": "%Y-%m", "year": "%Y"}
MAX_EVENTS = 50
# Dates written behind their words in one text.
MAX_WRITTEN = 3
MAX_LABEL_CHARS = 120
_WEEKEND = re.compile(r"\b(?:weekend|semana|fds)$", re.I)


class Moment(NamedTuple):
    """A point in time mentioned: its sentence, its time, and its precision (`kind`)."""

    label: str
    at: datetime
    kind: Precision


class Span(NamedTuple):
    """A half-open interval of time."""

    start: datetime
    end: datetime


def span_of(at: datetime, kind: str) -> Span:
    """The interval of a precision that begins at a time: minute, day, week, month or year."""
    if kind in ("month", "year"):
        end = _months_on(at, 12 if kind == "year" else 1)
        return Span(at, end or at + _LENGTHS["day"])
    return Span(at, at + _LENGTHS.get(kind, _LENGTHS["day"]))


def shown(at: datetime, kind: str) -> str:
    """A time formatted with the precision it was named with."""
    return at.strftime(_SHOWN.get(kind, "%Y-%m-%d"))


def events_in(text: str, lang: str, said_at: datetime) -> tuple[Moment, ...]:
    """The dates of a text in order, at most 50; a date that does not exist (31/02) is left out."""
    found: dict[tuple[str, datetime], Moment] = {}
    for sentence in sentences(composed(text), lang):
        for moment in _of_sentence(sentence, lang, said_at.astimezone(UTC)):
            found.setdefault((moment.label, moment.at), moment)
        if len(found) >= MAX_EVENTS:
            break
    return tuple(found.values())[:MAX_EVENTS]


def with_dates(text: str, said_at: datetime) -> str:
    """The text, and behind it the days of its first words that hang on when it was said: `(tomorrow: 2026-05-04)`.

    Behind it, so that it stays a quotation. A weekday alone may be every week's, and gets none.
    """
    if len(text) > MAX_CHARS:
        return text
    said = composed(text)
    found: dict[str, str] = {}
    for place in scan(flatten(said), "en"):
        words, written = place.words, said[place.start : place.end].strip()
        hangs = words.unit not in ("hour", "minute") if words.shift is not None else words.toward != 0
        at = resolve(words, said_at.astimezone(UTC)) if hangs or _WEEKEND.search(written) else None
        if at is not None and len(found) < MAX_WRITTEN:
            rough = words.unit if words.weekday is None and words.unit in ("month", "year") else "day"
            found.setdefault(lower(written), shown(at, rough))
    return f"{text} ({', '.join(f'{written}: {date}' for written, date in found.items())})" if found else text


def _of_sentence(sentence: str, lang: str, said_at: datetime) -> Iterator[Moment]:
    for place in scan(flatten(sentence), lang):
        at = resolve(place.words, said_at)
        if at is not None:
            yield Moment(_label(sentence, place.start, place.end), at, precision(place.words))


def _label(sentence: str, start: int, end: int) -> str:
    """The sentence, or of a long one the words around the date."""
    if len(sentence) <= MAX_LABEL_CHARS:
        return sentence.strip()
    left = max(0, start - (MAX_LABEL_CHARS - (end - start)) // 2)
    cut = sentence[left : left + MAX_LABEL_CHARS]
    first = cut.find(" ") + 1 if left else 0
    last = cut.rfind(" ") if left + MAX_LABEL_CHARS < len(sentence) else len(cut)
    return cut[first:last].strip()


def precision(words: DateWords) -> Precision:
    """The precision of the words."""
    if words.minute is not None or words.unit in ("hour", "minute"):
        return "minute"
    if words.whole:
        return _WHOLE[words.unit]
    if words.day is not None or words.weekday is not None or words.shift is not None:
        return "day"
    return "month" if words.month is not None else "year"


def resolve(words: DateWords, said_at: datetime) -> datetime | None:
    """The UTC time that the words mean when said at a time; None when there is no such day."""
    if words.shift is not None:
        return _shifted(words, said_at)
    if words.weekday is not None:
        return _at_minute(_weekday(words, said_at), words.minute)
    if words.year is None and words.month is None and words.day is None:
        return None
    day = _calendar_day(words, said_at)
    return _at_minute(day, words.minute) if day else None


def _at_minute(day: datetime, minute: int | None) -> datetime:
    start = day.replace(hour=0, minute=0, second=0, microsecond=0)
    return start + timedelta(minutes=minute or 0)


def _weekday(words: DateWords, said_at: datetime) -> datetime:
    ahead = ((words.weekday or 0) - said_at.weekday()) % 7
    if words.toward > 0:
        ahead = ahead or 7
    if words.toward < 0:
        ahead -= 7
    return said_at + timedelta(days=ahead)


def _calendar_day(words: DateWords, said_at: datetime) -> datetime | None:
    month = words.month or (1 if words.year is not None else said_at.month)
    day = words.day or 1
    if words.year is not None:
        return _date(words.year, month, day)
    if words.month is None:
        return _date(said_at.year, month, day)
    near = [found for year in (said_at.year - 1, said_at.year, said_at.year + 1) if (found := _date(year, month, day))]
    return min(near, key=lambda found: abs(found - said_at), default=None)


def _date(year: int, month: int, day: int) -> datetime | None:
    if not 1 <= year <= 9_998 or day > monthrange(year, month)[1]:
        return None
    return datetime(year, month, day, tzinfo=UTC)


def _shifted(words: DateWords, said_at: datetime) -> datetime | None:
    count = words.shift or 0
    if words.unit in ("hour", "minute"):
        return said_at + timedelta(minutes=count * (60 if words.unit == "hour" else 1))
    if words.unit in ("month", "year"):
        day = _months_on(said_at, count * (12 if words.unit == "year" else 1))
    else:
        day = said_at + timedelta(days=count * (7 if words.unit == "week" else 1))
    return _at_minute(_start_of(words.unit, day) if words.whole else day, words.minute) if day else None


def _months_on(said_at: datetime, count: int) -> datetime | None:
    """The same day `count` months later, or the month's last day; None outside the calendar."""
    months = said_at.year * 12 + said_at.month - 1 + count
    year, month = divmod(months, 12)
    return _date(year, month + 1, min(said_at.day, monthrange(year, month + 1)[1])) if 1 <= year <= 9_998 else None


def _start_of(unit: str, day: datetime) -> datetime:
    if unit == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1, month=1 if unit == "year" else day.month)
