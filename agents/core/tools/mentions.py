"""Values of one kind that a user's message names for a tool call, certain and uncertain ones. Pure.

Only values in the user's own words, as written, fill an argument. Quoted values, lookalikes (`alh.0002/26`), denied
values and references to another than the active one (`o outro`, `yesterday's report`) lead to a question: the
session's value would be the wrong one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agents.core.conversation.references import every, without_values
from agents.core.language.quotes import fold_confusables, strip_quoted
from schemas.policy import KindPolicy, ReferencePolicy

LONGEST = 20_000
_NOT = re.compile(
    r"(?:\bnão (?:é|era|quero|quis dizer|seria)|\bnao (?:e|era|quero)|\bem vez d[eoa]|\bao invés d[eoa]|\bsem ser|"
    r"\bexceto|\bmenos|\bnot|n't|\binstead of|\bother than|\brather than|\bexcept)(?: for)?(?: [oa]| the)?"
    r"(?: (?:processo|relatório|relatorio|pedido|process|report|order|one))?\s*$",
    re.IGNORECASE,
)
_DAY = (
    r"(?:ontem|anteontem|(?:segunda|terça|quarta|quinta|sexta)(?:-feira)?(?! (?:inst|via|fase|parte|etapa|vez))|"
    r"sábado|domingo|(?:semana|mês|ano) passad[oa]|yesterday|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|last (?:week|month|year))"
)
_NOTHING_AFTER = r"(?=\s*(?:[,.;:!?)]|$))"
_ANOTHER = (
    rf"\b(?:[oa]|n[oa]|d[oa]|pel[oa]|pr[oa]|ao|à) (?:outr[oa]|anterior|passad[oa]|de {_DAY}){_NOTHING_AFTER}",
    rf"\b(?:the|that) (?:other|previous|earlier)(?: one)?{_NOTHING_AFTER}|\bthe one (?:from|of) {_DAY}\b",
    rf"\b(?:yesterday|{_DAY})'s(?: one)?{_NOTHING_AFTER}",
)
_ANOTHER_OF_KIND = (
    r"\b(?:outr[oa]|other|another|previous|earlier|yesterday's|last (?:week|month)'s) {noun}(?!\w)"
    r"|(?<!\w){noun} (?:anterior|passad[oa]|antig[oa]|(?:de|da|do|from|of) {day})(?!\w)"
)


@dataclass(frozen=True, slots=True)
class Mentions:
    """Values named, values only shown (quoted, or lookalikes), and words that make the reference unclear."""

    named: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()


def mentions(text: str, kind: str, kinds: ReferencePolicy) -> Mentions:
    """The values of one kind in a user's message."""
    whole = every(text, "user", kinds, kind)
    own = strip_quoted(text)
    seen = fold_confusables(own)
    said = every(own, "user", kinds, kind)
    if said != every(seen, "user", kinds, kind):
        return Mentions(shown=tuple(dict.fromkeys((*whole, *every(fold_confusables(text), "user", kinds, kind)))))
    unclear = (*_denied(own, said), *_unclear(seen[:LONGEST], kind, kinds))
    return Mentions(said, () if said else whole, tuple(dict.fromkeys(unclear)))


def _denied(own: str, said: tuple[str, ...]) -> Iterator[str]:
    """The only value of the message, if it is denied."""
    if len(said) == 1 and (place := own.find(said[0])) >= 0 and _NOT.search(own[max(place - 60, 0) : place]):
        yield said[0]


def _unclear(seen: str, kind: str, kinds: ReferencePolicy) -> Iterator[str]:
    rule = kinds.kinds.get(kind)
    if rule is None or not (rule.near or rule.nouns):
        return
    rest = without_values(seen, "user", kinds)
    for pattern in (*rule.near, *_others(rule)):
        yield from (match.group().strip() for match in re.finditer(pattern, rest))


def _others(rule: KindPolicy) -> Iterator[str]:
    """Patterns for "another than the active one", for kinds that users have a noun for."""
    if rule.nouns:
        yield from (f"(?i){pattern}" for pattern in _ANOTHER)
        noun = f"(?:{'|'.join(map(re.escape, rule.nouns))})"
        yield "(?i)" + _ANOTHER_OF_KIND.format(noun=noun, day=_DAY)
