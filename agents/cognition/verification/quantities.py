"""The amounts of a text by unit, written in figures or in words, and its calendar dates."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from agents.core.caching.texts import text_cache
from agents.core.language import text
from agents.core.language.date_words import DateWords, scan
from agents.core.language.lexicons import framed, lexicon
from agents.core.language.sentences import composed, flatten, sentences
from agents.core.language.values import value_at
from agents.legal.case_numbers import UNIFIED

# Numbers that name a provision or a ruling are no amounts.
_NAMES = re.compile(
    rf"{UNIFIED}|(?:\b(?:art(?:igo|icle)?s?|sections?|rules?|clauses?|sumulas?|sumulas? vinculantes?|temas?|incisos?|"
    r"lei|leis|decreto|decreto-lei|complementar|recurso|apelacao|resp|processo|oj)\b\.?\s{0,2}(?:n[.o\u00ba\u00b0]{0,2}"
    r"\s{0,2})?|\u00a7{1,2}\s?)\d[\d./-]*(?:[\u00ba\u00b0\u00aao]\b)?(?:-[a-z]\b)?(?:\(\w{1,4}\))*"
    r"(?:(?:,| e| and| ou| or)\s\d[\d.]*(?:[\u00ba\u00b0\u00aao]\b)?(?=\s(?:e|and|d[aeo]s?|of)\b|[,.;]))*"
)
_WORD = re.compile(r"[a-z]+")
_FIGURE = re.compile(r"(?<![\w.,/-])(?:r\$|us\$|u\$|\$|€|£)?\s?\d")
_DIGITS = re.compile(r"\d[\d.,:/]*\d|\d")
_RESULT = re.compile(r"[^=;]{1,40}")
_TWICE = re.compile(r"(?P<first>\d[\d.,]{0,30})(?P<unit>\s?%)?\s?\((?P<again>\d[\d.,]{0,30})(?:\s?%)?\)")
_PER_CENT = re.compile(r"\b(?:por cento|per ?cent)\b")
# `8 horas` is also a time of the clock: hours are counted in minutes, and times stay out.
_HOURS = re.compile(r"(?<![\w.,/:])(\d{1,4})\s?(?:horas?|hours?|hrs?|h)\b")
_PLUS = re.compile(r"\d[^=.;]{0,120}\+[^=.;]{0,120}=")
_BEFORE_CHARS = 24
_MAX_TERMS = 6


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount of a unit: money by currency, `%`, `minute`, `day`, `month`, `year`, a noun, or none; `bound` is
    `least`, `most` or empty."""

    unit: str
    amount: float
    bound: str = ""

    def __str__(self) -> str:
        return f"{self.amount:g} {self.unit}".strip()


@text_cache(2_048)
def quantities(said: str, lang: str) -> frozenset[Quantity]:
    """The amounts of a text, numbers that name a provision or a ruling left out."""
    return frozenset(each for sentence in sentences(composed(said), lang) for each in _of(sentence, lang))


@text_cache(2_048)
def dates(said: str, lang: str) -> frozenset[DateWords]:
    """The calendar dates of a text, with the fields that it says; times and dates counted from today are none."""
    flat = _NAMES.sub(_blank, flatten(composed(said)))
    return frozenset(each.words for each in scan(flat, lang) if _calendar(each.words))


@text_cache(2_048)
def figures(said: str, lang: str) -> frozenset[str]:
    """The numbers of a text, in digits, and its words of a date or a time; numbers that name a provision left out."""
    flat = in_figures(_NAMES.sub(_blank, flatten(composed(said))))
    return frozenset((*_DIGITS.findall(flat), *(flat[each.start : each.end] for each in scan(flat, lang))))


def multiples(said: str) -> frozenset[str]:
    """The words for an amount without a number, as `dobro`."""
    return lexicon("verification").words("multiples").intersection(text.words(said))


def within(date: DateWords, known: Iterable[DateWords]) -> bool:
    """Whether one of the known dates has every field of the date."""
    fields = ("year", "month", "day", "weekday", "minute")
    said = {name: getattr(date, name) for name in fields if getattr(date, name) is not None}
    return any(all(getattr(each, name) == value for name, value in said.items()) for each in known)


def summed(total: Quantity, terms: Iterable[Quantity]) -> bool:
    """Whether two or more of at most six terms of the same unit sum to the total."""
    amounts = [each.amount for each in terms if each.unit == total.unit and each.amount != total.amount][:_MAX_TERMS]
    return any(
        abs(sum(some) - total.amount) < 1e-6 for n in range(2, len(amounts) + 1) for some in combinations(amounts, n)
    )


def states_a_sum(said: str) -> bool:
    """Whether a text says that an amount is the sum of others."""
    return bool(_PLUS.search(said)) or bool(lexicon("verification").words("adds").intersection(text.words(said)))


def wrong_sums(said: str, lang: str) -> tuple[str, ...]:
    """The sums written with `+` and `=` that are not right."""
    flat = in_figures(flatten(composed(said)))
    found: list[str] = []
    for written, result in _sums(flat):
        terms, total = _amounts(written, lang), _amounts(result, lang)[:1]
        if len(terms) >= 2 and total and abs(sum(terms) - total[0]) > 1e-6:
            found.append(f"{written}={result}".strip())
    return tuple(found)


def _sums(flat: str) -> Iterator[tuple[str, str]]:
    """What stands on both sides of each `=` with a `+` before it; a `;` begins anew."""
    at = 0
    while (equal := flat.find("=", at)) >= 0:
        written = flat[max(at, flat.rfind(";", at, equal) + 1) : equal]
        at = equal + 1
        if "+" in written and (result := _RESULT.match(flat, at)) is not None:
            at = result.end()
            yield written, result[0]


def _amounts(flat: str, lang: str) -> list[float]:
    return [each.amount for each in _read(flat, lang)]


def _of(sentence: str, lang: str) -> Iterator[Quantity]:
    flat = in_figures(_PER_CENT.sub("%", _NAMES.sub(_blank, flatten(sentence))))
    flat = _HOURS.sub(lambda match: f"{60 * int(match[1])} minutes", _TWICE.sub(_once, flat))
    for match in scan(flat, lang):
        if _calendar(match.words):
            flat = f"{flat[: match.start]}{' ' * (match.end - match.start)}{flat[match.end :]}"
    yield from _read(flat, lang)


def _read(flat: str, lang: str) -> Iterator[Quantity]:
    end = 0
    for match in _FIGURE.finditer(flat):
        if match.start() < end:
            continue
        at = match.start() + len(match[0]) - len(match[0].lstrip())
        value = value_at(flat, at, lang)
        if value is None or value.kind not in ("money", "percent", "duration", "number"):
            continue
        parts = dict(value.parts)
        unit, amount = str(parts["unit"]), float(parts["amount"])
        end = at + value.end - value.start
        noun = unit if value.kind != "number" else text.stem(unit, lang)
        yield Quantity(noun, amount, _bound(flat[max(0, at - _BEFORE_CHARS) : at]))


def _bound(before: str) -> str:
    """What the words right before an amount make of it."""
    for section, bound in (("upper_bound", "most"), ("lower_bound", "least")):
        if framed("verification", rf"\b(?:<<{section}>>)(?:,?\s(?:de|a|o|of|the|in|is))?\s*\Z").search(before):
            return bound
    return ""


def _once(match: re.Match[str]) -> str:
    """`8 (8)` is one amount; `8 (9)` is two."""
    same = match["first"].rstrip(".,") == match["again"].rstrip(".,")
    return f"{match['first']}{match['unit'] or ''}" if same else match[0]


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _calendar(words: DateWords) -> bool:
    if words.shift is not None:
        return False
    # Alone, the hour of a clock and the day of a week are often something else: `5 horas`, `segunda`.
    return words.year is not None or words.month is not None or words.day is not None


@cache
def _cardinals() -> dict[str, int]:
    return {word: int(number) for word, number in lexicon("verification").rows("cardinals").items()}


def in_figures(flat: str) -> str:
    """A flat text with its written numbers in figures; an article (`um`, `one`) only in brackets after a figure."""
    known = lexicon("verification")
    joints, articles = known.words("cardinal_joints"), known.words("articles")
    words = list(_WORD.finditer(flat))
    out: list[str] = []
    at = place = 0
    while place < len(words):
        run = _run(flat, words, place, joints)
        alone = run == 1 and words[place][0] in articles
        if not run or (alone and not re.search(r"\d\s?\(\Z", flat[: words[place].start()][-3:])):
            place += 1
            continue
        end = words[place + run - 1].end()
        out += flat[at : words[place].start()], str(_value([each[0] for each in words[place : place + run]], joints))
        at, place = end, place + run
    return "".join((*out, flat[at:]))


def _run(flat: str, words: Sequence[re.Match[str]], place: int, joints: frozenset[str]) -> int:
    """How many words from a place on write one number: each smaller than the one before, or a multiplier of it."""
    length, last = 0, 0
    for offset, match in enumerate(words[place:]):
        word = match[0]
        if offset and flat[words[place + offset - 1].end() : match.start()].strip(" -"):
            break
        if word in joints and length == offset and length:
            continue
        value = _cardinals().get(word)
        joined = offset > length
        if value is None or (length and not _follows(last, value, joined=joined)):
            break
        length, last = offset + 1, value
    return length


def _follows(last: int, value: int, *, joined: bool) -> bool:
    if value >= 100 and value in (100, 1000) and not joined:
        return last < value
    return (last >= 20 and value < 10) or (last >= 100 and value < 100) or (last >= 1000 and value < 1000)


def _value(words: Sequence[str], joints: frozenset[str]) -> int:
    total = current = 0
    for word in words:
        if word in joints:
            continue
        value = _cardinals()[word]
        if value == 1000:
            total, current = total + max(current, 1) * value, 0
        elif value == 100 and 0 < current < 10:
            current *= value
        else:
            current += value
    return total + current
