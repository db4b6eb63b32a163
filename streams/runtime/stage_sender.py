"""The sending half of a stage: its events and its dead letters, again until the broker has them."""

import asyncio
import itertools
import logging
import random
from collections.abc import Callable, Mapping, Sequence
from time import monotonic

from aiokafka.errors import KafkaError

from agents.concurrency import waits
from agents.errors import Rejected, Unavailable
from schemas import codec
from schemas.base import Event
from schemas.envelope import Outgoing, Received
from streams.kafka.producer import NEVER_TAKEN, Sender, StoredAt
from streams.kafka.records import Record
from streams.runtime.admission import repartition
from streams.runtime.dead_letters import Failure, Headers, forms_of, headers_of
from streams.stage import Stage
from streams.telemetry import metrics

LOGGER = logging.getLogger("fathom.stage")
FIRST_WAIT, MAX_BACKOFF_S = 0.05, 5.0
# A stage that goes on waiting says so again.
TOLD_EVERY_S, MIN_TOLD_EVERY_S = 60.0, 1.0
Send = tuple[str, bytes | None, bytes | None, Headers, int | None]
_UNTOLD = itertools.count(1)


class StageSender:
    """Sends for one stage; returns once all is acknowledged."""

    def __init__(self, stage: Stage, sender: Sender) -> None:
        self._stage = stage
        self._sender = sender
        self._told_at = -TOLD_EVERY_S
        self._moved_at = -TOLD_EVERY_S

    async def wait_for(self, unavailable: Unavailable, attempts: int) -> None:
        """Wait before the next attempt, longer after each."""
        waits()
        metrics.RETRIES.labels(self._stage.name, unavailable.what).inc()
        now = monotonic()
        # Dead letters wait side by side: not each of them says so.
        loud = now - self._told_at >= (MIN_TOLD_EVERY_S if attempts == 1 else TOLD_EVERY_S)
        self._told_at = now if loud else self._told_at
        metrics.log(
            LOGGER, logging.WARNING if loud else logging.DEBUG, "stage.waits",
            stage=self._stage.name, what=unavailable.what, why=unavailable.detail, attempts=attempts,
        )  # fmt: skip
        await asyncio.sleep(min(FIRST_WAIT * 2 ** min(attempts - 1, 10), MAX_BACKOFF_S) * random.uniform(0.7, 1.3))

    async def send_all(
        self, steps: Sequence[Outgoing], stored: Callable[[Outgoing, Record], None] | None = None
    ) -> Mapping[int, Failure]:
        """Send and await every acknowledgement, the ledger's last: its records are never made again.

        Returns, by `id` of the step, why the broker takes some of them never; all others are sent, and `stored` is
        told of each with its record.
        """
        ledger, refused = self._stage.ledger, dict[int, Failure]()
        for group in ([s for s in steps if s.topic is not ledger], [s for s in steps if s.topic is ledger]):
            try:
                records = await self.send_in_order(group)
                for step, record in zip(group, records if stored else (), strict=bool(stored)):
                    assert stored is not None
                    stored(step, record)
            except Rejected as error:
                if len(group) == 1:
                    refused[id(group[0])] = Failure(error.code, error.detail, type(error).__name__)
                    continue
                for step in group:
                    refused |= await self.send_all((step,), stored)
        return refused

    async def send_in_order(self, steps: Sequence[Outgoing]) -> list[Record]:
        """Send and await every acknowledgement; on failure the first that failed and those after it go again.

        Raises `Rejected` where one of them can never be sent.
        """
        if not steps:
            return []
        encoded = [
            (step.topic.name, key or None, value, headers, step.partition)
            for step in steps
            for key, value, headers in (codec.encode(step, self._stage.name),)
        ]
        try:
            places = await self._until_stored(*encoded)
        except NEVER_TAKEN as refused:
            told = ", ".join(f"{len(value or b''):,} bytes to {topic}" for topic, _, value, *_ in encoded)
            raise Rejected("not_sendable", f"{told}: {_said(refused)}") from refused
        for step in steps:
            metrics.sent(step.event)
        return [_stored(sent, place) for sent, place in zip(encoded, places, strict=True)]

    async def move(self, record: Record, received: Received[Event], key: str, partition: int) -> None:
        """Write a record again under the key and in the partition of its conversation."""
        headers = repartition.headers_of(record, received)
        try:
            await self._until_stored((record.topic, key.encode(), record.value, headers, partition))
        except NEVER_TAKEN as refused:
            raise Rejected("not_sendable", f"it belongs into partition {partition}: {_said(refused)}") from refused
        repartition.REPARTITIONED.labels(record.topic).inc()
        now = monotonic()
        if now - self._moved_at < TOLD_EVERY_S:
            return
        self._moved_at = now
        metrics.log(
            LOGGER, logging.WARNING, "record.repartitioned",
            topic=record.topic, partition=record.partition, offset=record.offset, to_partition=partition,
            why="the record is not in the partition of its conversation; Fathom wrote it again there, and others, too",
            next="have its producer write the documented key and partition by murmur2 (partitioner=murmur2_random)",
        )  # fmt: skip

    async def dead_letter(self, record: Record, failure: Failure) -> None:
        """Set a record aside; without its value, where the broker takes no letter as large."""
        for key, value, headers in forms_of(record, headers_of(record, self._stage.name, failure)):
            try:
                await self._until_stored((self._stage.dead_letters, key, value, headers, None))
                break
            except NEVER_TAKEN as refused:
                metrics.log(
                    LOGGER, logging.WARNING, "dead_letter.cut",
                    stage=self._stage.name, topic=record.topic, partition=record.partition, offset=record.offset,
                    why=f"the broker does not take it with all of its original: {_said(refused)}",
                )  # fmt: skip
        metrics.DEAD_LETTERS.labels(self._stage.name, failure.code).inc()

    async def _until_stored(self, *sends: Send) -> list[StoredAt]:
        """Send these in order, again until the broker has them all; raises what of `NEVER_TAKEN` one of them gets."""
        attempts, places = 0, list[StoredAt]()
        while True:
            attempts += 1
            under_way: list[asyncio.Future[StoredAt]] = []
            failed: BaseException | None = None
            try:
                for each in sends:
                    under_way += (await self._sender.send(*each),)
            except (Unavailable, KafkaError, *NEVER_TAKEN) as error:
                failed = error
            # Until all have ended: one that is sent again while it is under way may arrive before an earlier one.
            results = await asyncio.gather(*under_way, return_exceptions=True)
            first, found = next(((n, r) for n, r in enumerate(results) if isinstance(r, BaseException)), (0, None))
            failed = found or failed
            there = results[:first] if found else results
            places += [place for place in there if not isinstance(place, BaseException)]
            if failed is None:
                return places
            if not isinstance(failed, Unavailable | KafkaError) or isinstance(failed, NEVER_TAKEN):
                raise failed
            sends = sends[first if found else len(results) :]
            unavailable = failed if isinstance(failed, Unavailable) else Unavailable("broker", repr(failed))
            await self.wait_for(unavailable, attempts)


def _stored(sent: Send, place: StoredAt) -> Record:
    """A sent record as it is read; one whose offset the broker does not tell has one of its own below zero."""
    topic, key, value, headers, _ = sent
    offset = place.offset if place.offset >= 0 else -next(_UNTOLD)
    return Record(topic, place.partition, offset, place.timestamp, key, value, tuple(headers))


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__
