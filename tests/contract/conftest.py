"""The brokers of the contract tests: one per module, or one per test that is killed and looked into."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.broker_cluster import broker_under_test
from tests.contract.broker_node import Node


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
