"""The reads of the embedded graph for documents, with the semantics of their Cypher texts."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from streams.stores.graph import document_reads
from streams.stores.graph.embedded.tables import GraphTables, Node
from streams.stores.tenant import natural_id

Asked = Mapping[str, Any]


def _documents(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    found = tables.keyed("Document", asked["tenant"], asked["as_of"])
    return [*islice((node for node in found if node["title"] and _has_passages(tables, node)), asked["limit"])]


def _passages(tables: GraphTables, asked: Asked) -> Sequence[Node]:
    counted = {
        each: sum(map(_is_current, tables.keyed("Chunk", asked["tenant"], document_id=each)))
        for each in asked["documents"]
    }
    return [{"document_id": each, "passages": count} for each, count in counted.items() if count]


def _has_passages(tables: GraphTables, node: Node) -> bool:
    passages = tables.keyed("Chunk", node["tenant_id"], document_id=natural_id(node["id"]))
    return next(passages, None) is not None


def _is_current(node: Node) -> bool:
    return "retired_at" not in node or node["retired_at"] <= node["recorded_at"]


DOCUMENTS: dict[str, Callable[[GraphTables, Asked], Sequence[Node]]] = {
    document_reads.DOCUMENTS: _documents,
    document_reads.PASSAGES: _passages,
}
