"""Health, metrics and the HTTP interface at one socket, from a thread and event loop of their own.

A stalled loop of the process is reported, then, instead of hanging the probe.

GET /health/live     200 while the loop moves; 503 when it has not for ten seconds, which only a restart mends
GET /health/ready    200 when every group reads and broker, stores and disk answer; 503 before, and with the reasons
GET /health/startup  200 once everything consumes
GET /metrics         Prometheus text format
"""

import asyncio
import socket
import sys
import threading
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol

import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from agents.ports.memories import RememberedReader
from streams.runtime.health import Health
from streams.telemetry import metrics
from streams.version import version
from streams.web_pages import PageGuard

METRICS = "/metrics"
UNGUARDED = ("/health/live", "/health/startup")
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
STOP_S = 5
HEAD_S = 10.0
SWITCH_S = 0.0005


class ServedApi(Protocol):
    """An HTTP interface to serve beside health and metrics."""

    def read_decisions(self, graph: RememberedReader) -> None:
        """Read decisions from this graph; called before it runs, in the event loop of the graph's reads."""

    def wait_reachable(self, seconds: float) -> bool:
        """Wait, in any thread, until a call would be taken; whether it would."""

    def running(self, bootstrap: str) -> AbstractAsyncContextManager[ASGIApp]:
        """The application, while it is connected to this broker; entered in the server's event loop."""

    def stop(self) -> None:
        """Refuse the callers that wait; called in the server's event loop."""


class HealthServer:
    """The server thread; `address` is that of the listener."""

    def __init__(self, health: Health, listener: socket.socket, names: Collection[str] = ()) -> None:
        """`names` are those by which a browser may call it, beside addresses and names of the inside."""
        self._listener = listener
        self._front = _Front(health, names)
        self._server = _ThreadedServer(server_config(self._front, lifespan="off"))
        self._api: tuple[ServedApi, str] | None = None
        self._thread = threading.Thread(target=self._run, name="http", daemon=True)

    @property
    def address(self) -> str:
        host, port = self._listener.getsockname()[:2]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def start(self, api: ServedApi | None = None, bootstrap: str = "") -> None:
        """Serve, also this interface, which finds its broker at `bootstrap`."""
        metrics.BUILD.labels(version()).set(1)
        self._api = None if api is None else (api, bootstrap)
        if api is not None:
            # Two event loops share the interpreter: a call takes it up many times, and after 5 ms each where the other
            # loop is busy.
            sys.setswitchinterval(SWITCH_S)
        self._thread.start()

    def stop(self) -> None:
        """End the thread; running calls have five seconds."""
        self._server.should_exit = True
        self._thread.join(STOP_S + 1)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        if self._api is None:
            await self._server.serve([self._listener])
            return
        serving = asyncio.create_task(self._server.serve([self._listener]))
        api, bootstrap = self._api
        async with api.running(bootstrap) as app:
            self._server.ending = api.stop
            self._front.api = app
            await serving


def server_config(app: ASGIApp, lifespan: Literal["auto", "off"] = "auto") -> uvicorn.Config:
    """How every HTTP server of ours runs: quiet, and patient with slow clients for a bounded time only."""
    return uvicorn.Config(
        app,
        http=ImpatientProtocol,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan=lifespan,
        timeout_graceful_shutdown=STOP_S,
    )


class ImpatientProtocol(H11Protocol):
    """Closes a connection whose next request line and headers do not come within `HEAD_S` seconds."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._late = self.loop.call_later(HEAD_S, transport.close)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        answering = self.cycle is not None and not self.cycle.response_complete
        if self._late is not None and answering:
            self._late.cancel()
            self._late = None
        elif self._late is None and not answering:
            self._late = self.loop.call_later(HEAD_S, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._late is not None:
            self._late.cancel()
        super().connection_lost(exc)


class _ThreadedServer(uvicorn.Server):
    """Calls `ending` before it waits for the calls that are under way."""

    ending: Callable[[], None] | None = None

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self.ending is not None:
            self.ending()
        await super().shutdown(sockets)


class _Front:
    """Health and metrics without a token, everything else by the interface, where there is one."""

    def __init__(self, health: Health, names: Collection[str]) -> None:
        self._probes = probes(health, names)
        self.api: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        own = scope["path"] == METRICS or scope["path"].startswith("/health/")
        await (self._probes if own or self.api is None else self.api)(scope, receive, send)


def probes(health: Health, names: Collection[str] = ()) -> ASGIApp:
    """The application of health and metrics; a foreign page learns no more than that the process lives."""
    known = {"/health/live": health.live, "/health/ready": health.ready, "/health/startup": health.startup}

    async def answer(request: Request) -> Response:
        status, said = known[request.url.path]()
        return JSONResponse(said, status)

    async def page(_: Request) -> Response:
        # Now, and here: the loop that sets the others may stand still.
        metrics.READY.set(health.ready()[0] == 200)
        return Response(metrics.metrics_page(), headers={"content-type": METRICS_TYPE})

    async def unknown(*_: object) -> Response:
        return JSONResponse({"error": f"known paths: {', '.join([*known, METRICS])}"}, 404)

    routes = [*(Route(path, answer) for path in known), Route(METRICS, page)]
    app = Starlette(routes=routes, exception_handlers={404: unknown})
    guarded = PageGuard(app, names)

    async def answered(scope: Scope, receive: Receive, send: Send) -> None:
        await (app if scope["path"] in UNGUARDED else guarded)(scope, receive, send)

    return answered
