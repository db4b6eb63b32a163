"""Traces on their way to a collector: batches over OTLP/HTTP, by OpenTelemetry's SDK, which is an optional extra."""

import logging
from collections.abc import Callable

from streams.config import ConfigError
from streams.telemetry import traces
from streams.version import version


def export_traces(url: str | None) -> Callable[[], None]:
    """Send the traces of this process to a collector at `url`, None: nowhere; returns what sends the rest and ends it.

    Raises `ConfigError` where the extra is not installed.
    """
    if url is None:
        return _nothing
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        from streams.telemetry.tracing import NextIds, StageTracer
    except ImportError as missing:
        raise ConfigError(
            f"FATHOM_OTLP_URL needs the extra otel ({missing.name} is missing): pip install 'fathom-context[otel]', "
            "or in a checkout pip install --require-hashes -r deploy/requirements/otel.txt"
        ) from missing
    ids = NextIds()
    resource = Resource.create({"service.name": "fathom", "service.version": version()})
    provider = TracerProvider(resource=resource, id_generator=ids, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=url)))
    # It says on every batch that a collector is away, with a traceback.
    logging.getLogger("opentelemetry").setLevel(logging.ERROR)
    traces.trace_with(StageTracer(provider.get_tracer("fathom", version()), ids))

    def end() -> None:
        traces.trace_with(None)
        provider.shutdown()

    return end


def _nothing() -> None:
    """Nothing was sent, so nothing is to end."""
