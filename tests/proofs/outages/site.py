"""Three real stores, each behind a way that can fail, one worker on them, and the broker it brings along."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

from neo4j import GraphDatabase
from redis import Redis

from streams.stores.graph.neo4j_engine import Neo4jServer as Neo4jPlace
from tests.chaos.servers import PARTITIONS
from tests.e2e.processes import Process
from tests.servers.fault_proxy import HOST, FaultProxy
from tests.servers.neo4j import Neo4jServer
from tests.servers.qdrant import QdrantServer
from tests.servers.redis import RedisServer

STORES = ("neo4j", "qdrant", "redis")
# What a store is called where its state is told.
TOLD = {"neo4j": "graph", "qdrant": "index", "redis": "working_set"}
# The class of memory that needs the store and nothing else, of those that every question of ours asks for.
NEEDED = {"neo4j": "persona", "qdrant": "semantic", "redis": "working_set"}
SETTING = {"neo4j": "FATHOM_NEO4J_PASSWORD_FILE", "qdrant": "FATHOM_QDRANT_API_KEY_FILE", "redis": "FATHOM_REDIS_URL"}
SECRET, OTHER = "only-for-tests", "another-one-now"


@dataclass
class Site:
    """A worker (`bootstrap`, `http`) and its stores."""

    neo4j: Neo4jServer
    qdrant: QdrantServer
    redis: RedisServer
    ways: Mapping[str, FaultProxy]
    directory: Path
    worker: Process
    bootstrap: str = ""
    http: str = ""

    @property
    def graph(self) -> Neo4jPlace:
        """The graph itself, past the way that fails."""
        return Neo4jPlace(self.neo4j.url, self.neo4j.user, SECRET)

    async def ready(self) -> dict[str, Any]:
        """What the worker says of itself."""
        return await asyncio.to_thread(lambda: _page(f"http://{self.http}/health/ready"))

    async def expect(self, store: str, secret: str) -> None:
        """Have the server ask for this password or key from now on; who is connected has to log in again."""
        await asyncio.to_thread(getattr(self, f"_{store}_asks_for"), secret)
        self.ways[store].cut()

    def _neo4j_asks_for(self, secret: str) -> None:
        known = SECRET if secret == OTHER else OTHER
        with GraphDatabase.driver(self.neo4j.url, auth=(self.neo4j.user, known)) as driver:
            driver.execute_query("ALTER CURRENT USER SET PASSWORD FROM $a TO $b", a=known, b=secret, database_="system")

    def _qdrant_asks_for(self, secret: str) -> None:
        self.qdrant.stop()
        self.qdrant.api_key = secret
        self.qdrant.start()

    def _redis_asks_for(self, secret: str) -> None:
        known = SECRET if secret == OTHER else OTHER
        with Redis(host=HOST, port=self.redis.port, password=known) as client:
            client.config_set("requirepass", secret)


def _page(url: str) -> dict[str, Any]:
    try:
        with urlopen(url, timeout=10) as reply:
            found: dict[str, Any] = json.load(reply)
    except HTTPError as error:  # while a store is away
        found = json.load(error)
    return found


@asynccontextmanager
async def running(directory: Path) -> AsyncIterator[Site]:
    """Everything started, the worker consuming."""
    neo4j = Neo4jServer(directory / "neo4j", password=SECRET)
    qdrant = QdrantServer(directory / "qdrant", api_key=SECRET)
    redis = RedisServer(directory / "redis", password=SECRET)
    servers = (neo4j, qdrant, redis)
    async with AsyncExitStack() as stack:
        for server in servers:
            stack.callback(server.stop)
        await asyncio.gather(*(asyncio.to_thread(server.start) for server in servers))
        ways = {
            name: await stack.enter_async_context(FaultProxy(server.port))
            for name, server in zip(STORES, servers, strict=True)
        }
        key = directory / "secret"
        key.write_text(SECRET)
        worker = Process(
            "up", "--data", str(directory / "home"), "--port", "0", stderr=directory / "worker.err",
            FATHOM_NEO4J_URL=f"bolt://{HOST}:{ways['neo4j'].port}",
            FATHOM_NEO4J_PASSWORD_FILE=str(key),
            FATHOM_QDRANT_URL=f"http://{HOST}:{ways['qdrant'].port}",
            FATHOM_QDRANT_API_KEY_FILE=str(key),
            FATHOM_REDIS_URL=f"redis://:{SECRET}@{HOST}:{ways['redis'].port}/0",
            FATHOM_PARTITIONS=str(PARTITIONS),
        )  # fmt: skip
        stack.push_async_callback(asyncio.to_thread, _end, worker)
        site = Site(neo4j, qdrant, redis, ways, directory, worker)
        said = await asyncio.to_thread(worker.ready)
        site.bootstrap, site.http = said["bootstrap"], said["http"]
        yield site


def _end(worker: Process) -> None:
    if worker.child.poll() is None:
        worker.child.kill()
    worker.child.wait()
    if worker.child.stdout is not None:
        worker.child.stdout.close()
