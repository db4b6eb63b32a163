"""What sort of value an argument takes, by the words of its name: those of one sort may share a value, others never.

`pickup_city` and `destination` are both places, but the one is where a way begins. A name of no known sort is a sort of
its own. English and Portuguese.
"""

import re
from dataclasses import dataclass
from enum import StrEnum


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
    """A kind of value and its part in the call: the end of a span, the origin of a way, what is counted."""

    kind: Kind
    part: str = ""


END, ORIGIN, RECIPIENT = "end", "origin", "recipient"
PEOPLE, DAYS = "people", "days"

_WORD = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_DATE = _set("date day data dia")
_TIME = _set("time hour hora horario horário")
_MONEY = _set("amount valor quantia")
_PLACE = _set("city location destination origin area town region cidade local destino origem região regiao from to")
_ORIGIN = _set("from origin origem pickup partida retirada")
_END = _set("dropoff return end checkout volta devolução fim")
_NAME = _set("name nome title titulo título")
_PERSON = _set("recipient receiver destinatario destinatário beneficiario beneficiário")
_COUNTING = _set("number num count size length quantidade numero número qtd")
_JOINTS = _set("of de do da dos das")
_UNITS = {
    PEOPLE: _set(
        "travelers travellers passengers riders people seats tickets guests party adults group "
        "viajantes passageiros pessoas assentos ingressos lugares"
    ),
    DAYS: _set("days stay nights dias noites estadia"),
}


def words_of(name: str) -> tuple[str, ...]:
    """`appointment_time` and `appointmentTime` as their words, folded to lower case."""
    return tuple(word.lower() for word in _WORD.findall(_HUMP.sub("_", name)))


def sort_of(name: str) -> SlotType:
    """The sort of an argument by its name alone."""
    words = words_of(name)
    said = frozenset(words)
    if "account" in said or "conta" in said:
        return SlotType(Kind.ACCOUNT, RECIPIENT if said & _PERSON else "")
    if said & _PERSON:
        return SlotType(Kind.PERSON)
    if words and (words[-1] in _NAME or words[0] in _NAME):
        return SlotType(Kind.NAME, " ".join(word for word in words if word not in _NAME))
    for unit, names in _UNITS.items():
        if said & names and (unit == PEOPLE or said & _COUNTING):
            return SlotType(Kind.COUNT, unit)
    if said & _COUNTING and (counted := [word for word in words if word not in _COUNTING | _JOINTS]):
        return SlotType(Kind.COUNT, counted[-1].removesuffix("s"))
    for kind, names in ((Kind.TIME, _TIME), (Kind.DATE, _DATE)):
        if said & names:
            return SlotType(kind, END if said & _END else "")
    if said & _MONEY:
        return SlotType(Kind.MONEY)
    if said & _PLACE:
        return SlotType(Kind.PLACE, ORIGIN if said & _ORIGIN else "")
    return SlotType(Kind.OTHER, " ".join(words))
