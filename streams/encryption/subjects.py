"""Whom a record is about: the users of its tenant under whose keys its value is encrypted; the one table of topics."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal
from urllib.parse import unquote

import orjson

from schemas.base import entity_key
from schemas.envelope import header_map
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
# Within a text of JSON the quotes are escaped, so that nobody's words are taken for a field.
USERS = re.compile(rb'"(?:user_id|usuario_id)"\s*:\s*("(?:[^"\\]|\\.)*")')
QUOTED = re.compile(rb'"quoted_users"\s*:\s*(\[[^\]]*\])')
CLIENT = re.compile(rb'"client_id"\s*:\s*("(?:[^"\\]|\\.)*")')
# Wishes to forget, and audits of erasures: no content, and read after the key is gone.
ERASING = re.compile(rb'\A\{"kind":"(?:subject-)?erasure"|"forgotten"\s*:\s*true')
MAX_ERASING = 4_000


def rule_of(topic: str) -> Rule:
    """The rule of a topic; a replay's topic has that of the original."""
    return RULES.get(topic.partition(REPLAYED)[0], OTHERS)


def subjects_of(topic: str, key: bytes | None, value: bytes, headers: Headers) -> tuple[str, ...]:
    """The subjects of a record, sorted, as `entity_key` of tenant and user; none for one that is about nobody."""
    rule = rule_of(topic)
    if rule == "nobody" or (len(value) < MAX_ERASING and ERASING.search(value)):
        return ()
    found = header_map(headers)
    users: set[str] = set()
    if rule != "profile" and (sender := found.get("user_id") or found.get("ce_userid")):
        users.add(sender)
    if rule in ("users", "profile"):
        users |= {name for raw in set(USERS.findall(value)) if (name := _text(raw))}
        users |= {str(name) for raw in QUOTED.findall(value) for name in orjson.loads(raw)}
    client = _client(key, value) if rule != "profile" else None
    if not users and client:
        users.add(client)
    if not users:
        return ()
    tenant = found.get("tenant") or found.get("ce_tenant") or client or "default"
    return tuple(sorted(entity_key(tenant, user) for user in users))


def _client(key: bytes | None, value: bytes) -> str | None:
    """The client of a record, who is the user and the tenant of what names none."""
    if (found := CLIENT.search(value)) is not None:
        return _text(found[1])
    parts = (key or b"").decode(errors="replace").split("|")
    return unquote(parts[1]) if len(parts) == 3 else None


def _text(raw: bytes) -> str | None:
    try:
        return str(orjson.loads(raw))
    except orjson.JSONDecodeError:
        return None
