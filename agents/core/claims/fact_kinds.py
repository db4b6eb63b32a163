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

_I = r"(?:i|we)\s+(?:(?:now|also|just|currently|really|actually|still|recently|always|usually|absolutely)\s+){0,2}"
_NOT = r"(?P<not>(?:don't|do not|never|no longer)\s+)?"
_IM = (
    r"(?:i'm|i am)\s+(?P<not>not\s+)?(?:(?:now|also|currently|still|severely|very|really|actually|originally)\s+){0,2}"
)
_EU = r"(?:eu\s+)?(?:(?:também|agora|hoje|já|atualmente|ainda)\s+){0,2}(?P<not>(?:não|nao)\s+)?(?:(?:mais|sempre)\s+)?"
_ARTICLE = r"(?:an?\s+|the\s+|um\s+|uma\s+|o\s+|a\s+)?"


@dataclass(frozen=True, slots=True)
class FactKind:
    """A kind of fact about oneself: attribute, pattern, reader of the value, and whether it takes one value."""

    attribute: str
    pattern: re.Pattern[str]
    reads: Reads = "several"
    functional: bool = False


def _fact(attribute: str, pattern: str, reads: Reads = "several", *, functional: bool = False) -> FactKind:
    return FactKind(attribute, framed("claims", pattern), reads, functional)


@cache
def facts() -> tuple[FactKind, ...]:
    """The kinds, in the order of matching."""
    return (*_who_one_is(), *_what_one_does())


def _who_one_is() -> tuple[FactKind, ...]:
    return (
        _fact("alergia", rf"{_EU}(?:sou\s+(?:muito\s+)?(?:alérgic|intolerante)[oa]?\s+(?:a|à|ao|aos|às)|"
                         r"tenho\s+(?:alergia|intolerância)\s+(?:a|à|ao|aos|às|de))\s+"),
        _fact("alergia", rf"{_IM}(?:allergic|intolerant)\s+to\s+"),
        _fact("alergia", rf"{_I}{_NOT}have\s+an?\s+(?:\w+\s+)?(?:allergy|intolerance)\s+to\s+"),
        _fact("alergia", rf"{_I}{_NOT}have\s+an?\s+(?P<value>[\w-]+)\s+(?:allergy|intolerance)(?!\w)"),
        _fact("dieta", rf"{_EU}sou\s+(?P<value><<diets>>)(?!\w)"),
        _fact("dieta", rf"{_IM}{_ARTICLE}(?P<value><<diets>>)(?!\w)"),
        _fact("dieta", r"(?:eu\s+)?(?P<not>(?:não|nao)\s+)(?:como|bebo|posso\s+comer)\s+(?!que\b|se\b|isso\b)"),
        _fact("dieta", r"i\s+(?P<not>(?:don't|do not|can't|cannot|never)\s+)(?:eat|drink)\s+"),
        _fact("estado civil", rf"{_EU}(?:sou|estou)\s+(?P<value>(?:casad|solteir|divorciad|viúv|noiv)[oa])(?!\w)",
              functional=True),
        _fact("estado civil", rf"{_IM}(?P<value>married|single|divorced|engaged|widowed)(?!\w)", functional=True),
        _fact("apelido", r"(?:pode(?:m|s)?\s+)?me\s+cham(?:ar|e|a|am)\s+de\s+|"
                         r"(?:(?:you can|please|just|people|friends)\s+)?call\s+me\s+", "name", functional=True),
        _fact("nome", r"(?:eu\s+)?sou\s+[oa]\s+|eu\s+sou\s+|aqui\s+(?:é|quem\s+fala\s+é)\s+(?:[oa]\s+)?|"
                      r"(?:i'm|i\s+am)\s+", "name", functional=True),
        _fact("cargo", rf"{_EU}(?:trabalho|atuo)\s+como\s+{_ARTICLE}", "words", functional=True),
        _fact("cargo", rf"{_I}works?\s+as\s+{_ARTICLE}", "words", functional=True),
        _fact("cargo", rf"{_EU}sou\s+{_ARTICLE}", "role", functional=True),
        _fact("cargo", rf"{_IM}{_ARTICLE}", "role", functional=True),
        _fact("nascimento", r"(?:eu\s+)?nasci\s+(?:no\s+|em\s+(?!\d{4}))?|i\s+was\s+born\s+(?:on\s+|in\s+(?!\d{4}))?",
              "date", functional=True),
        _fact("nascimento", r"(?:eu\s+)?faço\s+aniversário\s+(?:em\s+|no\s+)?", "date"),
        _fact("responsável por", rf"{_EU}sou\s+(?:[oa]\s+)?responsável\s+(?:por|pel[oa]s?)\s+"),
        _fact("responsável por", rf"{_IM}(?:responsible\s+for|in\s+charge\s+of)\s+"),
        _fact("formação", r"(?:eu\s+)?(?:sou\s+formad[oa]|me\s+formei)\s+em\s+|i\s+(?:graduated|majored)\s+in\s+|"
                          r"i\s+have\s+a\s+degree\s+in\s+"),
        _fact("origem", r"(?:eu\s+)?(?:nasci\s+(?:em|no|na)|(?:sou|vim)\s+d[eoa])\s+", "place"),
        _fact("origem", rf"{_IM}from\s+|i\s+(?:come\s+from|came\s+from|was\s+born\s+in|grew\s+up\s+in)\s+", "place"),
    )  # fmt: skip


def _what_one_does() -> tuple[FactKind, ...]:
    return (
        _fact("gosta de", rf"{_EU}(?:(?:gosto|gostamos)\s+(?:muito\s+|mais\s+|bastante\s+)?d[eoa]s?|adoro|prefiro|amo|"
                          r"sou\s+fã\s+d[eoa]s?|(?P<dis>detesto|odeio|suporto))\s+"),
        _fact("gosta de", rf"{_I}{_NOT}(?:like|love|prefer|enjoy|adore|(?P<dis>hate|dislike|detest|can't\s+stand))\s+"),
        _fact("gosta de", rf"{_IM}(?:a\s+(?:big\s+|huge\s+)?fan\s+of|into|fond\s+of|passionate\s+about)\s+"),
        _fact("tem", rf"{_EU}tenho\s+", "thing"),
        _fact("tem", r"i(?:'ve|\s+have)?\s+(?:also\s+)?(?P<not>don't\s+)?(?:got|have|own|drive)\s+", "thing"),
        _fact("tem", r"i've\s+|(?:eu\s+)?(?:comprei|adotei|ganhei)\s+|"
                     r"i\s+(?:just\s+|recently\s+)?(?:bought|adopted)\s+", "thing"),
        _fact("idioma", rf"{_EU}falo\s+", "language"),
        _fact("idioma", rf"{_I}{_NOT}speak\s+", "language"),
        _fact("estuda", rf"{_EU}(?:estudo|estou\s+(?:estudando|aprendendo|cursando))\s+(?!a\s+(?!\w+\s*$))"),
        _fact("estuda", rf"{_I}study\s+"),
        _fact("estuda", rf"{_IM}(?:studying|learning|majoring\s+in)\s+(?!how\b|to\b)"),
        _fact("usa", rf"{_EU}(?:uso|utilizo|usamos|utilizamos)\s+"),
        _fact("usa", rf"{_I}{_NOT}use\s+(?!to\b)"),
        _fact("decisão", r"(?:(?:eu|nós|a\s+gente)\s+)?(?:decidi(?:mos|u)?|resolvi|resolvemos|combinamos(?:\s+de)?|"
                         r"(?:opt(?:ei|amos))\s+(?:por|pel[oa])|escolhi|escolhemos|vamos\s+(?=usar|adotar|contratar))\s+"
                         r"(?:que\s+|por\s+|pel[oa]\s+|[oa]\s+)?", "words"),
        _fact("decisão", r"(?:i|we)(?:'ve|\s+have)?\s+(?:finally\s+|just\s+)?(?:decided\s+(?:to|on|that|against)|"
                         r"chose|agreed\s+(?:to|on|that)|settled\s+on|went\s+with|opted\s+for|picked)\s+(?:the\s+)?",
              "words"),
    )  # fmt: skip


RELATIVE = (
    r"(?:eu\s+)?(?:tenho\s+(?:um|uma)|i(?:'ve\s+got|\s+have)\s+an?)\s+(?:\w+\s+)?(?P<kin><<kin>>)\s+"
    r"(?:chamad[oa]|que\s+se\s+chama|called|named)\s+"
)
RELATIVES = (
    r"(?:eu\s+)?(?:tenho|i(?:'ve\s+got|\s+have))\s+(?:dois|duas|três|quatro|two|three|four|\d)\s+"
    r"(?P<kin><<kin>>|kid|children|child|criança)s?\s*[,:(]?\s*(?:chamad[oa]s|called|named)?\s*"
)
NAMES = re.compile(r"[A-ZÀ-Ý][\w'-]+(?:,\s+[A-ZÀ-Ý][\w'-]+){0,5},?\s+(?:e|and)\s+[A-ZÀ-Ý][\w'-]+")
DUE = re.compile(
    r"(?:eu\s+)?(?:tenho\s+(?:que|de)|temos\s+(?:que|de)|preciso|precisamos|devo)\s+\w{2,20}[aei]r\s+"
    r"(?P<what>(?:[oa]s?|meus?|minhas?|uma?)\s+[^,;]{2,40}?\s+)?até\s+(?:[oa]\s+)?"
    r"|(?:i|we)(?:'ve\s+got|\s+have|\s+need)\s+to\s+\w{2,20}\s+(?P<that>(?:the|my|our|an?)\s+[^,;]{2,40}?\s+)?"
    r"(?:by|before|until)\s+"
)
# `I'm Brazilian` is not a name.
PEOPLES = re.compile(
    r".*(?:ian|ean|ese|ish|ican|ench|erman|utch|reek|sian|thai|muslim|catholic|buddhist|swiss|afraid|sorry)$"
)


def says_of_oneself(low: str, position: int, end: int) -> bool:
    """Whether a clause about the speaker begins there."""
    tells = (each.pattern for each in facts())
    return any(pattern.match(low, position, end) for pattern in (*tells, framed("claims", RELATIVE), DUE))
