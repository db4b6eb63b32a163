"""What reconciling found, mended: the missing written again from the log, orphans taken out where that is wanted."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from agents.ports.graph import GraphInventory
from agents.ports.passages import Passage, PassageIndex, PassageInventory
from streams.replay.reconcile import Contents, PassageRef
from streams.stores.graph.rows import RowBatch
from streams.stores.graph.schema import relation
from streams.stores.graph.store import Engine, GraphStore

BATCH_SIZE = 500
# The nodes that a shared name links.
NAMED = ("Knowledge", "Concept")
ABOUT = "ABOUT"


class MissingOnly:
    """An engine of the graph that writes, of what it is given, the rows of what is missing."""

    def __init__(self, engine: Engine, missing: Contents) -> None:
        self._engine = engine
        self._nodes = {(node.label, node.id) for node in missing.nodes}
        self._links = {(link.type, link.start, link.end) for link in missing.links}
        self._names = any(label in NAMED for label, _ in self._nodes) or any(each[0] == ABOUT for each in self._links)

    async def read(self, query: str, parameters: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """As the graph itself."""
        return await self._engine.read(query, parameters)

    async def erase(self, statement: str, parameters: Mapping[str, Any]) -> None:
        """As the graph itself."""
        await self._engine.erase(statement, parameters)

    async def write(self, rows: RowBatch) -> None:
        """Merge the rows of missing nodes and links, all rows that ever made one of them: it ends as it was."""
        wanted = RowBatch(
            facts=tuple(row for row in rows.facts if (row.label, row.id) in self._nodes),
            latest=tuple(row for row in rows.latest if (row.label, row.id) in self._nodes),
            links=tuple(row for row in rows.links if (relation(row.type), row.start, row.end) in self._links),
            names=rows.names if self._names else (),
            # What a later version of its document retired is retired again.
            versions=rows.versions if self._nodes else (),
        )
        if any((wanted.facts, wanted.latest, wanted.links, wanted.names, wanted.versions)):
            await self._engine.write(wanted)


def mending(engine: Engine, missing: Contents, *, admin: bool = False) -> GraphStore:
    """A writer of the graph that mends what is missing of it."""
    return GraphStore(MissingOnly(engine, missing), admin=admin)


async def put_back(index: PassageIndex, kept: Mapping[PassageRef, Passage]) -> int:
    """Store the passages that are missing; how many."""
    todo: dict[tuple[str, str], list[Passage]] = defaultdict(list)
    for ref, passage in kept.items():
        todo[ref.tenant, ref.collection].append(passage)
    for (tenant, collection), passages in todo.items():
        for start in range(0, len(passages), BATCH_SIZE):
            await index.upsert(tenant, collection, passages[start : start + BATCH_SIZE])
    return len(kept)


async def take_out(orphans: Contents, graph: GraphInventory | None, index: PassageInventory | None) -> int:
    """Remove what the log does not know; how many nodes and passages. A node takes its links along."""
    places: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for passage in orphans.passages:
        places["passage", passage.tenant, passage.collection].append(passage.id)
    for node in orphans.nodes:
        places["node", node.tenant, node.label].append(node.id)
    for (kind, tenant, name), ids in places.items():
        store = index if kind == "passage" else graph
        for start in range(0, len(ids) if store is not None else 0, BATCH_SIZE):
            assert store is not None
            await store.remove(tenant, name, sorted(ids)[start : start + BATCH_SIZE])
    return len(orphans.passages) + len(orphans.nodes)
