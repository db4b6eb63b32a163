"""Legal references in a text: case numbers, provisions of laws, rulings; Brazilian forms, by pattern, no model."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from agents.legal import case_numbers, provisions, rulings

Kind = Literal["processo", "jurisprudencia", "dispositivo"]


@dataclass(frozen=True, slots=True)
class LegalReference:
    """A reference; `name` is the same for every spelling, `start` and `end` are the position of its citation.

    The references of a list ("arts. 186 e 927 do Código Civil") share one citation. `issuer` is the body or level of
    government a law says it is of, `fragment` the place inside it (LexML). `valid` is false where the check digits of
    a unified number are wrong: a warning, the number is still a reference.
    """

    kind: Kind
    name: str
    start: int
    end: int
    court: str = ""
    number: str = ""
    law: str = ""
    article: str = ""
    issuer: str = ""
    fragment: str = ""
    valid: bool = True


def legal_references(text: str) -> tuple[LegalReference, ...]:
    """The legal references of a text, in order, every mention."""
    return tuple(sorted(_all(text), key=lambda each: each.start))


def _all(text: str) -> Iterator[LegalReference]:
    cited = list(rulings.found(text))
    inside = [(each.start, each.end) for each in cited]
    for number, start, end in case_numbers.found(text):
        if not any(first <= start and end <= last for first, last in inside):
            yield LegalReference("processo", number, start, end, number=number, valid=_valid(number))
    for ruling in cited:
        valid = _valid(ruling.number.rpartition(" ")[2])
        place = ruling.start, ruling.end
        yield LegalReference("jurisprudencia", ruling.name, *place, ruling.court, ruling.number, valid=valid)
    for each in provisions.found(text):
        name = f"{each.law}, art. {each.article}" if each.article else each.law
        yield LegalReference(
            "dispositivo",
            name,
            each.start,
            each.end,
            law=each.law,
            article=each.article,
            issuer=each.issuer,
            fragment=each.fragment,
        )


def _valid(number: str) -> bool:
    bare = number.partition("/")[0]
    return not case_numbers.is_unified(bare) or case_numbers.valid(bare)
