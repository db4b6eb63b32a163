"""Records of producers outside that are refused: counted, and told once a minute for each tenant, with their number.

They stop no stage: what one producer sends must not take the others' packs away.
"""

import logging
from time import monotonic

from schemas.envelope import header_map
from streams.kafka.records import Record
from streams.runtime.dead_letters import Failure
from streams.telemetry import metrics

LOGGER = logging.getLogger("fathom.stage")
TOLD_EVERY_S = 60.0
# Tenants that are told of one by one: the name is the producer's.
MAX_TENANTS, MAX_NAME_CHARS = 100, 64
OTHERS, UNKNOWN = "(others)", "(none)"


class Refusals:
    """The refused records of a stage."""

    def __init__(self, stage: str) -> None:
        self._stage = stage
        self._told: dict[str, tuple[float, int]] = {}

    def note(self, record: Record, failure: Failure) -> None:
        """Count a record, and warn where its tenant was not warned of for a minute."""
        metrics.REFUSED.labels(self._stage).inc()
        tenant = header_map(record.headers).get("tenant") or UNKNOWN
        if len(tenant) > MAX_NAME_CHARS or (tenant not in self._told and len(self._told) >= MAX_TENANTS):
            tenant = OTHERS
        now = monotonic()
        told_at, silent = self._told.get(tenant, (now - TOLD_EVERY_S, 0))
        if now - told_at < TOLD_EVERY_S:
            self._told[tenant] = told_at, silent + 1
            return
        self._told[tenant] = now, 0
        metrics.log(
            LOGGER, logging.WARNING, "stage.refused",
            stage=self._stage, tenant=tenant, topic=record.topic, partition=record.partition, offset=record.offset,
            why=f"{failure.code}: {failure.detail}", since_last=silent + 1,
            next=f"the record is in the stage's dead letters; mend what tenant {tenant} sends to {record.topic}",
        )  # fmt: skip
