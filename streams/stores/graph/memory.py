"""In-memory twin of the graph: dictionaries with the semantics of each Cypher text, statement by statement."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from schemas.base import PUBLIC_TENANT
from streams.stores.graph import queries
from streams.stores.graph.cypher import LISTED, REMOVED
from streams.stores.graph.memory_cognition import READING, is_offered
from streams.stores.graph.memory_decisions import DECIDING
from streams.stores.graph.memory_erasing import ERASING
from streams.stores.graph.rows import ANYBODY, DocumentVersion, Edge, NameLink, NodeInsert, NodeUpsert, RowBatch
from streams.stores.graph.schema import LINK_ENDS, RETIRED, relation
from streams.stores.graph.store import Engine, GraphStore

Node = dict[str, Any]
Asked = Mapping[str, Any]
# Links by a shared name are made automatically.
ENDS = {**LINK_ENDS, "ABOUT": ("Knowledge", "Concept")}
Read = Callable[["MemoryEngine", Asked], Sequence[Node]]


class InMemoryGraph(GraphStore):
    """The whole graph of one process."""

    engine: "MemoryEngine"

    def __init__(self, *, admin: bool = False) -> None:
        super().__init__(MemoryEngine(), admin=admin)


class MemoryEngine(Engine):
    """Nodes by label and id, links by type and ends."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, Node]] = {}
        self.links: dict[tuple[str, str, str], Node] = {}

    async def read(self, query: str, parameters: Asked) -> Sequence[Node]:
        """The rows of one of `queries`."""
        return READS[query](self, parameters)

    async def write(self, rows: RowBatch) -> None:
        """Merge nodes, then links, then names."""
        for fact in rows.facts:
            self._put(fact)
        for latest in rows.latest:
            self._put_latest(latest)
        for link in rows.links:
            self._join(link)
        for named in rows.names:
            self._name(named)
        for version in rows.versions:
            self._retire(version)

    async def erase(self, statement: str, parameters: Asked) -> None:
        """Run one of `cypher.REMOVED`."""
        label = REMOVALS[statement]
        for node_id in parameters["ids"]:
            if self.one(label, node_id, [parameters["tenant"]]) is not None:
                del self.nodes[label][node_id]
                for type_, start, end in list(self.links):
                    if (label, node_id) in ((ENDS[type_][0], start), (ENDS[type_][1], end)):
                        del self.links[type_, start, end]

    def merged(self, label: str, node_id: str, tenant_id: str) -> Node:
        """The node, created as a stub if absent."""
        return self.nodes.setdefault(label, {}).setdefault(node_id, {"id": node_id, "tenant_id": tenant_id})

    def all(self, label: str, tenants: Sequence[str]) -> Iterator[Node]:
        """The nodes of a label that belong to one of the tenants."""
        return (node for node in self.nodes.get(label, {}).values() if node["tenant_id"] in tenants)

    def one(self, label: str, node_id: str, tenants: Sequence[str]) -> Node | None:
        """A node by id, if it belongs to one of the tenants."""
        node = self.nodes.get(label, {}).get(node_id)
        return node if node is not None and node["tenant_id"] in tenants else None

    def joined(self, type_: str) -> Iterator[tuple[Node, Node, Node]]:
        """Start, properties and end of every link of a type."""
        start_label, end_label = LINK_ENDS[type_]
        for (found, start, end), props in self.links.items():
            if found == type_:
                yield self.nodes[start_label][start], props, self.nodes[end_label][end]

    def _put(self, fact: NodeInsert) -> None:
        self.merged(fact.label, fact.id, fact.tenant_id).update(fact.props)

    def _put_latest(self, latest: NodeUpsert) -> None:
        node = self.merged(latest.label, latest.id, latest.tenant_id)
        if latest.created_at is not None:
            node["created_at"] = min(node.get("created_at", latest.created_at), latest.created_at)
        known = node.get(latest.guard)
        if known is None or known <= latest.version:
            node.update({**latest.props, latest.guard: latest.version})

    def _join(self, link: Edge) -> None:
        start_label, end_label = LINK_ENDS[link.type]
        self.merged(start_label, link.start, link.tenant_id)
        self.merged(end_label, link.end, link.end_tenant)
        self.links.setdefault((link.type, link.start, link.end), {}).update(link.props)

    def _name(self, named: NameLink) -> None:
        for knowledge in self.all("Knowledge", [named.tenant_id]):
            for concept in self.all("Concept", [named.tenant_id]):
                if knowledge.get("name_key") == concept.get("name_key") == named.name_key:
                    self.links.setdefault(("ABOUT", knowledge["id"], concept["id"]), {})

    def _retire(self, version: DocumentVersion) -> None:
        newest = self.nodes["Document"][version.id].get("complete_at")
        if newest is None or not (version.whole or newest > version.at):
            return
        for label in RETIRED:
            for node in self.all(label, [version.tenant_id]):
                if node.get("document_id") == version.document_id and node["recorded_at"] < newest:
                    known = node.get("retired_at")
                    if known is None or known < node["recorded_at"] or known > newest:
                        node["retired_at"] = newest


def _all_nodes(engine: MemoryEngine, _: Asked) -> Sequence[Node]:
    found = ((label, node) for label, nodes in engine.nodes.items() for node in nodes.values())
    return [{"label": label, "id": node["id"], "props": dict(node)} for label, node in found]


def _all_links(engine: MemoryEngine, _: Asked) -> Sequence[Node]:
    return [
        {"type": relation(type_), "start": start, "finish": end, "props": dict(props)}
        for (type_, start, end), props in engine.links.items()
    ]


def _listed(engine: MemoryEngine, asked: Asked, *, label: str) -> Sequence[Node]:
    found = sorted(node["id"] for node in engine.all(label, [asked["tenant"]]) if node["id"] > asked["after"])
    wanted = found[: asked["limit"]]
    known = [asked["tenant"], PUBLIC_TENANT]
    links: dict[str, list[tuple[str | None, str | None]]] = {node_id: [] for node_id in wanted}
    for type_, start, end in engine.links:
        start_label, end_label = ENDS[type_]
        if start_label == label and start in links and engine.one(end_label, end, known):
            links[start].append((relation(type_), end))
    return [
        {"id": node_id, "link": link, "other": other}
        for node_id in wanted
        for link, other in links[node_id] or [(None, None)]
    ]


def _newest(found: Iterable[Node], *by: str) -> list[Node]:
    """Nodes by these properties, greatest first; equal ones in the order of ids."""
    return sorted(sorted(found, key=itemgetter("id")), key=itemgetter(*by), reverse=True)


def _persona(engine: MemoryEngine, asked: Asked) -> Sequence[Node]:
    users = [engine.one("UserProfile", each, [asked["tenant"]]) for each in asked["ids"]]
    # A stub made by one of its objectives; its own event has not arrived yet.
    return [row for user in users if user and "recorded_at" in user for row in _with_objectives(engine, user, asked)]


def _with_objectives(engine: MemoryEngine, user: Node, asked: Asked) -> Sequence[Node]:
    found = [
        {"objective": node["id"], "objective_at": node["recorded_at"]}
        | {name: node[name] for name in ("objective_id", "title", "status")}
        for owner, _, node in engine.joined("HAS_OBJECTIVE")
        if owner["id"] == user["id"] and node["tenant_id"] == asked["tenant"] and node["recorded_at"] <= asked["as_of"]
    ]
    current = user["recorded_at"] <= asked["as_of"]
    return [{**user, "current": current, **each} for each in found or [{"objective": None}]]


def _persona_then(engine: MemoryEngine, asked: Asked) -> Sequence[Node]:
    found = (
        event
        for event in engine.all("AuditEvent", [asked["tenant"]])
        if (event["kind"], event["subject_id"]) == ("profile", asked["user_id"])
        and event["created_at"] <= asked["as_of"]
    )
    return [{**event, "user_id": event["subject_id"]} for event in _newest(found, "created_at")[:1]]


def _summaries(engine: MemoryEngine, asked: Asked) -> Sequence[Node]:
    found = (
        node
        for node in engine.all("ConversationSummary", [asked["tenant"]])
        if node["user_id"] == asked["user_id"]
        and node["recency"] <= asked["as_of"]
        and asked.get("conversation_id") in (None, node["conversation_id"])
    )
    return _newest(found, "recency", "to_seq")[: asked["limit"]]


def _events(engine: MemoryEngine, asked: Asked) -> Sequence[Node]:
    found = (
        {**event, **{name: summary.get(name) for name in SAID_IN[:3]}}
        for summary, _, event in engine.joined("HAS_EVENT")
        if summary["tenant_id"] == event["tenant_id"] == asked["tenant"]
        # A stub made by a link; its own event has not arrived yet.
        and summary.get("user_id") == asked["user_id"]
        and "created_at" in event
        and event["created_at"] <= asked["as_of"]
        and ("since" not in asked or asked["since"] <= event["at"] < asked["until"])
    )
    return _newest(found, "created_at")[: asked["limit"]]


def _claims(engine: MemoryEngine, asked: Asked) -> Iterator[Node]:
    # A stub has no time: it was made by another claim, its own event has not arrived yet.
    return (
        node
        for node in engine.all("Claim", [asked["tenant"]])
        if "created_at" in node and node["created_at"] <= asked["as_of"]
    )


def _claims_of_conversation(engine: MemoryEngine, asked: Asked) -> Sequence[Node]:
    place = asked["client_id"], asked["conversation_id"]
    own = (node for node in _claims(engine, asked) if (node["client_id"], node["conversation_id"]) == place)
    return _newest(own, *CLAIM_ORDER)[: asked["limit"]]


def _claims_about(engine: MemoryEngine, asked: Asked) -> Sequence[Node]:
    readers = {asked["reader"], asked["anybody"], asked["shared"]}
    about = (node for node in _claims(engine, asked) if node["subject_key"] in asked["subjects"])
    return _newest((node for node in about if not readers.isdisjoint(_readers(node))), *CLAIM_ORDER)[: asked["limit"]]


def _readers(node: Node) -> Sequence[str]:
    stated: Sequence[str] | None = node.get("readers")
    if stated is not None:
        return stated
    return [node["user_id"], *((ANYBODY,) if node["user_id"] == node["client_id"] else ())]


def _contradictions(engine: MemoryEngine, asked: Asked, *, side: str) -> Sequence[Node]:
    found = [
        {"new": new["id"], "old": old["id"], **props, **_said_in(new, "new_"), **_said_in(old, "old_")}
        for new, props, old in engine.joined("CONTRADICTS")
        if new["tenant_id"] == old["tenant_id"] == asked["tenant"] and props["detected_at"] <= asked["as_of"]
    ]
    return [row for row in found if row[side] in asked["ids"]]


def _touched(engine: MemoryEngine, asked: Asked, *, by: str, but: str = "") -> Sequence[Node]:
    return [
        {"id": claim["id"], "new": other["id"], **_said_in(other, "new_")}
        for other, _, claim in engine.joined(by)
        if claim["id"] in asked["ids"]
        and claim["tenant_id"] == other["tenant_id"] == asked["tenant"]
        and other["created_at"] <= asked["as_of"]
        and (not but or other["tipo"] != but)
    ]


def _said_in(node: Node, prefix: str) -> Node:
    """Where a claim or a correction was said, and by whom: columns of what may be hidden."""
    known = {**node, "user_id": node.get("usuario_id", node.get("user_id"))}
    return {f"{prefix}{name}": known.get(name) for name in SAID_IN}


def _by_id(engine: MemoryEngine, asked: Asked, *, label: str) -> Sequence[Node]:
    found = [engine.one(label, each, [asked["tenant"]]) for each in asked["ids"]]
    # A stub made by another node; its own event has not arrived yet.
    return [node for node in found if node and "created_at" in node and node["created_at"] <= asked["as_of"]]


def _named(
    engine: MemoryEngine, asked: Asked, *, label: str, share: float, memory_class: str | None = None
) -> Sequence[Node]:
    found = []
    for node in engine.all(label, asked["tenants"]):
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


def _definitions(engine: MemoryEngine, asked: Asked) -> Sequence[Node]:
    found = _named(engine, asked, label="Knowledge", share=0.5, memory_class="semantic")
    return [{**row, "name": row["title"], "definition": row["text"]} for row in found]


def _steps(engine: MemoryEngine, asked: Asked) -> Sequence[Node]:
    return [
        {**step, "process_id": process["id"], "step": props["order"]}
        for process, props, step in engine.joined("HAS_STEP")
        if process["id"] in asked["ids"]
        and process["tenant_id"] in asked["tenants"]
        and step["tenant_id"] == process["tenant_id"]
    ]


def _retired(engine: MemoryEngine, asked: Asked, *, label: str) -> Sequence[Node]:
    return [
        {name: node.get(name) for name in RETIRED_PROPERTIES if name in node}
        for node in engine.all(label, [asked["tenant"]])
        if node.get("document_id") == asked["document_id"]
        and "retired_at" in node
        and node["recorded_at"] <= asked["as_of"] <= node["retired_at"]
        and node["retired_at"] > node["recorded_at"]
    ]


RETIRED_PROPERTIES = (
    *("id", "document_id", "access_level", "recency", "lang", "retired_at"),
    *("title", "text", "position", "page", "confidence", "name", "definition"),
)
SAID_IN = ("client_id", "conversation_id", "user_id", "message_id")
CLAIM_ORDER = ("created_at", "partition", "offset", "seq")


REMOVALS = {text: label for label, text in REMOVED.items()}

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
    queries.CLAIMS_ABOUT: _claims_about,
    queries.CLAIMS_BY_ID: partial(_by_id, label="Claim"),
    queries.CONTRADICTED_BY: partial(_contradictions, side="old"),
    queries.CONTRADICTING: partial(_contradictions, side="new"),
    queries.SUPERSEDED: partial(_touched, by="SUPERSEDES"),
    queries.CORRECTED: partial(_touched, by="CORRECTS", but="formatacao"),
    queries.CONSULTATION: partial(_by_id, label="Consulta"),
    queries.DECISION: partial(_by_id, label="CDCDecision"),
    **ERASING,
    **READING,
    **DECIDING,
    queries.PROCESSES: partial(_named, label="Process", share=0.0),
    queries.STEPS: _steps,
    queries.CONCEPTS: partial(_named, label="Concept", share=0.5),
    queries.DEFINITIONS: _definitions,
}
