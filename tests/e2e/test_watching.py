"""What is watched of a `fathom up` that has worked: every panel of the dashboards, against its real `/metrics`."""

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from schemas.topics import ASSESSMENTS_IN, TOOLS_CALLS_IN
from streams.docs.examples import load
from streams.telemetry.metrics import REGISTRY
from tests.builders import promql
from tests.builders.deep_answers import LAW, QUESTION
from tests.checkout import ROOT
from tests.e2e.test_cli import produce
from tests.e2e.test_deep_answers import COGNITION
from tests.e2e.test_http_interface import MARKDOWN, taken, turn
from tests.e2e.test_up import UNHURRIED, running
from tests.servers.install import lacking
from tests.servers.prometheus import PrometheusServer

# What has a series only once something is wrong, or once a language model is asked.
IN_TROUBLE = {"fathom_overload_messages_total", "fathom_retries_total", "fathom_llm_calls_total"}
WAIT_S = 90.0
QUERIES = [
    (f"{board}: {panel['title']}", target["expr"].replace("$__rate_interval", "1m"))
    for board in ("operator", "analyst")
    for panel in json.loads((ROOT / f"deploy/grafana/{board}.json").read_text())["panels"]
    for target in panel["targets"]
]
NAMES = promql.known(REGISTRY)


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


def work(client: httpx.Client, broker: str) -> None:
    """A talk with a contradiction, a correction and a rating; a deep answer; calls, an assessment, and rubbish."""
    taken(client.post("/documents?wait=visible&document_id=clt", content=LAW, headers=MARKDOWN), 200)
    first = turn(client, "c1", "The price of the Kestrel is 40 euros.")
    turn(client, "c1", "Noted.", role="assistant", answers=first["message_id"])
    pack = turn(client, "c1", "No, the price of the Kestrel is 45 euros.")
    [claim] = [each for each in pack["claims"]["user_claims"] if each["value"] == "45 euros"]
    fixed = {"claim_id": claim["claim_id"], "text": "It is 50 euros.", "new_value": "50 euros"}
    taken(client.post("/corrections", json=fixed, headers={"fathom-user": "bia"}))
    rated = {"message_id": first["message_id"], "conversation_id": "c1", "client_id": "web", "rating": 4}
    taken(client.post("/feedback", json=rated))
    asked = {"question": QUESTION, "conversation_id": str(uuid4()), "client_id": "web"}
    taken(client.post("/ask?deep=true", json=asked, headers={"fathom-user": "ana"}), 200)
    for example in load(topics=[ASSESSMENTS_IN, TOOLS_CALLS_IN]):
        produce(broker, example.topic.name, example.key.encode(), example.raw)
    produce(broker, "messages.in", b"k", b"no json")


def page_of(address: str) -> str:
    return httpx.get(f"http://{address}/metrics", timeout=10).text


def lacking_series(page: str) -> dict[str, list[str]]:
    """What each panel asks for that no series of a page has."""
    series: list[tuple[str, Mapping[str, str]]] = list(promql.series_of(page))
    return {
        title: missing
        for title, query in QUERIES
        if (
            missing := [
                str(each)
                for each in promql.selectors(query)
                if each.name not in IN_TROUBLE
                and not any(name == each.name and each.takes(labels) for name, labels in series)
            ]
        )
    }


def until_whole(address: str) -> str:
    """The page once background stages have done their part; the last one that was read if they do not."""
    deadline = time.monotonic() + WAIT_S
    while lacking_series(page := page_of(address)) and time.monotonic() < deadline:
        time.sleep(0.5)
    return page


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
