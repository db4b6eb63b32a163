"""The registry of all metrics, the buckets of durations, and what the process itself takes, read at each scrape."""

from functools import partial

from prometheus_client import CollectorRegistry, Gauge, ProcessCollector

from agents.core.caching.budget import SHARES, share_of

REGISTRY = CollectorRegistry()
# `process_cpu_seconds_total`, `process_resident_memory_bytes` and so on.
ProcessCollector(registry=REGISTRY)
SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)

_CACHES = (
    Gauge("fathom_cache_bytes", "What a cache takes of memory, about", ("cache",), registry=REGISTRY),
    Gauge(
        "fathom_cache_allowed_bytes",
        "What a cache may take, by FATHOM_CACHE_MB",
        ("cache",),
        registry=REGISTRY,
    ),
)
for _gauge, _field in zip(_CACHES, ("used", "allowed"), strict=True):
    for _name in SHARES:
        _gauge.labels(_name).set_function(partial(getattr, share_of(_name), _field))
