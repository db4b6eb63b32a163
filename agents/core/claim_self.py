"""What people say of themselves (`moro em Lisboa`), and what the assistant says back of them (`você mora em Lisboa`)."""

import re
from typing import Literal

from agents.core import claim_grammar as grammar
from agents.core.claim_attributes import MAX_FREE_WORDS, MAX_VALUE_CHARS, Slot
from agents.core.claim_lexicon import COUNTABLE
from agents.core.claim_subjects import USER
from agents.core.values import TypedValue, value_at

_TO_THE_HEARER = re.compile(r"\b(?:você|you)\b")
_WE = re.compile(r"\b(?:temos|we)\b")
_US = {"pt": "nós", "en": "we"}
_NAME = {"pt": "nome do usuário", "en": "user's name"}
_FORMS = ("live", "moved", "work", "called", "age", "count", "likes")
_END = re.compile(r"[,;.!?]|\s(?:mas|but|e|and|porque|because)\s")


def of_oneself(
    text: str, low: str, place: tuple[int, int], author: Literal["user", "system"], lang: str
) -> tuple[Slot, int] | None:
    """The slot a speaker fills about the user, and where it ends; None when the fragment is no such sentence."""
    start, end = place
    found = grammar.SELF.match(low, _past_pronoun(low, start), end) or grammar.SELF.match(low, start, end)
    if found is None:
        return None
    # The assistant's `I live in …` and the user's `you live in …` are about nobody we remember.
    if (_TO_THE_HEARER.search(low, start, found.end()) is not None) != (author == "system"):
        return None
    form = next(name for name in _FORMS if found[name] is not None)
    slot = _slot(form, text[:end], low, (start, found), lang)
    if slot is None:
        return None
    return (slot.denied(lang) if found["not"] else slot), end


_PRONOUN = re.compile(r"(?:i|we|you|i've|i'm|i am|we've)\s+(?:now |just |really |actually |currently )?")


def _past_pronoun(low: str, start: int) -> int:
    pronoun = _PRONOUN.match(low, start)
    return pronoun.end() if pronoun else start


def _slot(form: str, text: str, low: str, match: tuple[int, re.Match[str]], lang: str) -> Slot | None:
    start, found = match
    user = USER[lang if lang in USER else "en"]
    at = found.end()
    while at < len(text) and text[at] == " ":
        at += 1
    if form == "likes":
        cut = _END.search(low, at, len(text))
        shown = text[at : cut.start() if cut else len(text)].strip()
        few = 0 < len(shown.split()) <= MAX_FREE_WORDS
        return Slot(user, "gosta de", shown[:MAX_VALUE_CHARS], functional=False, typed=False) if few else None
    value = value_at(text, at, lang) if at < len(text) else None
    if value is None:
        return None
    whole = not low[value.end : len(text)].strip(" .!,)") or bool(grammar.HARMLESS.match(low[value.end : len(text)]))
    shown = text[value.start : value.end].strip()
    if form == "count":
        ours = _WE.search(low, start, at)
        return _counted(value, shown, _US.get(lang, "we") if ours else user, whole)
    subject = _NAME.get(lang, _NAME["en"]) if form == "called" else user
    return _named(form, value, shown, subject, whole)


def _counted(value: TypedValue, shown: str, subject: str, whole: bool) -> Slot | None:
    unit = str(dict(value.parts).get("unit", ""))
    if value.kind != "number" or not unit:
        return None
    return Slot(subject, f"quantidade de {unit}", shown, whole and unit in COUNTABLE)


def _named(form: str, value: TypedValue, shown: str, user: str, whole: bool) -> Slot | None:
    if form == "age":
        return Slot(user, "idade", shown, whole) if value.kind == "duration" else None
    if value.kind not in ("person", "place"):
        return None
    if form == "called":
        return Slot(user, "nome", shown, whole)
    if form in ("live", "moved"):
        # An unknown place may lie inside a known one (`moro em Alfama`, `moro em Lisboa`): it binds nothing by itself.
        return Slot(user, "residência", shown, whole and value.kind == "place")
    return Slot(user, "local de trabalho" if value.kind == "place" else "emprego", shown, functional=False)
