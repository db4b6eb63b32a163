"""Patterns of statements about oneself, Portuguese and English: one row per kind of fact.

A pattern matches at the start of a clause, in lower case with accents. The value is the group `value`, else the text
after the match. The groups `not` and `dis` deny it.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from agents.core.language.lexicons import framed

Reads = Literal["words", "several", "name", "place", "date", "role", "thing", "language"]

_I = r"(?:i|we)\s+(?:<<adverbs.en>>\s+){0,2}"
_NOT = r"(?P<not>(?:don't|do not|never|no longer)\s+)?"
_IM = r"(?:i'm|i am)\s+(?P<not>not\s+)?(?:<<adverbs_of_being>>\s+){0,2}"
_EU = r"(?:eu\s+)?(?:<<adverbs.pt>>\s+){0,2}(?P<not>(?:não|nao)\s+)?(?:(?:mais|sempre)\s+)?"
_ARTICLE = r"(?:an?\s+|the\s+|um\s+|uma\s+|o\s+|a\s+)?"


@dataclass(frozen=True, slots=True)
class FactKind:
    """A kind of fact about oneself: attribute, pattern, reader of the value, and whether it takes one value."""

    attribute: str
    pattern: re.Pattern[str]
    reads: Reads = "several"
    functional: bool = False


def _fact(attribute: str, pattern: str, reads: Reads = "several", *, functional: bool = False) -> FactKind:
    return FactKind(attribute, framed("facts", pattern), reads, functional)


@cache
def facts() -> tuple[FactKind, ...]:
    """The kinds, in the order of matching."""
    return (*_who_one_is(), *_what_one_does())


def _who_one_is() -> tuple[FactKind, ...]:
    return (
        _fact("alergia", rf"{_EU}<<~allergic.pt>>\s+"),
        _fact("alergia", rf"{_IM}<<~allergic.en>>\s+"),
        _fact("alergia", rf"{_I}{_NOT}have\s+an?\s+(?:\w+\s+)?<<allergies>>\s+to\s+"),
        _fact("alergia", rf"{_I}{_NOT}have\s+an?\s+(?P<value>[\w-]+)\s+<<allergies>>(?!\w)"),
        _fact("dieta", rf"{_EU}sou\s+(?P<value><<diets>>)(?!\w)"),
        _fact("dieta", rf"{_IM}{_ARTICLE}(?P<value><<diets>>)(?!\w)"),
        _fact("dieta", r"(?:eu\s+)?(?P<not>(?:não|nao)\s+)<<~eats.pt>>\s+(?!que\b|se\b|isso\b)"),
        _fact("dieta", r"i\s+(?P<not>(?:don't|do not|can't|cannot|never)\s+)<<~eats.en>>\s+"),
        _fact("estado civil", rf"{_EU}(?:sou|estou)\s+(?P<value><<marital.pt>>)(?!\w)", functional=True),
        _fact("estado civil", rf"{_IM}(?P<value><<marital.en>>)(?!\w)", functional=True),
        _fact("apelido", r"<<~nicknamed>>\s+", "name", functional=True),
        _fact("nome", r"<<~introduces>>\s+", "name", functional=True),
        _fact("cargo", rf"{_EU}<<~works_as.pt>>\s+{_ARTICLE}", "words", functional=True),
        _fact("cargo", rf"{_I}<<~works_as.en>>\s+{_ARTICLE}", "words", functional=True),
        _fact("cargo", rf"{_EU}sou\s+{_ARTICLE}", "role", functional=True),
        _fact("cargo", rf"{_IM}{_ARTICLE}", "role", functional=True),
        _fact("nascimento", r"(?:eu\s+)?<<~born.pt>>\s+(?:no\s+|em\s+(?!\d{4}))?|"
                            r"i\s+<<~born.en>>\s+(?:on\s+|in\s+(?!\d{4}))?", "date", functional=True),
        _fact("nascimento", r"(?:eu\s+)?<<~birthday>>\s+(?:em\s+|no\s+)?", "date"),
        _fact("responsável por", rf"{_EU}sou\s+<<~responsible.pt>>\s+"),
        _fact("responsável por", rf"{_IM}<<~responsible.en>>\s+"),
        _fact("formação", r"(?:eu\s+)?<<~graduated.pt>>\s+|i\s+<<~graduated.en>>\s+"),
        _fact("origem", r"(?:eu\s+)?<<~from.pt>>\s+", "place"),
        _fact("origem", rf"{_IM}<<~being_from>>\s+|i\s+<<~from.en>>\s+", "place"),
    )  # fmt: skip


def _what_one_does() -> tuple[FactKind, ...]:
    return (
        _fact("gosta de", rf"{_EU}(?:<<~likes.pt>>|(?P<dis><<~dislikes.pt>>))\s+"),
        _fact("gosta de", rf"{_I}{_NOT}(?:<<~likes.en>>|(?P<dis><<~dislikes.en>>))\s+"),
        _fact("gosta de", rf"{_IM}<<~fond>>\s+"),
        _fact("tem", rf"{_EU}<<~owns.pt>>\s+", "thing"),
        _fact("tem", r"i(?:'ve|\s+have)?\s+(?:also\s+)?(?P<not>don't\s+)?<<~owns.en>>\s+", "thing"),
        _fact("tem", r"i've\s+|(?:eu\s+)?<<~gets.pt>>\s+|i\s+<<~gets.en>>\s+", "thing"),
        _fact("idioma", rf"{_EU}<<~speaks.pt>>\s+", "language"),
        _fact("idioma", rf"{_I}{_NOT}<<~speaks.en>>\s+", "language"),
        _fact("estuda", rf"{_EU}<<~studies.pt>>\s+(?!a\s+(?!\w+\s*$))"),
        _fact("estuda", rf"{_I}<<~studies.en>>\s+"),
        _fact("estuda", rf"{_IM}<<~studying>>\s+(?!how\b|to\b)"),
        _fact("usa", rf"{_EU}<<~uses.pt>>\s+"),
        _fact("usa", rf"{_I}{_NOT}<<~uses.en>>\s+(?!to\b)"),
        _fact("decisão", r"(?:(?:eu|nós|a\s+gente)\s+)?<<~decides.pt>>\s+(?:que\s+|por\s+|pel[oa]\s+|[oa]\s+)?",
              "words"),
        _fact("decisão", r"(?:i|we)(?:'ve|\s+have)?\s+<<~decides.en>>\s+(?:the\s+)?", "words"),
    )  # fmt: skip


RELATIVE = (
    r"(?:eu\s+)?(?:tenho\s+(?:um|uma)|i(?:'ve\s+got|\s+have)\s+an?)\s+(?:\w+\s+)?(?P<kin><<kin>>)\s+"
    r"(?:chamad[oa]|que\s+se\s+chama|called|named)\s+"
)
RELATIVES = (
    r"(?:eu\s+)?(?:tenho|i(?:'ve\s+got|\s+have))\s+(?:dois|duas|três|quatro|two|three|four|\d)\s+"
    r"(?P<kin><<kin>>|kid|children|child|criança)s?\s*[,:(]?\s*(?:chamad[oa]s|called|named)?\s*"
)
# Not a name: `I'm Brazilian`.
PEOPLES = r".*<<peoples>>"
NAMES = re.compile(r"[A-ZÀ-Ý][\w'-]+(?:,\s+[A-ZÀ-Ý][\w'-]+){0,5},?\s+(?:e|and)\s+[A-ZÀ-Ý][\w'-]+")
DUE = re.compile(
    r"(?:eu\s+)?(?:tenho\s+(?:que|de)|temos\s+(?:que|de)|preciso|precisamos|devo)\s+\w{2,20}[aei]r\s+"
    r"(?P<what>(?:[oa]s?|meus?|minhas?|uma?)\s+[^,;]{2,40}?\s+)?até\s+(?:[oa]\s+)?"
    r"|(?:i|we)(?:'ve\s+got|\s+have|\s+need)\s+to\s+\w{2,20}\s+(?P<that>(?:the|my|our|an?)\s+[^,;]{2,40}?\s+)?"
    r"(?:by|before|until)\s+"
)


def says_of_oneself(low: str, position: int, end: int) -> bool:
    """Whether a clause about the speaker begins there."""
    tells = (each.pattern for each in facts())
    return any(pattern.match(low, position, end) for pattern in (*tells, framed("facts", RELATIVE), DUE))
