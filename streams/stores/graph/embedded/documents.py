"""The reads of the embedded graph for documents, with the semantics of their Cypher texts."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from streams.stores.graph import document_reads
from streams.stores.graph.embedded.cognition import is_offered
from streams.stores.graph.embedded.tables import GraphTables, Node
from streams.stores.tenant import natural_id

Asked = Mapping[str, Any]


def _documents(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    found = tables.keyed("Document", asked["tenant"], asked["as_of"])
    has = (node for node in found if node["title"] and _has_passages(tables, node))
    return [*islice(has, asked["limit"])]


def _passages(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    counted = {
        each: sum(
            is_offered(node, asked["as_of"])
            for node in tables.keyed("Chunk", asked["tenant"], asked["as_of"], document_id=each)
        )
        for each in asked["documents"]
    }
    return [{"document_id": each, "passages": count} for each, count in counted.items() if count]


def _has_passages(tables: GraphTables, node: Node) -> bool:
    return tables.has("Chunk", node["tenant_id"], document_id=natural_id(node["id"]))


DOCUMENTS: dict[str, Callable[[GraphTables, Asked], Sequence[Node]]] = {
    document_reads.DOCUMENTS: _documents,
    document_reads.PASSAGES: _passages,
}
