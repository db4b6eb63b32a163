"""What a message names of the kinds that the policy knows, and what was named last in a conversation. Pure."""

import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from agents.core.language.text import clip
from schemas.policy import KindPolicy, ReferencePolicy
from schemas.references import Reference

TICKER = "ticker"
VALUE = "value"
MAX_NAMED = 16
MAX_CHARS = 120

Span = tuple[int, int]


def named(text: str, role: str, policy: ReferencePolicy, message_id: str, at: datetime) -> tuple[Reference, ...]:
    """What a message names, in its order; of two that overlap the one whose kind comes first in the policy."""
    each = dict.fromkeys((kind, value) for _, kind, value in _found(clip(text), role, policy))
    return tuple(
        Reference(kind=kind, value=value, message_id=message_id, at=at) for kind, value in list(each)[:MAX_NAMED]
    )


def every(text: str, role: str, policy: ReferencePolicy, kind: str) -> tuple[str, ...]:
    """All values of one kind that a text of any length names, each once: none is too many, none too far in."""
    return tuple(dict.fromkeys(value for _, named, value in _found(text, role, policy, kind) if named == kind))


def without_values(text: str, role: str, policy: ReferencePolicy) -> str:
    """The text with what it names of any kind blanked out."""
    for (start, end), _, _ in _found(text, role, policy):
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


def _found(text: str, role: str, policy: ReferencePolicy, until: str | None = None) -> list[tuple[Span, str, str]]:
    """What is found where, in its order; kinds after `until` take no words from it and are left out."""
    found = list[tuple[Span, str, str]]()
    for kind, rule in policy.kinds.items():
        if role in rule.roles:
            for span, value in _matches(text, rule):
                place = bisect(found, (span, kind, value))
                before, after = found[max(place - 1, 0) : place], found[place : place + 1]
                if not any(span[0] < end and start < span[1] for (start, end), _, _ in (*before, *after)):
                    found.insert(place, (span, kind, value))
        if kind == until:
            break
    return found


def _matches(text: str, rule: KindPolicy) -> Iterator[tuple[Span, str]]:
    for pattern in rule.patterns:
        for match in re.finditer(pattern, text):
            value = (match.groupdict().get(VALUE) or match[0]).strip()
            if value and len(value) <= MAX_CHARS:
                yield match.span(), _written(value, rule)


def _written(value: str, rule: KindPolicy) -> str:
    match rule.written:
        case "upper":
            return value.upper()
        case "lower":
            return value.lower()
        case _:
            return value


def newest(known: Iterable[Reference], said: Iterable[Reference]) -> tuple[Reference, ...]:
    """Of each kind what the last message that named one named, the kind named last at the end."""
    kept: dict[str, list[Reference]] = {}
    for reference in (*known, *said):
        before = kept.pop(reference.kind, [])
        kept[reference.kind] = [*(each for each in before if each.message_id == reference.message_id), reference]
    return tuple(each for together in kept.values() for each in together)


def last(references: Sequence[Reference], kind: str | None = None) -> Reference | None:
    """What was named last; of a kind None where several were named together: either may be meant."""
    of_kind = [each for each in references if kind is None or each.kind == kind]
    if kind is not None and len({each.value for each in of_kind}) > 1:
        return None
    return of_kind[-1] if of_kind else None
