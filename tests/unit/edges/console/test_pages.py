"""The console's files over HTTP: without a token, under a narrow policy, and nothing else without one."""

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from streams.edges.console.address import console_url
from streams.edges.console.pages import POLICY, STATIC, WithConsole


@pytest.fixture
def client() -> TestClient:
    return TestClient(
        WithConsole(PlainTextResponse("the interface", 401), lambda: "<p>the reference</p>"), follow_redirects=False
    )


def test_every_file_that_ships_is_served_as_what_it_is(client: TestClient) -> None:
    kinds = {
        "index.html": "text/html",
        "console.js": "text/javascript",
        "console.css": "text/css",
        "icon.svg": "image/svg+xml",
        "licences.txt": "text/plain",
    }
    assert {path.name for path in STATIC.iterdir()} == kinds.keys()
    for name, kind in kinds.items():
        answer = client.get(f"/console/{name}")
        assert (answer.status_code, answer.text) == (200, (STATIC / name).read_text())
        assert answer.headers["content-type"].startswith(kind)
    assert client.get("/console/").text == (STATIC / "index.html").read_text()


def test_the_page_may_run_its_own_script_only_and_call_its_own_origin_only(client: TestClient) -> None:
    for path in ("/console", "/console/", "/console/console.js", "/console/nothing"):
        headers = client.get(path).headers
        assert headers["content-security-policy"] == POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
    rules = dict(rule.split(" ", 1) for rule in POLICY.split("; "))
    assert {name: rules[name] for name in ("default-src", "script-src", "style-src", "connect-src", "img-src")} == {
        "default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'",
        "img-src": "'self' data:",
    }  # fmt: skip
    assert rules["frame-ancestors"] == "'none'"


def test_the_address_without_a_slash_leads_to_the_page(client: TestClient) -> None:
    answer = client.get("/console")
    assert (answer.status_code, answer.headers["location"]) == (307, "console/")


def test_a_page_that_is_known_is_not_sent_again(client: TestClient) -> None:
    first = client.get("/console/console.js")
    again = client.get("/console/console.js", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.head("/console/console.js").headers["content-length"] == first.headers["content-length"]


def test_a_browser_that_names_no_page_is_led_to_the_console(client: TestClient) -> None:
    answer = client.get("/", headers={"accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert (answer.status_code, answer.headers["location"]) == (307, "console/")
    assert client.get("/", headers={"accept": "application/json"}).text == "the interface"


def test_the_interface_is_described_at_docs_without_a_token(client: TestClient) -> None:
    answer = client.get("/docs")
    assert (answer.status_code, answer.text) == (200, "<p>the reference</p>")
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["content-security-policy"] == POLICY
    assert client.post("/docs").status_code == 405


def test_all_else_is_the_interfaces(client: TestClient) -> None:
    for path in ("/", "/ask", "/consoles", "/console.js"):
        assert client.get(path).text == "the interface"
    for path in ("/console/nothing", "/console/../pages.py", "/console/static/index.html", "/console/%2e%2e/pages.py"):
        assert client.get(path).status_code in (401, 404)
    assert client.post("/console/").status_code == 405


def test_the_address_holds_a_token_only_behind_the_sign_that_no_browser_sends() -> None:
    assert console_url("127.0.0.1:8088") == "http://127.0.0.1:8088/console"
    assert console_url("[::1]:8088", "a&b") == "http://[::1]:8088/console#token=a%26b"
