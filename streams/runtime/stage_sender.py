"""The sending half of a stage: its events and its dead letters, again until the broker has them."""

import asyncio
import logging
import random
from collections.abc import Sequence

from aiokafka.errors import KafkaError

from agents.concurrency import waits
from agents.errors import Unavailable
from schemas import codec
from schemas.envelope import Outgoing
from streams.kafka.producer import Sender
from streams.kafka.records import Record
from streams.runtime.dead_letters import Failure, headers_of
from streams.stage import Stage
from streams.telemetry import metrics

LOGGER = logging.getLogger("fathom.stage")
FIRST_WAIT, MAX_BACKOFF_S = 0.05, 5.0


class StageSender:
    """Sends for one stage; returns once all is acknowledged."""

    def __init__(self, stage: Stage, sender: Sender) -> None:
        self._stage = stage
        self._sender = sender

    async def wait_for(self, unavailable: Unavailable, attempts: int) -> None:
        """Wait before the next attempt, longer after each."""
        waits()
        metrics.RETRIES.labels(self._stage.name, unavailable.what).inc()
        level = logging.WARNING if attempts == 1 else logging.DEBUG
        metrics.log(LOGGER, level, "stage.waits", stage=self._stage.name, what=unavailable.what, why=unavailable.detail)
        await asyncio.sleep(min(FIRST_WAIT * 2 ** min(attempts - 1, 10), MAX_BACKOFF_S) * random.uniform(0.7, 1.3))

    async def send_all(self, steps: Sequence[Outgoing]) -> None:
        """Send and await every acknowledgement, the ledger's last: its records are never made again."""
        ledger = self._stage.ledger
        await self.send_in_order([step for step in steps if step.topic is not ledger])
        await self.send_in_order([step for step in steps if step.topic is ledger])

    async def send_in_order(self, steps: Sequence[Outgoing], source: str | None = None) -> None:
        """Send and await every acknowledgement; on failure all are sent again, to keep the order."""
        if not steps:
            return
        encoded = [(step, *codec.encode(step, source or self._stage.name)) for step in steps]
        attempts = 0
        while True:
            attempts += 1
            try:
                sent = [
                    await self._sender.send(step.topic.name, key or None, value, headers, step.partition)
                    for step, key, value, headers in encoded
                ]
                for future in sent:
                    await future
                break
            except (Unavailable, KafkaError) as error:
                unavailable = error if isinstance(error, Unavailable) else Unavailable("broker", repr(error))
                await self.wait_for(unavailable, attempts)
        for step in steps:
            metrics.sent(step.event)

    async def dead_letter(self, record: Record, failure: Failure) -> None:
        """Set a record aside."""
        headers = headers_of(record, self._stage.name, failure)
        attempts = 0
        while True:
            attempts += 1
            try:
                await (await self._sender.send(self._stage.dead_letters, record.key, record.value, headers))
                break
            except (Unavailable, KafkaError) as error:
                unavailable = error if isinstance(error, Unavailable) else Unavailable("broker", repr(error))
                await self.wait_for(unavailable, attempts)
        metrics.DEAD_LETTERS.labels(self._stage.name, failure.code).inc()
