"""Whom a record is about: the users of its tenant under whose keys its value is encrypted; the one table of topics."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final, Literal
from urllib.parse import unquote

import orjson

from agents.core.caching.texts import text_cache
from schemas.base import entity_key
from schemas.topics import (
    AUDIT_HEADS,
    DOCUMENTS_IN,
    MEMORY_ERASURES,
    MEMORY_KNOWLEDGE,
    TOOLS_CALLS_IN,
    TOOLS_CALLS_OUT,
    TOOLS_CONFIRMATIONS_IN,
    TOOLS_RESULTS_IN,
)

Headers = Sequence[tuple[str, bytes]]
# users: the one of the header and all that the value names; sender: the one of the header; profile: the one whose
# profile it is, documents have no owner; nobody: ids and hashes only. Without any, `users` and `sender` are the client.
Rule = Literal["users", "sender", "profile", "nobody"]
RULES: Final[Mapping[str, Rule]] = {
    AUDIT_HEADS.name: "nobody",
    MEMORY_ERASURES.name: "nobody",
    DOCUMENTS_IN.name: "profile",
    MEMORY_KNOWLEDGE.name: "profile",
    "dead-letters.ingestion": "profile",
    "dead-letters.knowledge-writer": "profile",
    # A tool may have an argument of this name, of somebody who is no user.
    **dict.fromkeys((each.name for each in (TOOLS_CALLS_IN, TOOLS_CALLS_OUT)), "sender"),
    **dict.fromkeys((each.name for each in (TOOLS_RESULTS_IN, TOOLS_CONFIRMATIONS_IN)), "sender"),
    "dead-letters.tool-gate": "sender",
}
OTHERS: Final[Rule] = "users"
REPLAYED = ".replay."
# Fields of JSON. Within a text the quotes are escaped, so that nobody's words are taken for one.
USERS, QUOTED, CLIENT, FORGOTTEN = (b'"user_id"', b'"usuario_id"'), b'"quoted_users"', b'"client_id"', b'"forgotten"'
VALUE = re.compile(rb'\s*:\s*("(?:[^"\\]|\\.)*"|\[[^\]]*\]|true)')
# Wishes to forget, and audits of erasures: no content, and read after the key is gone.
AUDITS = (b'{"kind":"erasure"', b'{"kind":"subject-erasure"')
MAX_WISH_BYTES = 4_000


def rule_of(topic: str) -> Rule:
    """The rule of a topic; a replay's topic has that of the original."""
    return RULES.get(topic.partition(REPLAYED)[0], OTHERS)


def subjects_of(topic: str, key: bytes | None, value: bytes, headers: Headers) -> tuple[str, ...]:
    """The subjects of a record, sorted, as `entity_key` of tenant and user; none for one that is about nobody."""
    rule = rule_of(topic)
    if rule == "nobody" or value.startswith(AUDITS):
        return ()
    if len(value) < MAX_WISH_BYTES and True in _values(FORGOTTEN, value):
        return ()
    sender, tenant = _header(headers, "user_id", "ce_userid"), _header(headers, "tenant", "ce_tenant")
    users: set[str] = set()
    if rule != "profile" and sender:
        users.add(sender)
    if rule in ("users", "profile"):
        users |= {str(name) for field in USERS for name in _values(field, value) if name}
        users |= {str(name) for names in _values(QUOTED, value) if isinstance(names, list) for name in names}
    client = _client(key, value) if rule != "profile" and not (users and tenant) else None
    if not users and client:
        users.add(client)
    if not users:
        return ()
    whose = tenant or client or "default"
    return tuple(sorted(subject_of(whose, user) for user in users))


subject_of = text_cache(10_000, "record_keys")(entity_key)


def _header(headers: Headers, name: str, other: str) -> str:
    """The last header of a name, else of the other; empty for none, and for one that is no text."""
    found = {each: value for each, value in headers if each in (name, other)}
    try:
        return bytes(found.get(name) or found.get(other) or b"").decode()
    except UnicodeDecodeError:
        return ""


def _client(key: bytes | None, value: bytes) -> str | None:
    """The client of a record, who is the user and the tenant of what names none."""
    if found := _values(CLIENT, value):
        return str(found[0])
    parts = (key or b"").decode(errors="replace").split("|")
    return unquote(parts[1]) if len(parts) == 3 else None


def _values(field: bytes, value: bytes) -> list[object]:
    """The values of a field, wherever in the JSON it is."""
    found: list[object] = []
    seen: set[bytes] = set()
    # By `find`, which is ten times as fast as a pattern: most records are long and have few of these fields.
    at = value.find(field)
    while at >= 0:
        at += len(field)
        if (said := VALUE.match(value, at)) is not None and said[1] not in seen:
            seen.add(said[1])
            with suppress(orjson.JSONDecodeError):
                found.append(orjson.loads(said[1]))
        at = value.find(field, at)
    return found
