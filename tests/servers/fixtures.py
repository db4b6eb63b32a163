"""The real stores as fixtures: one of each for all tests of a run, and of a test's own, to be stopped and killed.

A shared store is the one that the environment names, else a container where an engine runs, else a process of this
machine; a test without it is skipped and says how to install it.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import containers
from tests.servers.containers import source_of
from tests.servers.install import lacking
from tests.servers.neo4j import USER, Neo4jAddress, Neo4jServer
from tests.servers.qdrant import QdrantAddress, QdrantServer
from tests.servers.redis import RedisServer

API_KEY = "only-for-tests"
QDRANT_GRPC_PORT = 6334


def need(name: str) -> None:
    """Skip when a server cannot be run here."""
    if (why := lacking(name)) is not None:
        pytest.skip(why)


def source_for(name: str) -> containers.Source:
    """Where a server comes from; skips when from nowhere."""
    source = source_of(name, lacking)
    if source.kind == "none":
        pytest.skip(source.why)
    return source


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Redis: FATHOM_TEST_REDIS_URL, or one of this run's own."""
    if given := os.environ.get("FATHOM_TEST_REDIS_URL"):
        yield given
        return
    source = source_for("redis")
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    with containers.started(source, server, containers.redis(server.port)):
        yield server.url


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jAddress]:
    """A real Neo4j: FATHOM_TEST_NEO4J_URL (…_USER, …_PASSWORD), or one of this run's own."""
    if given := os.environ.get("FATHOM_TEST_NEO4J_URL"):
        user = os.environ.get("FATHOM_TEST_NEO4J_USER", USER)
        yield Neo4jAddress(given, user, os.environ.get("FATHOM_TEST_NEO4J_PASSWORD", ""))
        return
    source = source_for("neo4j")
    server = Neo4jServer(tmp_path_factory.mktemp("neo4j"))
    with containers.started(source, server, containers.neo4j(server.port, server.password)):
        yield server.address


@pytest.fixture(scope="session")
def qdrant_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QdrantAddress]:
    """A real Qdrant: FATHOM_TEST_QDRANT_URL (…_GRPC_PORT, …_API_KEY), or one of this run's own."""
    if given := os.environ.get("FATHOM_TEST_QDRANT_URL"):
        port = int(os.environ.get("FATHOM_TEST_QDRANT_GRPC_PORT", QDRANT_GRPC_PORT))
        yield QdrantAddress(given, port, os.environ.get("FATHOM_TEST_QDRANT_API_KEY"))
        return
    source = source_for("qdrant")
    server = QdrantServer(tmp_path_factory.mktemp("qdrant"), api_key=API_KEY)
    with containers.started(source, server, containers.qdrant(server.port, server.grpc_port, API_KEY)):
        yield server.address


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis of this test's own, not started yet."""
    need("redis")
    server = RedisServer(tmp_path / "redis")
    yield server
    server.stop()


@pytest.fixture
def own_neo4j(tmp_path: Path) -> Iterator[Neo4jServer]:
    """A Neo4j of this test's own, not started yet."""
    need("neo4j")
    server = Neo4jServer(tmp_path / "neo4j")
    yield server
    server.stop()


@pytest.fixture
def own_qdrant(tmp_path: Path) -> Iterator[QdrantServer]:
    """A Qdrant of this test's own, not started yet."""
    need("qdrant")
    server = QdrantServer(tmp_path / "qdrant", api_key=API_KEY)
    yield server
    server.stop()
