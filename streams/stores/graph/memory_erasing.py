"""The reads of the in-memory graph for erasures, with the semantics of their Cypher texts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from streams.stores.graph import queries

if TYPE_CHECKING:
    from streams.stores.graph.memory import MemoryEngine

Node = dict[str, Any]
Asked = Mapping[str, Any]


def _linked(engine: "MemoryEngine", asked: Asked, *, by: str, from_start: bool = False) -> Iterator[Node]:
    """The nodes at the other ends of links: of those that end at the nodes asked for, or of those that start there."""
    for start, _, end in engine.joined(by):
        own, other = (start, end) if from_start else (end, start)
        if own["id"] in asked["ids"] and own["tenant_id"] == other["tenant_id"] == asked["tenant"]:
            yield other


def _of_conversation(engine: "MemoryEngine", asked: Asked, *, by: str, seq: str, at: str) -> Sequence[Node]:
    return [
        {"id": node["id"], "seq": node.get(seq), "at": node[at]} | _talk(node)
        for node in _linked(engine, asked, by=by)
        if at in node
    ]


def _in_conversation(engine: "MemoryEngine", asked: Asked, *, label: str) -> Sequence[Node]:
    place = asked["client_id"], asked["conversation_id"]
    return [
        {"id": node["id"], "seq": node.get("seq"), "at": node["created_at"]}
        for node in engine.all(label, [asked["tenant"]])
        if (node.get("client_id"), node.get("conversation_id")) == place
    ]


def _beyond(engine: "MemoryEngine", asked: Asked, *, by: str, from_start: bool = False) -> Sequence[Node]:
    return [{"id": node["id"]} | _talk(node) for node in _linked(engine, asked, by=by, from_start=from_start)]


def _talk(node: Node) -> Node:
    return {name: node[name] for name in ("client_id", "conversation_id") if name in node}


def _erasures(engine: "MemoryEngine", asked: Asked) -> Sequence[Node]:
    return [node for each in asked["ids"] if (node := engine.one("Erasure", each, [asked["tenant"]])) is not None]


def _profile(engine: "MemoryEngine", asked: Asked) -> Sequence[Node]:
    found = (engine.one("UserProfile", each, [asked["tenant"]]) for each in asked["ids"])
    return [{"id": node["id"]} for node in found if node is not None]


def _profiles_of(engine: "MemoryEngine", asked: Asked) -> Sequence[Node]:
    return [
        {"id": node["id"]}
        for node in engine.all("AuditEvent", [asked["tenant"]])
        if (node["kind"], node["subject_id"]) == ("profile", asked["user_id"])
    ]


ERASING: "dict[str, Callable[[MemoryEngine, Asked], Sequence[Node]]]" = {
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
