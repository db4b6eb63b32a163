"""The quarantines of all tenants in this process: `memory.quarantines` read from its beginning, and followed.

Every process has the whole, as of a global table of Kafka Streams; a stage is started when it has been read once.
"""

import asyncio
import logging
from collections.abc import Iterable

from aiokafka import ConsumerRecord
from aiokafka.errors import KafkaError

from agents.core.quarantine.sources import Quarantines
from agents.errors import Unavailable
from schemas import codec
from schemas.codec import Undecodable
from schemas.topics import MEMORY_QUARANTINES
from streams.kafka import clients, topics_admin
from streams.kafka.aiokafka_private import fetch_patiently
from streams.kafka.broker_diagnosis import BrokerRejected
from streams.kafka.log_reader import batches, bounds
from streams.kafka.security import PLAINTEXT, Security
from streams.telemetry import metrics

LOGGER = logging.getLogger("fathom.quarantines")
WAIT_MS, POLL_MS = 500, 3_000
RETRY_S = 0.5


class QuarantineFollower:
    """Keeps `Quarantines` as the log has them; where the broker is away, what was known goes on to hold."""

    def __init__(self, quarantines: Quarantines, bootstrap: str, security: Security = PLAINTEXT) -> None:
        self._quarantines = quarantines
        self._bootstrap = bootstrap
        self._security = security
        self._read = asyncio.Event()

    async def start(self) -> asyncio.Task[None]:
        """Follow the log from now on, once all of it has been read; raises `KafkaError` where it may not be read."""
        following = asyncio.create_task(self._go_on())
        reading = asyncio.create_task(self._read.wait())
        await asyncio.wait((following, reading), return_when=asyncio.FIRST_COMPLETED)
        reading.cancel()
        if following.done():
            await following
        return following

    async def _go_on(self) -> None:
        """Follow until cancelled; after an error the log is read anew, and what was known holds until then."""
        while True:
            try:
                await self._follow()
            except (KafkaError, Unavailable, BrokerRejected) as error:
                for_good = isinstance(error, BrokerRejected) or (isinstance(error, KafkaError) and not error.retriable)
                if not self._read.is_set() and for_good:
                    raise
                metrics.log(LOGGER, logging.WARNING, "quarantines.unread", why=str(error) or type(error).__name__)
            await asyncio.sleep(RETRY_S)

    async def _follow(self) -> None:
        counts = await topics_admin.existing(self._bootstrap, self._security)
        consumer = clients.new_consumer(self._bootstrap, self._security, fetch_max_wait_ms=WAIT_MS)
        try:
            await consumer.start()
            fetch_patiently(consumer)
            fresh = Quarantines()
            ranges = await bounds(consumer, MEMORY_QUARANTINES.name, range(counts.get(MEMORY_QUARANTINES.name, 0)))
            async for batch in batches(consumer, ranges):
                _fold(batch, fresh)
            self._quarantines.replace(fresh)
            self._read.set()
            consumer.assign(list(ranges))
            for tp, (_, end) in ranges.items():
                consumer.seek(tp, end)
            while ranges:
                for batch in (await consumer.getmany(timeout_ms=POLL_MS)).values():
                    _fold(batch, self._quarantines)
        finally:
            await consumer.stop()


def _fold(records: Iterable[ConsumerRecord], quarantines: Quarantines) -> None:
    """Fold records of one partition, which has all of a source; unreadable ones are an outsider's, without effect."""
    for record in records:
        try:
            quarantines.apply(codec.decode_record(MEMORY_QUARANTINES, record))
        except Undecodable:
            continue
