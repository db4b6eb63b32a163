"""Typed values: date, amount, name, contact or state, and when two values exclude each other.

In doubt two values do not exclude each other: a false conflict is worse than a missed one. `dia 15` and `15 de março`
may be the same day, `sexta` and `dia 20` too; `dia 15` and `dia 20` may not.
"""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Literal

from agents.core.caching.texts import text_cache
from agents.core.language.claim_lexicon import NAME_JOINTS, places, states
from agents.core.language.date_words import DateMatch, DateWords, any_of, date_at, numbers, units
from agents.core.language.sentences import composed, flatten, word_set

Kind = Literal[
    "date", "duration", "money", "number", "percent", "version", "contact", "code", "person", "place", "state"
]


@dataclass(frozen=True, slots=True)
class TypedValue:
    """A value with its position in a text; `parts` are the compared fields: name -> value."""

    kind: Kind
    start: int
    end: int
    parts: tuple[tuple[str, str | float], ...]
    words: DateWords | None = field(default=None)


_NUMBER = r"\d{1,3}(?:[.,]\d{3})+(?:[.,]\d{1,2})?(?![\d])|\d+(?:[.,]\d+)?"
_SCALES = {
    **dict.fromkeys(("mil", "k", "thousand"), 1e3),
    **dict.fromkeys(("milhao", "milhoes", "mi", "m", "million", "mln"), 1e6),
    **dict.fromkeys(("bilhao", "bilhoes", "mil milhoes", "bi", "billion", "bn"), 1e9),
}
_SCALE = r"(?:\s?(?P<scale>mil milhoes|milhoes|milhao|bilhoes|bilhao|million|billion|thousand|mil|mln|mi|bi|bn|k|m)\b)?"
_CURRENCIES = {
    "r$": "BRL", "brl": "BRL", "reais": "BRL", "real": "BRL", "us$": "USD", "u$": "USD", "usd": "USD", "dolares": "USD",
    "dollars": "USD", "dollar": "USD", "dolar": "USD", "$": "USD", "eur": "EUR", "euros": "EUR", "euro": "EUR",
    "\u20ac": "EUR", "\u00a3": "GBP", "pounds": "GBP", "libras": "GBP",
}  # fmt: skip
_MONEY_FIRST = re.compile(
    rf"(?P<money>r\$|us\$|u\$|\$|\u20ac|\u00a3|brl\b|usd\b|"
    rf"eur\b)\s?(?P<number>{_NUMBER}){_SCALE}"
)


@cache
def _amount_pattern() -> re.Pattern[str]:
    return re.compile(
        rf"(?:(?P<number>{_NUMBER})|(?P<word>(?:{any_of(numbers('counts'))})\b(?=\s)))"
        rf"{_SCALE}\s?(?:(?P<percent>%|por cento\b|percent\b)|(?:de )?(?P<money>reais|real|dolares|dolar|dollars?|"
        r"euros?|\u20ac|libras|pounds|usd|brl|eur)(?![a-z])|(?P<noun>[a-z]{2,20}\b))?"
    )


_VERSION = re.compile(
    r"(?:v(?:ersao|ersion)?\.?\s?)?(?P<version>v?\d{1,4}(?:\.\d{1,4}){1,3}(?:-?[a-z]{1,5}\d{0,3})?)\b(?![,\d%])"
)
_CONTACT = re.compile(
    r"[a-z0-9._%+-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,4}|https?://[^\s,;]{1,200}|www\.[^\s,;]{1,200}"
    r"|(?:\+\d{1,3}\s?)?\(?\d{2,3}\)?[\s-]?\d{3,5}[\s-]\d{3,4}\b"
    r"|(?!(?:19|20)\d\d-(?:19|20)\d\d)\d{3,5}-\d{4}\b"
)
# Numbers of registers (CNPJ, CPF, EIN, CEP), and codes of letters and figures.
_REGISTERED = re.compile(
    r"(?:\d{2}\.?\d{3}\.?\d{3}/\d{4}-\d{2}|\d{3}\.\d{3}\.\d{3}-\d{2}|\d{2}-\d{7}|\d{5}-\d{3})(?![\w-])"
)
_CODE = re.compile(r"[A-Z]{2,8}[A-Z0-9]{0,12}[-./]?\d{2,20}(?:[-./]?[A-Z0-9]{1,20}){0,4}(?![\w])")
_NAME_WORD = re.compile(r"[A-ZÀ-Ý][\w'\u00c0-\u00ff-]{0,30}|[A-ZÀ-Ý]{2,10}\d{0,4}")
_TITLE = re.compile(r"(?:(?:o|a|the)\s+)?(?:dr|dra|sr|sra|mr|mrs|ms|prof|profa)\.?\s+|(?:o|a|the)\s+", re.IGNORECASE)
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)?")
_NOT_NOUNS = word_set(
    "e ou de do da em no na por para pra com sem a o as os se nao mas que agora hoje ate desde and or of in on at by "
    "for to with not but now from per is are so instead rather then than the mesmo viu ok obrigado vs entre"
)


def value_at(text: str, position: int, lang: str, *, version: bool = False) -> TypedValue | None:
    """The typed value that begins at a position of a (composed) text, articles included; None when there is none."""
    flat = flatten(text)
    if version and (found := _VERSION.match(flat, position)):
        return TypedValue("version", position, found.end(), (("version", found["version"].lstrip("v")),))
    if registered := _REGISTERED.match(flat, position):
        return TypedValue("code", position, registered.end(), (("code", re.sub(r"\D", "", registered.group())),))
    contact = _CONTACT.match(flat, position)
    if contact:
        end = contact.end() - (len(contact.group()) - len(contact.group().rstrip(".")))
        return TypedValue("contact", position, end, (("contact", re.sub(r"[\s()-]", "", flat[position:end])),))
    date = date_at(flat, position, lang)
    if date is not None:
        return _dated(date)
    if code := _CODE.match(text, position):
        return TypedValue("code", position, code.end(), (("code", flatten(code.group())),))
    return _amount(flat, position, lang) or _state(flat, position) or _name(text, flat, position)


def _dated(found: DateMatch) -> TypedValue:
    return TypedValue("date", found.start, found.end, (), found.words)


def _amount(flat: str, position: int, lang: str) -> TypedValue | None:
    match = _MONEY_FIRST.match(flat, position) or _amount_pattern().match(flat, position)
    if match is None:
        return None
    groups = match.groupdict()
    number = float(numbers("counts")[groups["word"]]) if groups.get("word") else as_number(groups["number"] or "", lang)
    number *= _SCALES[groups["scale"]] if groups["scale"] else 1
    if groups["money"]:
        parts = (("amount", number), ("unit", _CURRENCIES[groups["money"]]))
        return TypedValue("money", position, match.end(), parts)
    if groups.get("percent"):
        return TypedValue("percent", position, match.end(), (("amount", number), ("unit", "%")))
    return _counted(match, number)


def _counted(match: re.Match[str], number: float) -> TypedValue | None:
    noun = match["noun"] or ""
    if noun in _NOT_NOUNS:
        noun = ""
    end = match.end() if noun else max(match.end("number"), match.end("word"), match.end("scale"))
    if noun in units():
        unit = units()[noun]
        days = {"week": 7.0, "day": 1.0}.get(unit)
        parts = (("amount", number * days), ("unit", "day")) if days else (("amount", number), ("unit", unit))
        return TypedValue("duration", match.start(), end, parts)
    if match["word"] and not noun:
        return None
    if match["word"] in ("um", "uma", "a", "an", "one"):
        return None
    return TypedValue("number", match.start(), end, (("amount", number), ("unit", singular(noun))))


def as_number(text: str, lang: str) -> float:
    """The number of a numeral: `40.000,00` and `40,000.00` alike; a lone `1.500` by its language."""
    last = max(text.rfind("."), text.rfind(","))
    if last < 0:
        return float(text)
    both = "." in text and "," in text
    groups_only = text.count(text[last]) > 1
    thousands = "." if lang != "en" else ","
    whole = groups_only or (not both and text[last] == thousands and len(text) - last == 4)
    if whole:
        return float(re.sub(r"[.,]", "", text))
    return float(f"{re.sub(r'[.,]', '', text[:last])}.{text[last + 1 :]}")


def singular(noun: str) -> str:
    """The folded noun without its plural ending, roughly: only for comparing units."""
    if noun.endswith(("oes", "aes")):
        return noun[:-3] + "ao"
    return noun[:-1] if len(noun) > 3 and noun.endswith("s") else noun


def _state(flat: str, position: int) -> TypedValue | None:
    match = _WORD.match(flat, position)
    word = match.group() if match else ""
    scale = states().get(word) or states().get(re.sub(r"(?:as|os|a)$", "o", word))
    if match is None or scale is None:
        return None
    return TypedValue("state", position, match.end(), (("scale", scale[0]), ("state", scale[1])))


def _name(text: str, flat: str, position: int) -> TypedValue | None:
    title = _TITLE.match(text, position)
    first = title.end() if title else position
    match = _NAME_WORD.match(text, first)
    if match is None:
        return _low_place(flat, first, position)
    end = match.end()
    while (after := NAME_JOINTS.match(text, end)) and (match := _NAME_WORD.match(text, after.end())):
        end = match.end()
    name = flat[first:end]
    level = places().get(name)
    parts: tuple[tuple[str, str | float], ...] = (("name", name),)
    return TypedValue("place", position, end, (*parts, ("level", level))) if level else TypedValue(
        "person", position, end, parts
    )  # fmt: skip


def _low_place(flat: str, first: int, position: int) -> TypedValue | None:
    """A well-known place written in small letters; the longest of up to three words."""
    words = list(re.finditer(r"[a-z]+", flat[first : first + 60]))[:3]
    for count in range(len(words), 0, -1):
        name = flat[first : first + words[count - 1].end()]
        if name in places() and len(name) > 3:
            return TypedValue("place", position, first + len(name), (("name", name), ("level", places()[name])))
    return None


@text_cache(8_192)
def read(value: str, lang: str, *, version: bool = False) -> TypedValue | None:
    """The typed value at the start of a claim's value."""
    return value_at(composed(value), 0, lang, version=version)


def exclude(a: TypedValue, a_at: datetime, b: TypedValue, b_at: datetime) -> bool:
    """Whether two values of one attribute exclude each other; relative dates count from when they were said."""
    if _plain_amounts(a, b):
        return dict(a.parts)["amount"] != dict(b.parts)["amount"]
    if a.kind != b.kind:
        return False
    if a.words is not None and b.words is not None:
        return _differ(_fixed(a.words, a_at), _fixed(b.words, b_at))
    ours, theirs = dict(a.parts), dict(b.parts)
    if a.kind in ("person", "place"):
        return ours.get("level") == theirs.get("level") and _other_name(str(ours["name"]), str(theirs["name"]))
    if a.kind == "state":
        return ours["scale"] == theirs["scale"] and ours["state"] != theirs["state"]
    if ours.get("unit") != theirs.get("unit"):
        return False
    return ours != theirs


def same(a: TypedValue, a_at: datetime, b: TypedValue, b_at: datetime) -> bool:
    """Whether two values are equal, as far as the words show."""
    if _plain_amounts(a, b):
        return dict(a.parts)["amount"] == dict(b.parts)["amount"]
    if a.kind != b.kind:
        return False
    if a.words is not None and b.words is not None:
        ours, theirs = _fixed(a.words, a_at), _fixed(b.words, b_at)
        return bool(ours.keys() & theirs.keys()) and not _differ(ours, theirs)
    return a.parts == b.parts


def _plain_amounts(a: TypedValue, b: TypedValue) -> bool:
    """Whether two amounts are comparable though one has no unit: `50 mil` and `R$ 40 mil`."""
    if not {a.kind, b.kind} <= {"money", "number", "percent"}:
        return False
    return "" in (dict(a.parts).get("unit"), dict(b.parts).get("unit"))


def _other_name(one: str, other: str) -> bool:
    # `Ana` and `Ana Souza` may be one person: names exclude each other only when neither contains the other.
    ours, theirs = set(one.split()), set(other.split())
    return not (ours <= theirs or theirs <= ours)


def _differ(ours: dict[str, int], theirs: dict[str, int]) -> bool:
    return any(ours[name] != theirs[name] for name in ours.keys() & theirs.keys())


def _fixed(words: DateWords, said_at: datetime) -> dict[str, int]:
    """The date fields that the words determine; a shift of whole days becomes a date."""
    fields = {"year": words.year, "month": words.month, "day": words.day, "minute": words.minute}
    fields["weekday"] = words.weekday
    if words.shift is not None and words.unit == "day":
        day = said_at.astimezone(UTC) + timedelta(days=words.shift)
        fields |= {"year": day.year, "month": day.month, "day": day.day, "weekday": day.weekday()}
    return {name: number for name, number in fields.items() if number is not None}
