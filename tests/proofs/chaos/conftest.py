"""The brokers the chaos tests run on: the embedded one, and Apache Kafka where it is installed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.conftest import servers as own_stores  # noqa: F401
from tests.chaos.servers import BROKERS, Servers, lacking, serving


@pytest.fixture(params=[pytest.param(name, marks=[pytest.mark.kafka] if name == "kafka" else []) for name in BROKERS])
def servers(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Servers]:
    """The servers of one run, on each broker in turn."""
    if (why := lacking(request.param)) is not None:
        pytest.skip(why)
    with serving(request.param, tmp_path) as running:
        yield running
