"""The graphs a history is delivered to, by name, and how each is read as a whole."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from streams.stores.graph.embedded.engine import EmbeddedGraph
from streams.stores.graph.neo4j_engine import Neo4jServer, open_graph
from streams.stores.graph.store import GraphStore
from streams.stores.neo4j_values import native
from tests.proofs.repeats.deliveries import Contents, contents, in_order
from tests.servers.cypher_graph import CypherGraph

Place = Path | Neo4jServer | None


def opened(place: Place) -> GraphStore:
    """The graph of a directory, of a server, or of this process."""
    match place:
        case Path():
            return EmbeddedGraph(place, admin=True)
        case Neo4jServer():
            return open_graph(place, admin=True)
        case None:
            return CypherGraph(admin=True)


async def closed(store: GraphStore) -> None:
    """Close a graph that has something to close."""
    if close := getattr(store, "close", None):
        await close()


async def whole(store: GraphStore, place: Place) -> Contents:
    """All of a graph, however long a server takes to tell it."""
    if not isinstance(place, Neo4jServer):
        return await contents(store.engine.read)
    async with place.driver() as driver:

        async def read(query: str, parameters: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
            found = await driver.execute_query(query, dict(parameters))
            return [{name: native(record[name]) for name in found.keys} for record in found.records]

        return await contents(read)


async def once(events: Sequence[Any]) -> Contents:
    """What each event once, in order, makes of an empty graph."""
    store = EmbeddedGraph(admin=True)
    await in_order(events, store)
    return await contents(store.engine.read)
