"""A graph in this process that runs the Cypher texts meant for Neo4j: an engine of another maker, for tests alone."""

from collections.abc import Sequence

import kglite

from streams.stores.graph import queries
from streams.stores.graph.cypher import statements_of
from streams.stores.graph.rows import Found, Properties, RowBatch
from streams.stores.graph.store import Engine, GraphStore

# The labels whose nodes have a title property of ours.
TITLED = frozenset({"Chunk", "Document", "Knowledge", "Objective"})


class CypherGraph(GraphStore):
    engine: "CypherEngine"

    def __init__(self, *, admin: bool = False) -> None:
        super().__init__(CypherEngine(), admin=admin)


class CypherEngine(Engine):
    def __init__(self) -> None:
        # Unknown labels and properties are normal in an empty graph and not worth a log line each.
        kglite.set_query_warning_policy("silent")
        self._graph = kglite.KnowledgeGraph()

    async def read(self, query: str, parameters: Properties) -> Sequence[Found]:
        found = self._graph.cypher(query, params=dict(parameters)).to_list()
        if query in (queries.ALL_NODES, queries.ALL_LINKS):
            return [_without_own(row) for row in found]
        return list(found)

    async def write(self, rows: RowBatch) -> None:
        for text, own in statements_of(rows):
            self._graph.cypher(text, params={"rows": own})

    async def erase(self, statement: str, parameters: Properties) -> None:
        self._graph.cypher(statement, params=dict(parameters))


def _without_own(row: Found) -> Found:
    """The row without the properties that the engine adds to nodes and links: a type, and a title from a name or id."""
    own = {"type"} if row.get("label", "") in TITLED else {"type", "title"}
    return {**row, "props": {name: value for name, value in row["props"].items() if name not in own}}
