"""The brokers the live tests run on, each test on every one that can be had here.

`FATHOM_TEST_BROKERS` narrows the choice: names from `embedded,kafka`, or `host:port` of a running
broker, which then is not killed.
"""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.servers import install
from tests.servers.kafka import KafkaServer

CHOSEN = os.environ.get("FATHOM_TEST_BROKERS", "embedded,kafka").split(",")


class RunningBroker:
    """A broker somebody else runs."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap


def _make(name: str, directory: Path) -> Any:
    if ":" in name:
        return RunningBroker(name)
    if name == "kafka":
        if install.kafka_libs() is None or install.java_version() is None:
            pytest.skip("Apache Kafka is not installed: python -m tests.servers.install kafka")
        return KafkaServer(directory)
    if find_spec("streams.broker.process") is None:
        pytest.skip("the embedded broker is not here yet")
    from tests.runtime.embedded import EmbeddedServer

    return EmbeddedServer(directory)


@pytest.fixture(scope="session", params=CHOSEN)
def broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """A broker that stays up for the whole session: `.bootstrap`."""
    server = _make(request.param, tmp_path_factory.mktemp(request.param.replace(":", "-")))
    if isinstance(server, RunningBroker):
        yield server
        return
    with server:
        yield server


@pytest.fixture(params=CHOSEN)
def own_broker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """A broker that may be killed and started again: `.bootstrap`, `.kill()`, `.start()`."""
    server = _make(request.param, tmp_path)
    if isinstance(server, RunningBroker):
        pytest.skip("a broker somebody else runs is not killed")
    with server:
        yield server
