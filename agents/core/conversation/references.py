"""References of the policy's kinds: found in a message, and the latest of a conversation."""

import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from agents.core.language.text import clip
from schemas.depth import Reference
from schemas.policy import KindPolicy, ReferencePolicy

TICKER = "ticker"
VALUE = "value"
MAX_NAMED = 16
MAX_CHARS = 120

Span = tuple[int, int]


def named(text: str, role: str, policy: ReferencePolicy, message_id: str, at: datetime) -> tuple[Reference, ...]:
    """The references in a message, in order; of two that overlap, the one whose kind is first in the policy."""
    each = dict.fromkeys((kind, value) for _, kind, value in _found(clip(text), role, policy))
    return tuple(
        Reference(kind=kind, value=value, message_id=message_id, at=at) for kind, value in list(each)[:MAX_NAMED]
    )


def every(text: str, role: str, policy: ReferencePolicy, kind: str) -> tuple[str, ...]:
    """All values of one kind in a text, each once, without a limit on their number or the text's length."""
    return tuple(dict.fromkeys(value for _, named, value in _found(text, role, policy, kind) if named == kind))


def without_values(text: str, role: str, policy: ReferencePolicy) -> str:
    """The text with all references replaced by blanks."""
    for (start, end), _, _ in _found(text, role, policy):
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


def _found(text: str, role: str, policy: ReferencePolicy, until: str | None = None) -> list[tuple[Span, str, str]]:
    """The references with their spans, in order; kinds after `until` are not looked for."""
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
    """The latest references of each kind, from the last message that has any; the most recent kind at the end."""
    kept: dict[str, list[Reference]] = {}
    for reference in (*known, *said):
        before = kept.pop(reference.kind, [])
        kept[reference.kind] = [*(each for each in before if each.message_id == reference.message_id), reference]
    return tuple(each for together in kept.values() for each in together)


def last(references: Sequence[Reference], kind: str | None = None) -> Reference | None:
    """The most recent reference; for a given kind None where one message has several values, which is ambiguous."""
    of_kind = [each for each in references if kind is None or each.kind == kind]
    if kind is not None and len({each.value for each in of_kind}) > 1:
        return None
    return of_kind[-1] if of_kind else None
