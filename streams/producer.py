"""One idempotent producer per process: every stage sends through it, and awaits the broker's acknowledgement."""

import asyncio
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError
from aiokafka.partitioner import murmur2

from agents.errors import Unavailable
from streams.kafka_security import PLAINTEXT, Security

MAX_REQUEST_BYTES = 4_000_000
COUNTS_LAST_S = 60.0
# One batch per partition is under way at a time; the default of 16 KB is full after a dozen records, and every further
# send of that partition then waits a round trip.
MAX_BATCH_BYTES = 1_000_000


class Sender(Protocol):
    async def send(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes]],
        partition: int | None = None,
    ) -> "asyncio.Future[object]":
        """Hand a record to the broker; the future is done when it is durable there.

        Raises `Unavailable`, as does the future a `KafkaError`.
        """


@lru_cache(maxsize=16_384)
def _hash(key: bytes) -> int:
    """As Java's clients do it. In Python it takes longer than the rest of a send; a conversation's key comes again."""
    return int(murmur2(key)) & 0x7FFF_FFFF


def partition_of(key: str, partitions: int) -> int:
    """Where a record of ours with this key lies."""
    return _hash(key.encode()) % partitions


class Producer:
    """`Sender` on aiokafka: acks=all, idempotent, no linger (it would add itself to each of four hops)."""

    def __init__(self, bootstrap: str, *, client_id: str = "fathom", security: Security = PLAINTEXT) -> None:
        self._producer = AIOKafkaProducer(
            bootstrap_servers=bootstrap,
            client_id=client_id,
            acks="all",
            enable_idempotence=True,
            linger_ms=0,
            max_batch_size=MAX_BATCH_BYTES,
            max_request_size=MAX_REQUEST_BYTES,
            request_timeout_ms=30_000,
            **security.client_options(),
        )

        self._counts: dict[str, tuple[int, float]] = {}

    async def _partitions(self, topic: str) -> int:
        """How many partitions a topic has; asked anew every minute, as some may have been added."""
        now = asyncio.get_running_loop().time()
        count, until = self._counts.get(topic, (0, 0.0))
        if until < now:
            count = len(await self._producer.partitions_for(topic))
            self._counts[topic] = count, now + COUNTS_LAST_S
        return count

    async def start(self) -> None:
        try:
            await self._producer.start()
        except KafkaError as error:
            raise Unavailable("broker", str(error)) from error

    async def stop(self) -> None:
        await self._producer.stop()

    async def send(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes]],
        partition: int | None = None,
    ) -> "asyncio.Future[object]":
        try:
            if partition is None and key is not None:
                partition = _hash(key) % await self._partitions(topic)
            sent: asyncio.Future[object] = await self._producer.send(
                topic, value, key=key, partition=partition, headers=list(headers)
            )
        except KafkaError as error:
            raise Unavailable("broker", str(error) or type(error).__name__) from error
        return sent
