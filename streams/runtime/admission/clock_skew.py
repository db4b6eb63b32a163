"""Hosts whose clocks are ahead of ours, seen by the timestamps of their records: counted, and told once a minute.

Deadlines are times of the day. To a host whose clock is ahead by more than one, every plan has come too late.
"""

import logging
import time

from prometheus_client import Counter

from streams.kafka.records import Record
from streams.telemetry import metrics
from streams.telemetry.registry import REGISTRY

LOGGER = logging.getLogger("fathom.clock")
FROM_THE_FUTURE = Counter(
    "fathom_records_from_the_future_total",
    "Records whose timestamps are more than half a second ahead of this host's clock",
    ("topic",),
    registry=REGISTRY,
)
TOLERATED_S = 0.5
TOLD_EVERY_S = 60.0


class ClockSkew:
    """What the records of a group say of the clocks of those who wrote them."""

    def __init__(self) -> None:
        self._told_at = -TOLD_EVERY_S

    def look(self, record: Record) -> None:
        """Count a record from the future, and warn where nobody was warned for a minute."""
        ahead = record.timestamp / 1000 - time.time()
        if ahead <= TOLERATED_S:
            return
        FROM_THE_FUTURE.labels(record.topic).inc()
        now = time.monotonic()
        if now - self._told_at < TOLD_EVERY_S:
            return
        self._told_at = now
        metrics.log(
            LOGGER, logging.WARNING, "clock.ahead",
            topic=record.topic, partition=record.partition, offset=record.offset, seconds=round(ahead, 3),
            why="the clock of who wrote it is ahead of this one, or this one is behind",
            next="synchronise the clocks of all hosts (NTP): workers that differ by more than a deadline find nothing",
        )  # fmt: skip
