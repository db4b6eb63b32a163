"""Unknown tokens: counted, logged without the token, and no faster than a guess a second."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from starlette.responses import PlainTextResponse

from streams.edges.http import rate_limit
from streams.edges.http.gate import AuthMiddleware
from streams.edges.http.rate_limit import PER_MINUTE, Guesses, RateLimit
from streams.edges.http.tokens import Grant, Tokens
from streams.telemetry.registry import REGISTRY

ANA, EVA = "acme-ana-0123456789", "acme-eva-0123456789"
HERE, THERE = "10.0.0.7", "10.0.0.8"


class Gate:
    """The gate before an application that says `in`, at a time that the test turns."""

    def __init__(self) -> None:
        self.now = 1_000.0
        granted = {ANA: Grant(tenant="acme", user="ana"), EVA: Grant(tenant="acme", user="eva")}
        self._app = AuthMiddleware(
            PlainTextResponse("in"),
            Tokens(granted),
            RateLimit(6_000),
            origins=(),
            origins_setting="ask_origins",
            loopback=True,
            guesses=Guesses(lambda: self.now),
        )

    def call(self, token: str | None, address: str = HERE, **headers: str) -> httpx.Response:
        stated: Mapping[str, str] = {} if token is None else {"authorization": f"Bearer {token}"}

        async def story() -> httpx.Response:
            transport = httpx.ASGITransport(self._app, client=(address, 1))
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                return await client.get("/ask", headers={**stated, **headers})

        return asyncio.run(story())

    def statuses(self, count: int, token: str | None = "guess-0123456789", address: str = HERE) -> list[int]:
        return [self.call(token, address).status_code for _ in range(count)]


def refused(status: str) -> float:
    return REGISTRY.get_sample_value("fathom_calls_refused_total", {"status": status}) or 0.0


def test_after_many_unknown_tokens_an_address_is_slowed_down_and_others_are_not():
    gate = Gate()
    assert gate.call(ANA).status_code == 200
    assert gate.statuses(PER_MINUTE) == [401] * PER_MINUTE
    slowed = gate.call("guess-0123456789")
    assert (slowed.status_code, slowed.headers["retry-after"]) == (429, "1")
    assert "unknown tokens" in slowed.json()["detail"]
    # A right guess is told from a wrong one no sooner; who called from here before goes on.
    assert gate.call(EVA).status_code == 429
    assert gate.call(ANA).status_code == 200
    assert gate.statuses(1, address=THERE) == [401]
    assert gate.call(EVA, THERE).status_code == 200
    gate.now += 1
    assert gate.statuses(3) == [401, 429, 429]
    gate.now += 1
    assert gate.call(EVA).status_code == 200
    assert gate.statuses(2) == [401, 429]
    assert gate.call(EVA).status_code == 200


def test_a_call_without_a_token_is_no_guess():
    assert set(Gate().statuses(3 * PER_MINUTE, token=None)) == {401}


def test_a_refused_token_is_logged_once_a_minute_and_never_itself(caplog: pytest.LogCaptureFixture):
    gate = Gate()

    def lines() -> list[Any]:
        return [each.fields for each in caplog.records if each.msg == "http.unknown_token"]

    with caplog.at_level(logging.DEBUG):
        gate.statuses(5)
        gate.statuses(1, address=THERE)
        gate.now += 60
        gate.statuses(2)
    assert lines() == [
        {"address": HERE, "calls": 1}, {"address": THERE, "calls": 1}, {"address": HERE, "calls": 5},
    ]  # fmt: skip
    assert "guess-0123456789" not in caplog.text + str([vars(each) for each in caplog.records])


def test_refusals_are_counted_by_their_status():
    gate = Gate()
    before = [refused(status) for status in ("401", "403", "429")]
    gate.call(None)
    gate.call("guess-0123456789")
    gate.call(ANA, host="evil.example")
    gate.call(ANA, origin="https://evil.example")
    gate.statuses(PER_MINUTE)
    assert [refused(status) - was for status, was in zip(("401", "403", "429"), before, strict=True)] == [
        PER_MINUTE + 1, 2, 1,
    ]  # fmt: skip


def test_what_is_known_of_addresses_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rate_limit, "MAX_ADDRESSES", 3)
    kept = Guesses(lambda: 0.0)
    for number in range(10):
        kept.check(f"10.0.0.{number}", None)
    assert len(kept._addresses) == 3
