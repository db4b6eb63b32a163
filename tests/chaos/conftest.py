"""The brokers that the brief chaos runs on, each with embedded stores."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.servers import BROKERS, Servers, lacking_broker, serving_with_own_stores


@pytest.fixture(params=[pytest.param(name, marks=[pytest.mark.kafka] if name == "kafka" else []) for name in BROKERS])
def servers(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Servers]:
    """A broker, and embedded stores: chaos on four real servers is a proof."""
    if (why := lacking_broker(request.param)) is not None:
        pytest.skip(why)
    with serving_with_own_stores(request.param, tmp_path) as running:
        yield running
