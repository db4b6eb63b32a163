"""The application of `fathom serve`: `/ask`, `/assess` and `/openapi.json`, behind bearer tokens."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from agents.stages.assessor import Assessor
from streams.config import Settings, listed
from streams.edges.client import assessing, clients
from streams.edges.http import openapi, tokens
from streams.edges.http import serve as listening
from streams.edges.http.ask import AskEndpoint
from streams.edges.http.assess import AssessEndpoint
from streams.edges.http.gate import LOOPBACK, AuthMiddleware
from streams.edges.http.pending_replies import PendingReplies
from streams.edges.http.problems import Problem
from streams.edges.http.rate_limit import RateLimit
from streams.edges.http.request_reply import Exchange
from streams.runtime.health import Health, HealthServer
from streams.telemetry import metrics
from streams.version import version

MAX_BYTES_KEPT = 64_000_000
BEAT_S = 1.0


async def serve(settings: Settings, broker: str | None, host: str, port: int) -> None:
    """Serve until SIGINT or SIGTERM; raises `ConfigError`."""
    exchange = Exchange(_finder(broker), PendingReplies(settings.ask_most_waiting, MAX_BYTES_KEPT))
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
    routes = [
        Route("/ask", AskEndpoint(exchange, settings.ask_timeout_ms / 1000).handle, methods=["POST"]),
        Route("/assess", AssessEndpoint(assessor, settings.limits()).handle, methods=["POST"]),
        Route("/openapi.json", _description, methods=["GET"]),
    ]
    return AuthMiddleware(
        Starlette(routes=routes, exception_handlers={HTTPException: _refusal}),
        tokens.of_file(settings.ask_tokens_file, "ask_tokens_file"),
        RateLimit(settings.ask_calls_per_minute),
        origins=listed(settings.ask_origins),
        origins_setting="ask_origins",
        loopback=host in LOOPBACK,
    )


class _Health(Health):
    """Alive while the event loop runs; ready while the broker is reachable too."""

    def __init__(self, exchange: Exchange) -> None:
        super().__init__(lambda: {"groups": {}, "broker": exchange.reachable, "waiting": exchange.waiting})
        self._exchange = exchange

    def ready(self) -> tuple[int, dict[str, Any]]:
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


async def _description(_: Request) -> Response:
    return JSONResponse(openapi.document(version()))


async def _refusal(_: Request, error: Exception) -> Response:
    """Refusals of the routes and of the router as problem details."""
    if isinstance(error, Problem):
        return error.response()
    assert isinstance(error, HTTPException)
    said = {404: f"there is no such path; there are {', '.join(openapi.PATHS)}", 405: "use the method that Allow names"}
    detail = said.get(error.status_code, error.detail)
    return Problem(error.status_code, detail, **(dict(error.headers) if error.headers else {})).response()


def _finder(broker: str | None) -> Callable[[], str]:
    """The broker's address, looked up at each attempt: Fathom may start after this server."""
    return lambda: clients.bootstrap_of(broker)
