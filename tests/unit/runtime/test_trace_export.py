"""The setting that sends traces to a collector: what is wrong with it is said, and what was made arrives there."""

import builtins
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from streams import config
from streams.config import ConfigError
from streams.telemetry import traces
from streams.telemetry.trace_export import export_traces
from streams.testing.pipeline import Pipeline


@pytest.fixture
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """A collector's URL, and the bodies that were sent to it."""
    bodies: list[bytes] = []

    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Nothing on stderr."""

    server = HTTPServer(("127.0.0.1", 0), Taking)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1/traces", bodies
    server.shutdown()
    thread.join()
    server.server_close()


def test_spans_arrive_at_the_collector_at_the_latest_at_the_end(collector: tuple[str, list[bytes]]):
    url, bodies = collector
    end = export_traces(url)
    with Pipeline() as fathom:
        fathom.ask("Qual é o prazo?")
    end()
    assert traces.active is None
    sent = b"".join(bodies)
    assert b"process messages.in" in sent
    assert b"send context-packs.out" in sent
    assert b"openinference.span.kind" in sent


def test_without_a_collector_nothing_is_told():
    end = export_traces(None)
    assert traces.active is None
    end()


@pytest.mark.parametrize("url", ["localhost:4318", "grpc://h:4317", "http://"])
def test_what_is_no_url_is_refused_with_an_example(url: str):
    with pytest.raises(ConfigError, match=r"FATHOM_OTLP_URL.*http://HOST:4318/v1/traces"):
        config.load({"FATHOM_OTLP_URL": url})


def test_a_url_of_a_collector_is_taken():
    assert config.load({"FATHOM_OTLP_URL": "https://collector/v1/traces"}).otlp_url == "https://collector/v1/traces"


def test_without_the_extra_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch):
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("opentelemetry.exporter"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ConfigError, match=r"pip install 'fathom-context\[otel\]'"):
        export_traces("http://127.0.0.1:4318/v1/traces")
