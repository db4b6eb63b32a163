"""One idempotent producer per process: every stage sends through it, and awaits the broker's acknowledgement."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from agents.errors import Unavailable

MAX_REQUEST_BYTES = 4_000_000
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


class Producer:
    """`Sender` on aiokafka: acks=all, idempotent, no linger (it would add itself to each of four hops)."""

    def __init__(self, bootstrap: str, *, client_id: str = "fathom") -> None:
        self._producer = AIOKafkaProducer(
            bootstrap_servers=bootstrap,
            client_id=client_id,
            acks="all",
            enable_idempotence=True,
            linger_ms=0,
            max_batch_size=MAX_BATCH_BYTES,
            max_request_size=MAX_REQUEST_BYTES,
            request_timeout_ms=30_000,
        )

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
            sent: asyncio.Future[object] = await self._producer.send(
                topic, value, key=key, partition=partition, headers=list(headers)
            )
        except KafkaError as error:
            raise Unavailable("broker", str(error) or type(error).__name__) from error
        return sent
