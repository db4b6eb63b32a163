"""The reads of the embedded graph for erasures, with the semantics of their Cypher texts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from streams.stores.graph import queries
from streams.stores.graph.embedded.tables import GraphTables, Node

Asked = Mapping[str, Any]


def _linked(tables: GraphTables, asked: Asked, *, by: str, from_start: bool = False) -> Iterator[Node]:
    """The nodes at the other ends of links: of those that end at the nodes asked for, or of those that start there."""
    side = "starts" if from_start else "ends"
    for start, _, end in tables.joined(by, **{side: asked["ids"]}):
        if start["tenant_id"] == end["tenant_id"] == asked["tenant"]:
            yield end if from_start else start


def _of_conversation(tables: GraphTables, asked: Asked, *, by: str, seq: str, at: str) -> Sequence[Node]:
    return [
        {"id": node["id"], "seq": node.get(seq), "at": node[at]} | _talk(node)
        for node in _linked(tables, asked, by=by)
        if at in node
    ]


def _in_conversation(tables: GraphTables, asked: Asked, *, label: str) -> Sequence[Node]:
    place = {name: asked[name] for name in ("client_id", "conversation_id")}
    found = tables.keyed(label, asked["tenant"], **place)
    return [{"id": node["id"], "seq": node.get("seq"), "at": node["created_at"]} for node in found]


def _beyond(tables: GraphTables, asked: Asked, *, by: str, from_start: bool = False) -> Sequence[Node]:
    return [{"id": node["id"]} | _talk(node) for node in _linked(tables, asked, by=by, from_start=from_start)]


def _talk(node: Node) -> Node:
    return {name: node[name] for name in ("client_id", "conversation_id") if name in node}


def _erasures(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    return [node for each in asked["ids"] if (node := tables.one("Erasure", each, [asked["tenant"]])) is not None]


def _profile(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    found = (tables.one("UserProfile", each, [asked["tenant"]]) for each in asked["ids"])
    return [{"id": node["id"]} for node in found if node is not None]


def _profiles_of(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    return [
        {"id": node["id"]}
        for node in tables.keyed("AuditEvent", asked["tenant"], subject_id=asked["user_id"])
        if node["kind"] == "profile"
    ]


ERASING: dict[str, Callable[[GraphTables, Asked], Sequence[Node]]] = {
    queries.ERASURES: _erasures,
    queries.MESSAGES_OF: partial(_of_conversation, by="IN_CONVERSATION", seq="seq", at="created_at"),
    queries.SUMMARIES_OF: partial(_of_conversation, by="SUMMARIZES", seq="to_seq", at="recency"),
    queries.CLAIMS_OF: partial(_in_conversation, label="Claim"),
    queries.CONSULTATIONS_OF: partial(_in_conversation, label="Consulta"),
    queries.AUDITS_OF: partial(_in_conversation, label="AuditEvent"),
    queries.DECISIONS_FOR: partial(_beyond, by="FOR_MESSAGE"),
    queries.EVENTS_IN: partial(_beyond, by="HAS_EVENT", from_start=True),
    queries.CORRECTIONS_OF_CLAIMS: partial(_beyond, by="CORRECTS"),
    queries.CORRECTIONS_OF_CONSULTATIONS: partial(_beyond, by="CORRIGIDA_POR", from_start=True),
    queries.PROFILE: _profile,
    queries.PROFILES_OF: _profiles_of,
    queries.OBJECTIVES_OF: partial(_beyond, by="HAS_OBJECTIVE", from_start=True),
    queries.SUB_QUESTIONS_OF: partial(_beyond, by="DECOMPOSTA_EM", from_start=True),
}
