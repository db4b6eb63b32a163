"""No tenant sees another, in any store: every read of every port, on twins, embedded and real."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import unquote

import fakeredis
import pytest
from qdrant_client import AsyncQdrantClient
from redis.asyncio import Redis

from schemas.base import PUBLIC_TENANT
from streams.stores.graph import queries
from streams.stores.graph.embedded.engine import EmbeddedGraph
from streams.stores.graph.neo4j_engine import Neo4jServer, open_graph
from streams.stores.graph.store import GraphStore
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.stores.passages.qdrant_server import QdrantServerIndex
from streams.stores.passages.vectors import HashingEmbedder
from streams.stores.sessions.memory import MemoryWorkingSets
from streams.stores.sessions.redis_working_sets import RedisWorkingSets
from tests.builders.examples import few
from tests.servers.cypher_graph import CypherGraph
from tests.servers.neo4j import READ_S
from tests.tenants import memories
from tests.tenants.asking import Leaks, ask_all, ask_graph, ask_index, ask_sets
from tests.tenants.canaries import tenants

COUNT = {"neo4j": few(64, 8), "qdrant-server": few(64, 16), "redis-server": few(64, 16)}
EVERYONE = tenants(96)
SOME = EVERYONE[: few(16, 4)]
PROPERTIES = {"Document", "Chunk", "Claim"}


@asynccontextmanager
async def graph_of(kind: str, request: pytest.FixtureRequest) -> AsyncIterator[GraphStore]:
    if kind == "cypher":
        yield CypherGraph(admin=True)
        return
    if kind == "embedded":
        embedded = EmbeddedGraph(request.getfixturevalue("tmp_path"), admin=True)
        yield embedded
        await embedded.close()
        return
    found = request.getfixturevalue("neo4j_server")
    server = Neo4jServer(found.url, found.user, found.password)
    graph = open_graph(server, admin=True, timeout=READ_S)
    async with server.driver() as driver:
        await driver.execute_query("MATCH (n) WHERE n.tenant_id IS NOT NULL DETACH DELETE n")
    yield graph
    await graph.close()


@asynccontextmanager
async def index_of(kind: str, request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    if kind == "memory":
        yield MemoryPassageIndex(HashingEmbedder(), admin=True)
        return
    index: Any
    if kind == "qdrant-edge":
        index = QdrantEdgeIndex(request.getfixturevalue("tmp_path"), HashingEmbedder(), admin=True)
    else:
        server = request.getfixturevalue("qdrant_server")
        headers = {"api-key": server.api_key} if server.api_key else None
        client = AsyncQdrantClient(url=server.url, headers=headers, check_compatibility=False)
        for name in ("semantic", "episodic"):
            await client.delete_collection(f"fathom_{name}")
        await client.close()
        index = QdrantServerIndex(server.url, HashingEmbedder(), api_key=server.api_key, admin=True)
        await index.open()
    yield index
    await index.close()


@asynccontextmanager
async def sets_of(kind: str, request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    if kind == "memory":
        yield MemoryWorkingSets()
        return
    client = fakeredis.FakeAsyncRedis() if kind == "fakeredis" else Redis.from_url(request.getfixturevalue("redis_url"))
    await client.flushall()
    yield RedisWorkingSets(client)
    await client.aclose()


STORES = [
    *(pytest.param(graph_of, kind, memories.remember, ask_graph, id=kind) for kind in ("cypher", "embedded", "neo4j")),
    *(
        pytest.param(index_of, kind, memories.index, ask_index, id=f"index-{kind}")
        for kind in ("memory", "qdrant-edge", "qdrant-server")
    ),
    *(
        pytest.param(sets_of, kind, memories.file, ask_sets, id=f"sets-{kind}")
        for kind in ("memory", "fakeredis", "redis-server")
    ),
]


@pytest.mark.covers("AC-36", "CF-60", "CF-61")
@pytest.mark.parametrize(("opened", "kind", "fill", "ask"), STORES)
def test_every_tenant_finds_its_own_and_what_is_everybodys_and_nothing_else(opened, kind, fill, ask, request):
    everyone = EVERYONE[: COUNT.get(kind, len(EVERYONE))]
    leaks = Leaks()

    async def story() -> None:
        async with opened(kind, request) as store:
            await fill(store, [*everyone])
            await ask_all(ask, store, everyone, leaks, others=0 if kind == "neo4j" else 2)

    asyncio.run(story())
    assert leaks.found == []
    assert leaks.queries >= 8 * len(everyone)


@pytest.mark.covers("S2-72", "S2-87", "CF-35")
@pytest.mark.parametrize("kind", ["cypher", "embedded", "neo4j"])
def test_every_node_has_the_tenant_its_id_says_and_no_link_leaves_it(kind, request):
    async def story() -> None:
        async with graph_of(kind, request) as graph:
            await memories.remember(graph, SOME)
            nodes = await graph.engine.read(queries.ALL_NODES, {})
            links = await graph.engine.read(queries.ALL_LINKS, {})
        owners = {row["id"]: row["props"]["tenant_id"] for row in nodes}
        assert {row["label"] for row in nodes} >= PROPERTIES
        assert all(unquote(id_.partition("|")[0]) == tenant for id_, tenant in owners.items())
        assert set(owners.values()) == {tenant.name for tenant in SOME} | {PUBLIC_TENANT}
        crossing = {row["type"] for row in links if owners[row["start"]] != owners[row["finish"]]}
        assert crossing == {"USED_PROFILE"}
        assert {owners[row["finish"]] for row in links if row["type"] == "USED_PROFILE"} == {PUBLIC_TENANT}

    asyncio.run(story())
