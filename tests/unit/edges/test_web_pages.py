"""Which requests are taken for those of a foreign web page, and which for a probe's."""

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from streams import config
from streams.edges.console.pages import WithConsole
from streams.runtime.health import Health
from streams.runtime.health_server import probes
from streams.web_pages import PageGuard, names_of

NAMES = names_of(
    config.load(
        {"FATHOM_HTTP_NAMES": "fathom.example.com, Metrics.prod", "FATHOM_ASK_ORIGINS": "https://app.example:8443"}
    )
)
WELL_KNOWN = TestClient(PageGuard(PlainTextResponse("said"), NAMES))


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:8088", "localhost", "[::1]:8088", "10.1.2.3:8080", "[fd00::7]:8080", "fathom", "pack-path:8080",
        "fathom-serve.prod.svc", "fathom-serve.prod.svc.cluster.local:80", "metadata.internal", "box.local.",
        "a.localhost", "fathom.example.com", "FATHOM.example.com:443", "metrics.prod:8080", "app.example",
    ],
)  # fmt: skip
def test_an_address_a_name_of_the_inside_and_one_of_the_settings_is_ours(host: str):
    assert WELL_KNOWN.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:8088", "127.0.0.1.evil.example", "localhost.evil.example", "10.1.2.3.nip.io",
        "evil.com.", "svc.evil.com", "xfathom.example.com", "fathom.example.com.evil.org", "[",
        "evil.example@127.0.0.1.evil.org",
    ],
)  # fmt: skip
def test_any_other_name_may_be_one_that_a_page_has_pointed_here(host: str):
    refused = WELL_KNOWN.get("/", headers={"host": host})
    assert (refused.status_code, "FATHOM_HTTP_NAMES" in refused.json()["error"]) == (403, True)


def test_a_page_of_another_origin_is_refused_and_one_of_ours_is_not():
    for origin in (
        "http://10.1.2.3:8088",
        "http://localhost:3000",
        "https://fathom.example.com",
        "https://app.example",
    ):
        assert WELL_KNOWN.get("/", headers={"host": "10.1.2.3:8088", "origin": origin}).status_code == 200
    for origin in ("https://evil.example", "null", "http://10.1.2.4", "http://fathom", "x", "http://["):
        assert WELL_KNOWN.get("/", headers={"host": "10.1.2.3:8088", "origin": origin}).status_code == 403


def test_health_and_metrics_and_the_console_are_guarded_and_liveness_is_not():
    health = TestClient(probes(Health(lambda: {"groups": {}})))
    console = TestClient(WithConsole(PlainTextResponse("the interface"), NAMES))
    foreign = {"host": "evil.example"}
    for client, path in (
        (health, "/metrics"),
        (health, "/health/ready"),
        (console, "/console/"),
        (console, "/console"),
    ):
        assert client.get(path, headers=foreign).status_code == 403
        assert client.get(path, headers={"origin": "https://evil.example"}).status_code == 403
    # It says nothing of anybody, and who is not believed to live is restarted.
    for path in ("/health/live", "/health/startup"):
        assert health.get(path, headers=foreign).status_code in (200, 503)
    assert console.get("/ask", headers=foreign).text == "the interface"
