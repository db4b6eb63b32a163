"""Sessions, threads and facts of Zep, as its interface gives them.

A session is `{"session_id", "user_id", "messages": […], "facts": […]}`, in later versions a thread; a message has
`uuid`, `role_type` (or `role`), `content` and `created_at`; a fact is a text, or an edge of the graph with the times
between which it holds.
"""

from collections.abc import Mapping
from datetime import datetime

from streams.imports.turns import (
    ENDED,
    NOT_SAID,
    ROLES,
    UNKNOWN,
    ExportPlace,
    Found,
    JsonValue,
    LeftOut,
    first_time,
    id_of,
    memory,
    objects,
    said,
    user_of,
)

FORMAT = "zep"
SESSIONS, FACTS = ("sessions", "threads"), ("facts", "edges", "relevant_facts")


def fits(value: JsonValue) -> bool:
    """Whether it is a session with messages or facts, an object with several, or a fact by itself."""
    if not isinstance(value, dict):
        return False
    if any(objects(value.get(name)) for name in SESSIONS) or _is_fact(value):
        return True
    if any(map(_is_fact, (each for name in FACTS for each in objects(value.get(name))))):
        return True
    named = "session_id" in value or "thread_id" in value
    return any(
        "content" in each and {"role", "role_type"} & each.keys() for each in objects(value.get("messages"))
    ) or (named and any(isinstance(value.get(name), list) for name in FACTS))


def turns(value: JsonValue, place: ExportPlace) -> Found:
    """The turns of the messages, and each fact that holds as a turn of its user."""
    if not isinstance(value, dict) or not fits(value):
        yield LeftOut(UNKNOWN)
        return
    if _is_fact(value):
        yield from _fact(value, value, None)
        return
    for name in SESSIONS:
        for number, each in enumerate(objects(value.get(name))):
            yield from turns(each, ExportPlace(place.name, number))
    named = value.get("session_id") or value.get("thread_id")
    where = id_of(named, place.name if place.number == 0 else f"{place.name}-{place.number}")
    last = first_time(value.get("created_at"))
    for number, message in enumerate(objects(value.get("messages"))):
        last = first_time(message.get("created_at")) or last
        yield from said(
            FORMAT,
            _role(message),
            message.get("content"),
            conversation_id=where,
            message_id=message.get("uuid"),
            position=number,
            at=last,
            user_id=user_of(value),
        )
    for name in FACTS:
        for fact in value.get(name) or ():
            yield from _fact(fact, value, first_time(value.get("updated_at"), value.get("created_at")))


def _role(message: Mapping[str, JsonValue]) -> JsonValue:
    """The type of the role; where none is known, the role itself, which may be a name."""
    kind = str(message.get("role_type") or "").lower()
    return kind if kind in ROLES or kind in NOT_SAID else message.get("role")


def _is_fact(value: Mapping[str, JsonValue]) -> bool:
    return isinstance(value.get("fact"), str)


def _fact(fact: JsonValue, of: Mapping[str, JsonValue], otherwise: datetime | None) -> Found:
    if not isinstance(fact, dict):
        yield from memory(FORMAT, fact, "", otherwise, user_of(of))
    elif fact.get("invalid_at") or fact.get("expired_at"):
        yield LeftOut(ENDED)
    else:
        at = first_time(fact.get("valid_at"), fact.get("created_at")) or otherwise
        yield from memory(FORMAT, fact.get("fact"), fact.get("uuid"), at, user_of(fact) or user_of(of))
