"""Health and metrics over HTTP, from their own thread, so that a stalled event loop is reported and not the probe hung.

GET /health/live     200 while the loop moves and every group reads; 503 when it has stalled
GET /health/ready    200 when every group has its partitions; 503 before, and when one has failed; stores by name
GET /health/startup  200 once everything consumes
GET /metrics         Prometheus text format
"""

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NotRequired, TypedDict

from streams.telemetry import metrics
from streams.version import version

LOOP_STALL_S = 10.0


class GroupState(TypedDict):
    """Whether a consumer group reads, and how many partitions it has."""

    healthy: bool
    partitions: int


class ProcessState(TypedDict):
    """Consumer groups by name, and further states of the process; a store is `ok` or has its error."""

    groups: dict[str, GroupState]
    stores: NotRequired[dict[str, str]]
    broker: NotRequired[bool]
    waiting: NotRequired[int]


class Health:
    """The health of this process; written by the event loop, read by the server thread."""

    def __init__(self, describe: Callable[[], ProcessState]) -> None:
        self._describe = describe
        self._beat = time.monotonic()
        self.started = False
        self.stopping = False

    def beat(self) -> None:
        """Record that the loop runs; called about every second."""
        self._beat = time.monotonic()

    def loop_lag(self) -> float:
        """Seconds since the last beat of the loop."""
        return time.monotonic() - self._beat

    def live(self) -> tuple[int, dict[str, object]]:
        lag = self.loop_lag()
        known = self._describe()
        stalled = [name for name, group in known["groups"].items() if self.started and not group["healthy"]]
        ok = lag < LOOP_STALL_S and not stalled
        return 200 if ok else 503, {"live": ok, "loop_lag_s": round(lag, 3), "stalled_groups": stalled}

    def ready(self) -> tuple[int, dict[str, object]]:
        status, _ = self.live()
        known = self._describe()
        ok = status == 200 and self.started and not self.stopping
        return 200 if ok else 503, {"ready": ok, **known}

    def startup(self) -> tuple[int, dict[str, object]]:
        return 200 if self.started else 503, {"started": self.started}


class HealthServer:
    """The server thread; `address` is known after `start`."""

    def __init__(self, health: Health, host: str, port: int) -> None:
        self._server = ThreadingHTTPServer((host, port), _handler(health))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, name="health", daemon=True)

    @property
    def address(self) -> str:
        host, port = self._server.server_address[:2]
        return f"{host!s}:{port}"

    def start(self) -> None:
        metrics.BUILD.labels(version()).set(1)
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(health: Health) -> type[BaseHTTPRequestHandler]:
    routes: dict[str, Callable[[], tuple[int, dict[str, object]]]] = {
        "/health/live": health.live,
        "/health/ready": health.ready,
        "/health/startup": health.startup,
    }

    class HealthRequestHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.split("?")[0]
            if path == "/metrics":
                self._answer(200, "text/plain; version=0.0.4; charset=utf-8", metrics.metrics_page())
            elif path in routes:
                status, body = routes[path]()
                self._answer(status, "application/json", json.dumps(body).encode())
            else:
                known = ", ".join([*routes, "/metrics"])
                self._answer(404, "application/json", json.dumps({"error": f"known paths: {known}"}).encode())

        def _answer(self, status: int, content_type: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", content_type)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Do not log probes, which come every few seconds."""

    return HealthRequestHandler
