"""Users' statements about themselves (`moro em Lisboa`), and the assistant's about the user (`você mora em Lisboa`)."""

import re
from typing import Literal

from agents.core.claims import grammar
from agents.core.claims.attributes import LOW_NAME, Slot, tail_of
from agents.core.claims.first_person_facts import NAME
from agents.core.claims.subjects import USER
from agents.core.language.claim_lexicon import words
from agents.core.language.values import TypedValue, value_at

_TO_THE_HEARER = re.compile(r"(?:você|you)\b")
# Without `você` these are of a third person, whose name precedes them.
_THIRD = re.compile(r"(?<!\w)(?:mora|vive|trabalha|tem)(?!\w)")
_WE = re.compile(r"\b(?:temos|we)\b")
_US = {"pt": "nós", "en": "we"}
_FORMS = ("live", "moved", "work", "called", "age", "count")
_FEW_WORDS = re.compile(
    r"(?P<name>(?!it\b|that\b|this\b|isso\b)[^\W\d_][\w'-]{0,20}"
    r"(?:\s(?!(?:and|but|e|mas|i|eu|since|desde|with|com|which|que|porque|because)\b)[^\W\d_][\w'-]{0,20}){0,4})"
    r"(?=[\s,.;!]|$)"
)
_OLD = re.compile(r"\s+(?:old|de idade)\b")


def of_oneself(
    text: str, low: str, place: tuple[int, int], author: Literal["user", "system"], lang: str
) -> tuple[Slot, int | None] | None:
    """The slot that a speaker fills about the user, and the start of the next clause; None for other sentences."""
    start, end = place
    found = grammar.SELF_PT.match(low, start, end) or grammar.SELF_EN.match(low, start, end)
    if found is None:
        return None
    # The assistant's `I live in …` and the user's `you live in …` are not about the user.
    if (_TO_THE_HEARER.match(low, start, found.end()) is not None) != (author == "system"):
        return None
    groups = found.groupdict()
    form = next(name for name in _FORMS if groups.get(name) is not None)
    if form in ("live", "work", "age") and author == "user" and _THIRD.search(found.group()):
        return None
    read = _slot(form, text[:end], low, (start, found), lang)
    if read is None:
        return None
    slot, following = read
    return (slot.denied(lang) if groups["not"] else slot), following


def _slot(
    form: str, text: str, low: str, match: tuple[int, re.Match[str]], lang: str
) -> tuple[Slot, int | None] | None:
    start, found = match
    user = USER.get(lang, USER["en"])
    at = found.end()
    while at < len(text) and text[at] == " ":
        at += 1
    value = value_at(text, at, lang) if at < len(text) else None
    if value is None:
        return _in_small_letters(form, text, low, at, user, lang)
    old = _OLD.match(low, value.end) if form == "age" else None
    whole, following = tail_of(low, old.end() if old else value.end, len(text))
    shown = text[value.start : value.end].strip()
    if form == "count":
        subject = _US.get(lang, "we") if _WE.search(low, start, at) else user
        slot = _counted(value, shown, subject, whole)
    else:
        subject = NAME.get(lang, NAME["en"]) if form == "called" else user
        slot = _named(form, value, shown, subject, whole)
    return (slot, following) if slot else None


def _in_small_letters(form: str, text: str, low: str, at: int, user: str, lang: str) -> tuple[Slot, int | None] | None:
    """Slots in small letters, stored verbatim: `me chamo ana`, `moro em alfama`; such a place excludes no other."""
    attribute = {"called": "nome", "live": "residência", "moved": "residência", "work": "emprego"}.get(form)
    if attribute is None:
        return None
    found = LOW_NAME.match(low, at) if form == "called" else _FEW_WORDS.match(low, at)
    if found is None:
        return None
    shown = text[found.start("name") : found.end("name")].strip()
    subject = NAME.get(lang, NAME["en"]) if form == "called" else user
    slot = Slot(subject, attribute, shown, functional=form == "called", typed=False)
    return slot, grammar.clause_after(low, found.end("name"), len(low))


def _counted(value: TypedValue, shown: str, subject: str, whole: bool) -> Slot | None:
    unit = str(dict(value.parts).get("unit", ""))
    if value.kind != "number" or not unit:
        return None
    return Slot(subject, f"quantidade de {unit}", shown, whole and unit in words("countable"))


def _named(form: str, value: TypedValue, shown: str, user: str, whole: bool) -> Slot | None:
    if form == "age":
        return Slot(user, "idade", shown, whole) if value.kind == "duration" else None
    if value.kind not in ("person", "place"):
        return None
    if form == "called":
        return Slot(user, "nome", shown, whole)
    if form in ("live", "moved"):
        # An unknown place may lie inside a known one (`moro em Alfama`, `moro em Lisboa`), so it excludes no other.
        return Slot(user, "residência", shown, whole and value.kind == "place")
    return Slot(user, "local de trabalho" if value.kind == "place" else "emprego", shown, functional=False)
