"""The registry of all metrics, and the buckets of durations."""

from prometheus_client import CollectorRegistry, ProcessCollector

REGISTRY = CollectorRegistry()
# `process_cpu_seconds_total`, `process_resident_memory_bytes` and so on, read at each scrape.
ProcessCollector(registry=REGISTRY)
SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
