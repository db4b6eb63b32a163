"""What is watched of a `fathom up` that has worked: every panel of the dashboards, against its real `/metrics`."""

import pytest

from streams.telemetry.metrics import REGISTRY
from tests.builders import promql
from tests.e2e.conftest import Tenant
from tests.e2e.panels import IN_TROUBLE, QUERIES, lacking_series, until_whole, work

NAMES = promql.known(REGISTRY)


@pytest.fixture(scope="module")
def address(tenant: Tenant) -> str:
    """Where a `fathom up` serves that has done a bit of everything."""
    work(tenant.client(), tenant.bootstrap)
    return tenant.url.removeprefix("http://")


@pytest.mark.parametrize(("title", "query"), QUERIES)
def test_a_panel_asks_for_metrics_and_labels_that_exist(title: str, query: str) -> None:
    assert promql.wrong(query, NAMES) == []


@pytest.mark.timeout(300)
def test_no_panel_is_empty_on_the_page_of_a_process_that_has_worked(address: str) -> None:
    assert len(QUERIES) > 40
    page = until_whole(address)
    assert lacking_series(page) == {}
    assert "\nfathom_ready 1.0\n" in page
    # Of what is left out above, the page at least says that it is counted.
    assert all(f"# TYPE {name} counter" in page for name in IN_TROUBLE)
