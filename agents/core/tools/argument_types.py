"""The type of an argument by the words of its name: only arguments of one type may share a value.

`pickup_city` and `destination` are both places, but one is the origin of a trip. A name of unknown type is a type of
its own. English and Portuguese.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from agents.core.language.lexicons import lexicon


class Kind(StrEnum):
    DATE = "date"
    TIME = "time"
    MONEY = "money"
    COUNT = "count"
    PLACE = "place"
    ACCOUNT = "account"
    NAME = "name"
    PERSON = "person"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class SlotType:
    """A kind of value and its role in the call: the end of a span, the origin of a trip, the thing counted."""

    kind: Kind
    part: str = ""


END, ORIGIN, RECIPIENT = "end", "origin", "recipient"
PEOPLE, DAYS = "people", "days"

_WORD = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


@cache
def _said(section: str) -> frozenset[str]:
    return lexicon("arguments").words(section)


def words_of(name: str) -> tuple[str, ...]:
    """The words of an argument name, in lower case: `appointment_time` and `appointmentTime` have the same."""
    return tuple(word.lower() for word in _WORD.findall(_HUMP.sub("_", name)))


def sort_of(name: str) -> SlotType:
    """The type of an argument, by its name alone."""
    words = words_of(name)
    said = frozenset(words)
    if "account" in said or "conta" in said:
        return SlotType(Kind.ACCOUNT, RECIPIENT if said & _said("person") else "")
    if said & _said("person"):
        return SlotType(Kind.PERSON)
    if words and (words[-1] in _said("name") or words[0] in _said("name")):
        return SlotType(Kind.NAME, " ".join(word for word in words if word not in _said("name")))
    for unit in (PEOPLE, DAYS):
        if said & _said(unit) and (unit == PEOPLE or said & _said("counting")):
            return SlotType(Kind.COUNT, unit)
    if said & _said("counting") and (
        counted := [word for word in words if word not in _said("counting") | _said("joints")]
    ):
        return SlotType(Kind.COUNT, counted[-1].removesuffix("s"))
    for kind in (Kind.TIME, Kind.DATE):
        if said & _said(kind):
            return SlotType(kind, END if said & _said("end") else "")
    if said & _said("money"):
        return SlotType(Kind.MONEY)
    if said & _said("place"):
        return SlotType(Kind.PLACE, ORIGIN if said & _said("origin") else "")
    return SlotType(Kind.OTHER, " ".join(words))
