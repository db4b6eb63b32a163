"""The HTTP interface as a process serves it: connected to its broker, beside a worker or on its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import cache, partial

from starlette.types import ASGIApp

from agents.ports.memories import RememberedReader
from streams.config import Settings
from streams.edges.canary.probes import keep_probing
from streams.edges.client import assessing, clients
from streams.edges.console.address import PATH
from streams.edges.console.pages import WithConsole
from streams.edges.http import serve as listen
from streams.edges.http import tokens
from streams.edges.http.app.api import application, document
from streams.edges.http.events.progress_tail import ProgressTail
from streams.edges.http.pending_replies import PendingReplies
from streams.edges.http.reference import page_of
from streams.edges.http.request_reply import Exchange
from streams.edges.http.tokens import Tokens
from streams.kafka.security import security_of
from streams.listening import listening
from streams.runtime import data_dir
from streams.runtime.decision_source import in_other_loop, of_server
from streams.runtime.health import Health, ProcessState
from streams.runtime.health_server import HealthServer
from streams.runtime.store_watch import Check, StoreWatch, answered, broker_probe
from streams.telemetry import metrics
from streams.web_pages import names_of

BEAT_S = 1.0


@cache
def reference() -> str:
    """The page that describes the interface."""
    return page_of(document())


class ApiFront:
    """The application for these tokens, and its connection to a broker."""

    def __init__(self, settings: Settings, allowed: Tokens, host: str) -> None:
        self._settings = settings
        self._allowed = allowed
        self._host = host
        self._broker: str | None = None
        self._decisions: RememberedReader | None = None
        home = data_dir.home_of(settings.broker)
        waiting = PendingReplies(settings.ask_most_waiting)
        self.exchange = Exchange(
            self._bootstrap,
            waiting,
            (lambda: None) if home is None else partial(data_dir.full, home),
        )
        self._tail = ProgressTail(self._bootstrap, settings.cognition())

    def stop(self) -> None:
        """Refuse the callers that wait, and end the streams."""
        self.exchange.stop()
        self._tail.stop()

    def read_decisions(self, graph: RememberedReader) -> None:
        """Read decisions from this graph, whose reads run in the event loop of the caller."""
        self._decisions = in_other_loop(graph, asyncio.get_running_loop())

    def wait_reachable(self, seconds: float) -> bool:
        """Wait, in any thread, until a call would be taken; whether it would."""
        return self.exchange.connected.wait(seconds)

    @asynccontextmanager
    async def running(self, broker: str | None) -> AsyncIterator[ASGIApp]:
        """The application and the console, while it is connected to this broker or to that of the settings."""
        self._broker = broker
        if self._decisions is None:
            self._decisions = of_server(self._settings)
        async with assessing.assessor_of(self._settings) as assessor:
            app = application(
                self._settings, self.exchange, self._tail, assessor, self._allowed, self._host, lambda: self._decisions
            )
            assessing.warm()
            works = [self.exchange.keep(), self._tail.keep(), self._measuring()]
            if self._settings.canary_every_s:
                works.append(keep_probing(self._bootstrap, self._settings.canary_every_s))
            tasks = [asyncio.create_task(work) for work in works]
            try:
                yield WithConsole(app, reference, names_of(self._settings))
            finally:
                for task in tasks:
                    task.cancel()
                    with suppress(asyncio.CancelledError):
                        await task

    def _bootstrap(self) -> str:
        return clients.bootstrap_of(self._broker)

    async def _measuring(self) -> None:
        while True:
            metrics.ASK_WAITING.set(self.exchange.waiting)
            await asyncio.sleep(BEAT_S)


async def serve(settings: Settings, broker: str | None, host: str, port: int) -> None:
    """Serve until SIGINT or SIGTERM; raises `ConfigError`."""
    front = ApiFront(settings, tokens.of_file(settings.ask_tokens_file, "ask_tokens_file"), host)
    probe = broker_probe(front.exchange.bootstrap, settings)
    checks: dict[str, Check] = {"broker": partial(answered, probe)}
    if (encryption := security_of(settings).encryption) is not None:
        checks["keys"] = encryption.store.ping
    watch = StoreWatch(checks)
    health = _Health(front.exchange, watch)
    with listening(settings.http_host, settings.http_port, "FATHOM_HTTP_HOST", "FATHOM_HTTP_PORT") as listener:
        async with front.running(broker) as app:
            probes = HealthServer(health, listener, names_of(settings))
            probes.start()
            tasks = [asyncio.create_task(work) for work in (health.beating(), watch.run())]
            try:
                await listen.serve(app, host, port, "/ask", front.stop, {"console": PATH}, http=probes.address)
            finally:
                health.stopping = True
                for task in tasks:
                    task.cancel()
                probe.close()
                probes.stop()


class _Health(Health):
    """Alive while the event loop runs; ready while the broker is connected and answers."""

    def __init__(self, exchange: Exchange, watch: StoreWatch) -> None:
        def describe() -> ProcessState:
            away = [*watch.away().values()] or ([] if exchange.reachable else ["the broker is not connected"])
            return {"groups": {}, "broker": not away, "waiting": exchange.waiting, "away": away}

        super().__init__(describe)

    async def beating(self) -> None:
        """Report liveness once a second, until cancelled."""
        self.started = True
        while True:
            self.beat()
            await asyncio.sleep(BEAT_S)
