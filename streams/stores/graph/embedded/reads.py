"""The reads of the embedded graph, with the semantics of their Cypher texts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from schemas.base import PUBLIC_TENANT
from streams.stores.graph import queries
from streams.stores.graph.cypher import LISTED
from streams.stores.graph.embedded.cognition import READING, is_offered
from streams.stores.graph.embedded.decisions import DECIDING
from streams.stores.graph.embedded.documents import DOCUMENTS
from streams.stores.graph.embedded.erasing import ERASING
from streams.stores.graph.embedded.tables import GraphTables, Node
from streams.stores.graph.rows import ANYBODY
from streams.stores.graph.schema import relation
from streams.stores.tenant import node_id

Asked = Mapping[str, Any]
Read = Callable[[GraphTables, Asked], Sequence[Node]]


def _all_nodes(tables: GraphTables, _: Asked) -> Sequence[Node]:
    return [{"label": label, "id": node["id"], "props": node} for label, node in tables.all_nodes()]


def _all_links(tables: GraphTables, _: Asked) -> Sequence[Node]:
    return [
        {"type": relation(kind), "start": start, "finish": end, "props": props}
        for kind, start, end, props in tables.all_links()
    ]


def _listed(tables: GraphTables, asked: Asked, *, label: str) -> Sequence[Node]:
    own = node_id(asked["tenant"], "")
    known = (asked["tenant"], PUBLIC_TENANT)
    # Ids begin with their tenant and a bar; a brace follows the bar.
    page = tables.page(label, asked["tenant"], max(own, asked["after"]), f"{own[:-1]}}}", asked["limit"])
    nothing: list[tuple[str | None, str | None]] = [(None, None)]
    return [
        {"id": each, "link": link, "other": other}
        for each, links in page
        for link, other in [(relation(kind), other) for kind, other, whose in links if whose in known] or nothing
    ]


def _newest(found: Iterable[Node], limit: int, *by: str) -> list[Node]:
    """The first nodes by these properties, greatest first, equal ones in the order of ids; they come by the first."""
    best: list[Node] = []
    for node in found:
        if len(best) >= limit and node[by[0]] < best[-1][by[0]]:
            break
        best.append(node)
    return sorted(sorted(best, key=itemgetter("id")), key=itemgetter(*by), reverse=True)[:limit]


def _persona(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    users = [tables.one("UserProfile", each, [asked["tenant"]]) for each in asked["ids"]]
    # A stub made by one of its objectives; its own event has not arrived yet.
    return [row for user in users if user and "recorded_at" in user for row in _with_objectives(tables, user, asked)]


def _with_objectives(tables: GraphTables, user: Node, asked: Asked) -> Sequence[Node]:
    found = [
        {"objective": node["id"], "objective_at": node["recorded_at"]}
        | {name: node[name] for name in ("objective_id", "title", "status")}
        for _, _, node in tables.joined("HAS_OBJECTIVE", starts=[user["id"]])
        if node["tenant_id"] == asked["tenant"] and node["recorded_at"] <= asked["as_of"]
    ]
    current = user["recorded_at"] <= asked["as_of"]
    return [{**user, "current": current, **each} for each in found or [{"objective": None}]]


def _persona_then(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    events = tables.keyed("AuditEvent", asked["tenant"], asked["as_of"], subject_id=asked["user_id"])
    found = _newest((event for event in events if event["kind"] == "profile"), 1, "created_at")
    return [{**event, "user_id": event["subject_id"]} for event in found]


def _summaries(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    by = {name: asked[name] for name in ("user_id", "conversation_id") if name in asked}
    found = tables.keyed("ConversationSummary", asked["tenant"], asked["as_of"], **by)
    # A stub made by a link; its own event has not arrived yet.
    return _newest((node for node in found if "recency" in node), asked["limit"], "recency", "to_seq")


def _events(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    own = tables.keyed("ConversationSummary", asked["tenant"], user_id=asked["user_id"])
    found = (
        {**event, **{name: summary.get(name) for name in SAID_IN[:3]}}
        for summary, _, event in tables.joined("HAS_EVENT", starts=[each["id"] for each in own])
        # A stub made by a link; its own event has not arrived yet.
        if event["tenant_id"] == asked["tenant"]
        and "created_at" in event
        and event["created_at"] <= asked["as_of"]
        and ("since" not in asked or asked["since"] <= event["at"] < asked["until"])
    )
    return _newest(sorted(found, key=itemgetter("created_at"), reverse=True), asked["limit"], "created_at")


def _claims_of_conversation(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    by = {name: asked[name] for name in ("client_id", "conversation_id")}
    found = tables.keyed("Claim", asked["tenant"], asked["as_of"], **by)
    return _newest(filter(_is_said, found), asked["limit"], *CLAIM_ORDER)


def _claims_of_user(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    own = tables.keyed("Claim", asked["tenant"], asked["as_of"], user_id=asked["user_id"])
    found = (node for node in own if node["created_at"] < asked["as_of"] or node["id"] > asked["after"])
    return _newest(filter(_is_said, found), asked["limit"], "created_at")


def _claims_about(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    readers = {asked["reader"], asked["anybody"], asked["shared"]}
    found = (
        tables.keyed("Claim", asked["tenant"], asked["as_of"], subject_key=subject) for subject in asked["subjects"]
    )
    about = (node for each in found for node in filter(_is_said, each) if not readers.isdisjoint(_readers(node)))
    return _newest(sorted(about, key=itemgetter("created_at"), reverse=True), asked["limit"], *CLAIM_ORDER)


def _is_said(claim: Node) -> bool:
    """Whether its own event has arrived: what is made by a later one has no time."""
    return "created_at" in claim


def _readers(node: Node) -> Sequence[str]:
    stated: Sequence[str] | None = node.get("readers")
    if stated is not None:
        return stated
    return [node["user_id"], *((ANYBODY,) if node["user_id"] == node["client_id"] else ())]


def _contradictions(tables: GraphTables, asked: Asked, *, side: str) -> Sequence[Node]:
    return [
        {"new": new["id"], "old": old["id"], **props, **_said_in(new, "new_"), **_said_in(old, "old_")}
        for new, props, old in tables.joined("CONTRADICTS", **{side: asked["ids"]})
        if new["tenant_id"] == old["tenant_id"] == asked["tenant"] and props["detected_at"] <= asked["as_of"]
    ]


def _corrected(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    return [
        {"id": claim["id"], **{name: other.get(name) for name in ("ruling", "new_claim_id")}, **_said_in(other, "")}
        for claim, other in _touched(tables, asked, by="CORRECTS")
        if other.get("tipo") != "formatacao" and other.get("ruling") in (None, "retract")
    ]


def _superseded(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    return [
        {"id": claim["id"], "new": other["id"], **_said_in(other, "new_")}
        for claim, other in _touched(tables, asked, by="SUPERSEDES")
    ]


def _touched(tables: GraphTables, asked: Asked, *, by: str) -> Sequence[tuple[Node, Node]]:
    """Claims, each with what replaces or corrects it."""
    return [
        (claim, other)
        for other, _, claim in tables.joined(by, ends=asked["ids"])
        if claim["tenant_id"] == other["tenant_id"] == asked["tenant"] and other["created_at"] <= asked["as_of"]
    ]


def _said_in(node: Node, prefix: str) -> Node:
    """Where a claim or a correction was said, and by whom: columns of what may be hidden."""
    known = {**node, "user_id": node.get("usuario_id", node.get("user_id"))}
    return {f"{prefix}{name}": known.get(name) for name in SAID_IN}


def _by_id(tables: GraphTables, asked: Asked, *, label: str) -> Sequence[Node]:
    found = [tables.one(label, each, [asked["tenant"]]) for each in asked["ids"]]
    # A stub made by another node; its own event has not arrived yet.
    return [node for node in found if node and "created_at" in node and node["created_at"] <= asked["as_of"]]


def _named(
    tables: GraphTables, asked: Asked, *, label: str, share: float, memory_class: str | None = None
) -> Sequence[Node]:
    found = []
    for node in tables.started(f"HAS_TERM:{label}", ends=asked["term_ids"], tenants=asked["tenants"]):
        # A stub has no time: it was made by another concept, its own document has not arrived yet.
        if "created_at" not in node or node["created_at"] > asked["as_of"] or node["access"] > asked["access"]:
            continue
        if not is_offered(node, asked["as_of"]) or node.get("memory_class") != memory_class:
            continue
        met, wanted = sum(term in asked["terms"] for term in node["term_keys"]), len(node["term_keys"])
        if met > 0 and met >= share * wanted:
            found.append({**node, "met": met, "wanted": wanted})
    found.sort(key=itemgetter("id"))
    return sorted(found, key=lambda row: (row["met"] / row["wanted"], row["met"]), reverse=True)[: asked["limit"]]


def _definitions(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    found = _named(tables, asked, label="Knowledge", share=0.5, memory_class="semantic")
    return [{**row, "name": row["title"], "definition": row["text"]} for row in found]


def _steps(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    return [
        {**step, "process_id": process["id"], "step": props["order"]}
        for process, props, step in tables.joined("HAS_STEP", starts=asked["ids"])
        if process["tenant_id"] in asked["tenants"] and step["tenant_id"] == process["tenant_id"]
    ]


def _retired(tables: GraphTables, asked: Asked, *, label: str) -> Sequence[Node]:
    return [
        {name: node.get(name) for name in RETIRED_PROPERTIES if name in node}
        for node in tables.keyed(label, asked["tenant"], document_id=asked["document_id"])
        if "retired_at" in node
        and node["recorded_at"] <= asked["as_of"] <= node["retired_at"]
        and node["retired_at"] > node["recorded_at"]
    ]


RETIRED_PROPERTIES = (
    *("id", "document_id", "access_level", "recency", "lang", "retired_at"),
    *("title", "text", "position", "page", "confidence", "name", "definition"),
)
SAID_IN = ("client_id", "conversation_id", "user_id", "message_id")
CLAIM_ORDER = ("created_at", "partition", "offset", "seq")


READS: dict[str, Read] = {
    queries.ALL_NODES: _all_nodes,
    queries.ALL_LINKS: _all_links,
    **{text: partial(_listed, label=label) for label, text in LISTED.items()},
    queries.RETIRED_CHUNKS: partial(_retired, label="Chunk"),
    queries.RETIRED_DEFINITIONS: partial(_retired, label="Knowledge"),
    queries.RETIRED_CONCEPTS: partial(_retired, label="Concept"),
    queries.PERSONA: _persona,
    queries.PERSONA_THEN: _persona_then,
    queries.SUMMARIES_OF_CONVERSATION: _summaries,
    queries.SUMMARIES_OF_USER: _summaries,
    queries.EVENTS_OF_USER: _events,
    queries.EVENTS_BETWEEN: _events,
    queries.CLAIMS_OF_CONVERSATION: _claims_of_conversation,
    queries.CLAIMS_OF_USER: _claims_of_user,
    queries.CLAIMS_ABOUT: _claims_about,
    queries.CLAIMS_BY_ID: partial(_by_id, label="Claim"),
    queries.CONTRADICTED_BY: partial(_contradictions, side="ends"),
    queries.CONTRADICTING: partial(_contradictions, side="starts"),
    queries.SUPERSEDED: _superseded,
    queries.CORRECTED: _corrected,
    queries.CONSULTATION: partial(_by_id, label="Consulta"),
    queries.DECISION: partial(_by_id, label="CDCDecision"),
    **ERASING,
    **READING,
    **DECIDING,
    **DOCUMENTS,
    queries.PROCESSES: partial(_named, label="Process", share=0.0),
    queries.STEPS: _steps,
    queries.CONCEPTS: partial(_named, label="Concept", share=0.5),
    queries.DEFINITIONS: _definitions,
}
