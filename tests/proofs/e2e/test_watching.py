"""What a Prometheus has to show of a `fathom up` that has worked: something in every panel of the dashboards."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.builders import promql
from tests.e2e.panels import IN_TROUBLE, QUERIES, WAIT_S, until_whole, work
from tests.e2e.processes import UNHURRIED, running
from tests.servers.install import lacking
from tests.servers.prometheus import PrometheusServer

COGNITION = {"RAG_ENABLE_COGRAG": "on", "RAG_COGRAG_VERIFICATION_ENABLED": "on", "RAG_COGRAG_MEMORY_ENABLED": "on"}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a `fathom up` serves that has done a bit of everything."""
    place = tmp_path_factory.mktemp("up")
    settings = {**UNHURRIED, **COGNITION, "FATHOM_ASK_DEEP_TIMEOUT_MS": "120000", "FATHOM_CANARY_EVERY_S": "5"}
    with running("up", "--data", str(place / "data"), "--port", "0", stderr=place / "err", **settings) as process:
        ready = process.ready()
        token = (place / "data" / "token").read_text().strip()
        whose = {"authorization": f"Bearer {token}"}
        with httpx.Client(base_url=f"http://{ready['http']}", headers=whose, timeout=120) as client:
            work(client, ready["bootstrap"])
        yield ready["http"]
        assert process.end()[0] == 0


@pytest.mark.timeout(300)
def test_a_prometheus_that_scrapes_it_answers_every_query(address: str, tmp_path: Path) -> None:
    if (why := lacking("prometheus")) is not None:
        pytest.skip(why)
    until_whole(address)
    with PrometheusServer(tmp_path / "prometheus", address) as prometheus:
        deadline = time.monotonic() + WAIT_S
        empty: dict[str, Any] = {title: None for title, _ in QUERIES}
        while empty and time.monotonic() < deadline:
            time.sleep(2.0)  # two scrapes make a rate
            empty = {
                title: query
                for title, query in QUERIES
                if not IN_TROUBLE & {each.name for each in promql.selectors(query)} and not prometheus.query(query)
            }
        assert empty == {}
