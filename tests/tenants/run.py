"""A thousand tenants ask every store, twins, embedded and real, at least a hundred thousand times."""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import fakeredis
from redis.asyncio import Redis

from streams.stores.graph.embedded.engine import EmbeddedGraph
from streams.stores.graph.neo4j_engine import Neo4jServer, open_graph
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.stores.passages.qdrant_server import QdrantServerIndex
from streams.stores.passages.vectors import HashingEmbedder
from streams.stores.sessions.memory import MemoryWorkingSets
from streams.stores.sessions.redis_working_sets import RedisWorkingSets
from tests import counters
from tests.servers import neo4j, qdrant, redis
from tests.servers.cypher_graph import CypherGraph
from tests.servers.install import lacking
from tests.tenants import memories
from tests.tenants.asking import Leaks, ask_all, ask_graph, ask_index, ask_sets
from tests.tenants.canaries import Tenant, tenants

TENANTS, QUERIES = 1_000, 100_000
API_KEY = "only-for-tests"
Opened = tuple[str, Any, Any, Any]


def here(directory: Path) -> list[Callable[[], Opened]]:
    """The stores of this process: name, store, how it is filled, how it is asked."""
    embedder = HashingEmbedder()
    return [
        lambda: ("cypher", CypherGraph(admin=True), memories.remember, ask_graph),
        lambda: ("embedded", EmbeddedGraph(directory / "graph", admin=True), memories.remember, ask_graph),
        lambda: ("index twin", MemoryPassageIndex(embedder, admin=True), memories.index, ask_index),
        lambda: ("qdrant-edge", QdrantEdgeIndex(directory / "index", embedder, admin=True), memories.index, ask_index),
        lambda: ("working sets twin", MemoryWorkingSets(), memories.file, ask_sets),
        lambda: ("fakeredis", RedisWorkingSets(fakeredis.FakeAsyncRedis()), memories.file, ask_sets),
    ]


def served(directory: Path, running: ExitStack, name: str) -> Callable[[], Opened]:
    """A store on a server of its own."""
    folder = directory / name
    folder.mkdir()
    if name == "neo4j":
        graph = running.enter_context(neo4j.Neo4jServer(folder))
        server = Neo4jServer(graph.url, graph.user, graph.password)
        return lambda: ("Neo4j", open_graph(server, admin=True), memories.remember, ask_graph)
    if name == "qdrant":
        found = running.enter_context(qdrant.QdrantServer(folder, api_key=API_KEY))
        return lambda: (
            "Qdrant",
            QdrantServerIndex(found.url, HashingEmbedder(), api_key=API_KEY, admin=True),
            memories.index,
            ask_index,
        )
    url = running.enter_context(redis.RedisServer(folder)).url
    return lambda: ("Redis", RedisWorkingSets(Redis.from_url(url)), memories.file, ask_sets)


async def judge(make: Callable[[], Opened], everyone: list[Tenant], leaks: Leaks) -> None:
    """Fill one store and ask it; what was found wrong is in `leaks`."""
    began, before, known = time.monotonic(), leaks.queries, len(leaks.found)
    name, store, fill, ask = make()
    async with AsyncExitStack() as stack:
        if hasattr(store, "close"):
            stack.push_async_callback(store.close)
        for start in range(0, len(everyone), 100):
            await fill(store, everyone[start : start + 100])
        await ask_all(ask, store, everyone, leaks, others=4)
    took, queries = time.monotonic() - began, leaks.queries - before
    counters.record("", name, {"tenants": len(everyone), "queries": queries}, {"leak": len(leaks.found) - known})
    print(f"{name:<18} {queries:>7} queries {took:7.1f} s  {len(leaks.found)} leaks", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.tenants.run")
    parser.add_argument("--tenants", type=int, default=TENANTS)
    count = parser.parse_args().tenants
    everyone, leaks = [*tenants(count)], Leaks()
    with tempfile.TemporaryDirectory(prefix="fathom-tenants-") as folder, ExitStack() as running:
        directory = Path(folder)
        makes = here(directory)
        for name in ("redis", "qdrant", "neo4j"):
            if (why := lacking(name)) is None:
                makes.append(served(directory, running, name))
            else:
                print(f"not asked: {name}: {why}")
        for make in makes:
            asyncio.run(judge(make, everyone, leaks))
    print(f"{count} tenants, {leaks.queries} queries, {len(leaks.found)} leaks")
    print("\n".join(leaks.found[:20]))
    counters.record("B19", "every store", {"tenants": count, "queries": leaks.queries}, {"leak": len(leaks.found)})
    enough = leaks.queries >= QUERIES or count < TENANTS
    return 0 if enough and not leaks.found else 1


if __name__ == "__main__":
    sys.exit(main())
