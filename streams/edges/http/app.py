"""The application of `fathom serve`: `/ask`, `/assess` and `/openapi.json`, behind bearer tokens."""

import asyncio
from contextlib import suppress
from functools import partial

from starlette.types import ASGIApp

from agents.stages.assessor import Assessor
from streams import config
from streams.config import Settings, listed
from streams.edges.client import assessing, clients
from streams.edges.http import serve as listening
from streams.edges.http import tokens
from streams.edges.http.ask import ask_router
from streams.edges.http.assess import assess_router
from streams.edges.http.gate import LOOPBACK, AuthMiddleware
from streams.edges.http.openapi import HttpApi
from streams.edges.http.pending_replies import PendingReplies
from streams.edges.http.rate_limit import RateLimit
from streams.edges.http.request_reply import Exchange
from streams.runtime.health import Health, HealthServer
from streams.telemetry import metrics
from streams.telemetry.clock import SystemClock

MAX_BYTES_KEPT = 64_000_000
BEAT_S = 1.0


async def serve(settings: Settings, broker: str | None, host: str, port: int) -> None:
    """Serve until SIGINT or SIGTERM; raises `ConfigError`."""
    exchange = Exchange(
        partial(clients.bootstrap_of, broker), PendingReplies(settings.ask_most_waiting, MAX_BYTES_KEPT)
    )
    health = _Health(exchange)
    async with assessing.assessor_of(settings) as assessor:
        app = application(settings, exchange, assessor, host)
        assessing.warm()
        probes = HealthServer(health, settings.http_host, settings.http_port)
        probes.start()
        tasks = [asyncio.create_task(exchange.keep()), asyncio.create_task(health.beating())]
        try:
            await listening.serve(app, host, port, "/ask", exchange.stop, http=probes.address)
        finally:
            health.stopping = True
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            probes.stop()


def application(settings: Settings, exchange: Exchange, assessor: Assessor, host: str) -> ASGIApp:
    """The application behind `AuthMiddleware`; raises `ConfigError`."""
    return AuthMiddleware(
        api(settings, exchange, assessor),
        tokens.of_file(settings.ask_tokens_file, "ask_tokens_file"),
        RateLimit(settings.ask_calls_per_minute),
        origins=listed(settings.ask_origins),
        origins_setting="ask_origins",
        loopback=host in LOOPBACK,
    )


def api(settings: Settings, exchange: Exchange, assessor: Assessor) -> HttpApi:
    """The routes, which describe themselves."""
    made = HttpApi()
    made.include_router(ask_router(exchange, settings.ask_timeout_ms / 1000))
    made.include_router(assess_router(assessor, settings.limits()))
    return made


def document() -> dict[str, object]:
    """The OpenAPI document, of routes that nothing serves."""
    exchange = Exchange(partial(clients.bootstrap_of, None), PendingReplies(0, 0))
    return api(config.load({}), exchange, Assessor(SystemClock())).openapi()


class _Health(Health):
    """Alive while the event loop runs; ready while the broker is reachable too."""

    def __init__(self, exchange: Exchange) -> None:
        super().__init__(lambda: {"groups": {}, "broker": exchange.reachable, "waiting": exchange.waiting})
        self._exchange = exchange

    def ready(self) -> tuple[int, dict[str, object]]:
        status, said = super().ready()
        ok = status == 200 and self._exchange.reachable
        return (200 if ok else 503), {**said, "ready": ok}

    async def beating(self) -> None:
        """Report liveness once a second, until cancelled."""
        self.started = True
        while True:
            self.beat()
            metrics.ASK_WAITING.set(self._exchange.waiting)
            await asyncio.sleep(BEAT_S)
