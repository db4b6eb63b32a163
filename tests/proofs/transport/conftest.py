"""The brokers the live tests run on, each test on every one that can be had here.

`FATHOM_TEST_BROKERS` narrows the choice: names from `embedded,kafka`, or `host:port` of a running
broker, which then is not killed.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers import install
from tests.servers.embedded import EmbeddedServer
from tests.servers.kafka import KafkaServer

CHOSEN = [
    pytest.param(name, marks=[pytest.mark.kafka] if name == "kafka" else [])
    for name in os.environ.get("FATHOM_TEST_BROKERS", "embedded,kafka").split(",")
]


class BorrowedBroker:
    """A broker somebody else runs."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap

    def __enter__(self) -> "BorrowedBroker":
        return self

    def __exit__(self, *_: object) -> None:
        return None


def _server(name: str, directory: Path) -> Any:
    if ":" in name:
        return BorrowedBroker(name)
    if name == "embedded":
        return EmbeddedServer(directory)
    if install.kafka_libs() is None or install.java_version() is None:
        pytest.skip("Apache Kafka is not installed: python -m tests.servers.install kafka")
    return KafkaServer(directory)


@pytest.fixture(scope="session", params=CHOSEN)
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One broker for the whole session: `.bootstrap`, and `.kill()`, `.start()` unless it is borrowed."""
    with _server(request.param, tmp_path_factory.mktemp("broker")) as server:
        yield server
