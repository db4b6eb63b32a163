"""A batch of rows as the Cypher texts that write it, alike on every engine."""

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from streams.stores.graph.cypher import ABOUT, FACTS, LATEST, LINKS, RETIRE
from streams.stores.graph.rows import Edge, NodeInsert, NodeUpsert, RowBatch


def statements_of(rows: RowBatch) -> Iterable[tuple[str, Sequence[Mapping[str, Any]]]]:
    """The Cypher texts that merge a batch, each with its rows: nodes, then links, then names."""
    for texts, nodes in ((FACTS, rows.facts), (LATEST, rows.latest)):
        for label, group in _by_kind(nodes).items():
            yield texts[label], group
    for type_, group in _by_kind(rows.links).items():
        # A link locks both its ends. Its start is mostly of this batch and locked by now; the others' ends that it
        # meets, in the order of ids, as another writer will.
        yield LINKS[type_], sorted(group, key=itemgetter("to_id", "from_id"))
    if rows.names:
        yield ABOUT, [named.row() for named in rows.names]
    if rows.versions:
        versions = [version.row() for version in rows.versions]
        yield from ((text, versions) for text in RETIRE.values())


def _by_kind(rows: Iterable[NodeInsert | NodeUpsert | Edge]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(row.type if isinstance(row, Edge) else row.label, []).append(row.row())
    return found
