"""The servers of the contract tests: a broker for each file or each test, the real stores once for all."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from streams.stores.graph import neo4j_engine
from tests.contract.broker_cluster import broker_under_test
from tests.contract.broker_node import Node
from tests.contract.working_sets import kit, valkey  # noqa: F401
from tests.servers.fixtures import (  # noqa: F401
    neo4j_server,
    own_neo4j,
    own_qdrant,
    own_redis,
    qdrant_server,
    redis_url,
)


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    """The embedded broker's address, or FATHOM_TEST_KAFKA."""
    with broker_under_test() as address:
        yield address


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    """An embedded broker, whatever is configured; not started yet."""
    node = Node(tmp_path / "data")
    yield node
    node.process.stop()


@pytest.fixture(autouse=True, scope="session")
def writers_wait_for_no_others() -> Iterator[None]:
    """A write to Neo4j looks up erasures with the writes of the next 50 ms; in these tests no other write comes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neo4j_engine, "LOOKED_UP_S", 0.0)
        yield
