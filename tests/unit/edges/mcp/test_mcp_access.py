"""Who may call over MCP, how often, from where: tokens, origins, allowances; without sockets."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.stages.assessor import Assessor
from streams import config
from streams.config import ConfigError
from streams.edges.http import tokens
from streams.edges.http.gate import GRANT, AuthMiddleware
from streams.edges.http.rate_limit import RateLimit
from streams.edges.http.tokens import Grant, Tokens
from streams.edges.mcp import callers, serving
from streams.edges.mcp.callers import Caller
from streams.telemetry.clock import SystemClock

TOKEN = "0123456789abcdef0123456789abcdef"
GRANTED = Grant(tenant="acme", client="agent", user="ana")
ANA = Caller("acme", "agent", "ana", bound=True, only="agent")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


# --- the caller of stdio ----------------------------------------------------------------------------------------------


def test_on_stdio_the_caller_is_the_settings():
    set_up = {"FATHOM_MCP_TENANT": "acme", "FATHOM_MCP_CLIENT": "agent", "FATHOM_MCP_USER": "ana"}
    assert callers.of_settings(config.load(set_up)) == replace(ANA, only=None)
    assert callers.of_settings(config.load({})) == Caller("default", "mcp", "mcp")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FATHOM_MCP_TENANT", "_public"),
        ("FATHOM_MCP_TENANT", "a\nb"),
        ("FATHOM_MCP_CLIENT", " "),
        ("FATHOM_MCP_USER", "\t"),
    ],
)
def test_a_caller_that_is_none_is_refused_by_name(name: str, value: str):
    with pytest.raises(ConfigError, match=name):
        callers.of_settings(config.load({name: value}))


# --- tokens -----------------------------------------------------------------------------------------------------------


def tokens_of(path: Path, value: Any) -> Tokens:
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return tokens.of_file(path, "mcp_tokens_file")


@pytest.mark.covers("B28")
def test_a_token_stands_for_a_tenant_a_client_and_a_user(tmp_path: Path):
    other = "f" * 16
    known = tokens_of(
        tmp_path / "t", {TOKEN: {"tenant": "acme", "client": "agent", "user": "ana"}, other: {"tenant": "b"}}
    )
    assert callers.of_grant(known.grant(TOKEN)) == ANA
    assert callers.of_grant(known.grant(other)) == Caller("b", "mcp", "mcp")
    for wrong in ("", TOKEN[:-1], TOKEN + "0", TOKEN.upper(), "acme", "\ud800"):
        assert known.grant(wrong) is None
    assert TOKEN not in repr(vars(known))


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("", "empty"),
        ("no json", "no JSON"),
        ({}, "no token in it"),
        ([], "the file: "),
        ({TOKEN: {"tenant": ""}}, "tenant"),
        ({TOKEN: {"tenant": "_public"}}, "_public"),
        ({TOKEN: {"tenant": "a", "tennant": "b"}}, "tennant"),
        ({TOKEN: {"user": "ana"}}, "tenant"),
        ({"short": {"tenant": "a"}}, "token 1 is no 16"),
        ({TOKEN: {"tenant": "a"}, "with blank in it all": {"tenant": "a"}}, "token 2 is no 16"),
    ],
)
def test_a_tokens_file_that_is_none_is_refused_without_showing_a_token(tmp_path: Path, value: Any, says: str):
    with pytest.raises(ConfigError) as error:
        tokens_of(tmp_path / "t", value)
    assert "FATHOM_MCP_TOKENS_FILE" in str(error.value)
    assert says in str(error.value)
    assert TOKEN not in str(error.value)


def test_over_http_there_is_no_server_without_tokens():
    with pytest.raises(ConfigError, match="FATHOM_MCP_TOKENS_FILE is not set"):
        tokens.of_file(None, "mcp_tokens_file")


# --- allowance --------------------------------------------------------------------------------------------------------


@pytest.mark.covers("B28")
def test_a_caller_has_so_many_calls_and_then_one_as_time_fills_them_up():
    # 0 s: 60 calls --- 0.25 s: wait --- 1 s: one --- an hour: 60, not 3,600
    clock = Clock()
    allowance = RateLimit(60, clock)
    assert [allowance.take("a") for _ in range(60)] == [0.0] * 60
    clock.now = 0.25
    assert allowance.take("a") == pytest.approx(0.75)
    assert allowance.take("b") == 0.0
    clock.now = 1.0
    assert allowance.take("a") == 0.0
    assert allowance.take("a") == pytest.approx(1.0)
    clock.now = 3_600.0
    assert [allowance.take("a") > 0 for _ in range(61)] == [False] * 60 + [True]


# --- the gate ---------------------------------------------------------------------------------------------------------


class Answer:
    """What a request to the gate gave; `passed` is who came through."""

    def __init__(self, gate_of: Any, headers: Mapping[str, str], path: str, method: str) -> None:
        self.status, self.headers, self.body, self.passed = 0, {}, b"", None
        self._headers = [(name.encode(), text.encode("latin-1")) for name, text in headers.items()]
        scope = {"type": "http", "method": method, "path": path, "headers": self._headers}
        asyncio.run(gate_of(self._app)(scope, self._receive, self._send))

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        self.passed = scope[GRANT]

    async def _receive(self) -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.body += message["body"]


def ask(
    *,
    loopback: bool = True,
    origins: Any = (),
    per_minute: int = 60,
    path: str = "/mcp",
    method: str = "POST",
    times: int = 1,
    **headers: str,
) -> Answer:
    allowance = RateLimit(per_minute, Clock())
    sent = {"host": "127.0.0.1:8765", "authorization": f"Bearer {TOKEN}", **headers}
    stated = {name: text for name, text in sent.items() if text}

    def gate(app: Any) -> AuthMiddleware:
        return AuthMiddleware(
            app, Tokens({TOKEN: GRANTED}), allowance, origins=origins, origins_setting="mcp_origins", loopback=loopback
        )

    answers = [Answer(gate, stated, path, method) for _ in range(times)]
    return answers[-1]


def test_a_known_token_comes_through_as_its_caller():
    assert ask().passed == GRANTED
    assert ask(authorization=f"bearer  {TOKEN} ").passed == GRANTED


@pytest.mark.covers("B28")
@pytest.mark.parametrize("path", ["/", "/mcp", "/mcp/", "/health", "/.well-known/oauth-protected-resource", "/%2e"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS", "PUT"])
@pytest.mark.parametrize("authorization", ["", "Bearer", "Bearer x", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN[:-1]}"])
def test_without_a_known_token_nothing_is_served_on_any_path(path: str, method: str, authorization: str):
    refused = ask(path=path, method=method, authorization=authorization)
    assert (refused.status, refused.passed) == (401, None)
    assert refused.headers["www-authenticate"] == "Bearer"
    assert TOKEN not in refused.body.decode()


@pytest.mark.covers("B28")
@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://127.0.0.1.evil.example", "http://localhost@evil.example", "http://[", "x"],
)
def test_a_foreign_origin_is_forbidden_token_or_not(origin: str):
    assert (ask(origin=origin).status, ask(origin=origin, authorization="").status) == (403, 403)
    assert ask(origin=origin, loopback=False, host="fathom.example").status == 403


def test_origins_of_this_machine_and_those_of_the_settings_may_call():
    for origin in ("http://127.0.0.1:3000", "http://localhost", "http://[::1]:80"):
        assert ask(origin=origin).passed == GRANTED
        assert ask(origin=origin, loopback=False).status == 403
    assert ask(origin="https://app.example", origins=["https://app.example"]).passed == GRANTED
    assert ask(origin="https://app.example:8443", origins=["https://app.example"]).status == 403


def test_the_origins_of_the_settings_are_a_list_with_commas(tmp_path: Path):
    (tmp_path / "t").write_text(json.dumps({TOKEN: {"tenant": "acme"}}))
    settings = config.load(
        {
            "FATHOM_MCP_TOKENS_FILE": str(tmp_path / "t"),
            "FATHOM_MCP_ORIGINS": "https://a.example, https://b.example",
        }
    )
    app = serving.http_app(settings, None, "0.0.0.0", Assessor(SystemClock()))
    # Without a token: whose origin is known comes as far as being asked for one.
    for origin, status in (("https://a.example", 401), ("https://b.example", 401), ("https://c.example", 403)):
        assert Answer(lambda _: app, {"host": "fathom.example", "origin": origin}, "/mcp", "POST").status == status


def test_on_loopback_another_host_name_is_forbidden():
    for host in ("evil.example", "127.0.0.1.evil.example:8765", "", "["):
        assert ask(host=host).status == 403
    for host in ("localhost:1", "[::1]:8765", "127.0.0.1"):
        assert ask(host=host).passed == GRANTED
    assert ask(host="fathom.example", loopback=False).passed == GRANTED


@pytest.mark.covers("B28")
def test_after_too_many_calls_the_answer_is_429_with_when_to_try_again():
    refused = ask(per_minute=20, times=21)
    assert (refused.status, refused.passed) == (429, None)
    assert refused.headers["retry-after"] == "3"
    assert refused.headers["content-type"] == "application/problem+json"
    assert json.loads(refused.body) == {
        "type": "docs/errors.md#http-429",
        "title": "Too Many Requests",
        "status": 429,
        "detail": "too many calls: try again in 3 s",
    }
    assert ask(per_minute=20, times=20).passed == GRANTED
