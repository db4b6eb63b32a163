"""The idempotent producer of a process: every stage sends through it and awaits the broker's acknowledgement."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Protocol

from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.errors import (
    InvalidTopicError,
    KafkaError,
    MessageSizeTooLargeError,
    OutOfOrderSequenceNumber,
    ProducerFenced,
    RecordListTooLargeError,
    UnknownProducerId,
)
from aiokafka.partitioner import murmur2

from agents.core.caching.texts import text_cache
from agents.errors import Unavailable
from streams.config import Settings
from streams.kafka import clients
from streams.kafka.aiokafka_private import PendingBatches
from streams.kafka.security import PLAINTEXT, Security
from streams.telemetry import metrics

COUNTS_LAST_S = 60.0
EMBEDDED = "embedded://"
STOP_LIMIT_S = 5.0
LOGGER = logging.getLogger("fathom.producer")
# The broker's sequence numbers differ from ours: aiokafka would fail every further send to the partition.
OUT_OF_STEP = (OutOfOrderSequenceNumber, UnknownProducerId, ProducerFenced)


class NotSendable(Exception):
    """A record that the client itself does not take; the text says why."""


# What is refused for its size, its form or its topic's name is refused each time; everything else may be mended.
NEVER_TAKEN = (MessageSizeTooLargeError, RecordListTooLargeError, InvalidTopicError, NotSendable)


class StoredAt(Protocol):
    """Where the broker has stored a record; `timestamp` in ms since the epoch, `offset` below zero if it is untold."""

    @property
    def partition(self) -> int: ...

    @property
    def offset(self) -> int: ...

    @property
    def timestamp(self) -> int: ...


class Sender(Protocol):
    async def send(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes]],
        partition: int | None = None,
    ) -> "asyncio.Future[StoredAt]":
        """Hand a record to the producer; the future is done when the broker has stored it.

        Raises `Unavailable`, or one of `NEVER_TAKEN`; the future raises a `KafkaError`.
        """


@text_cache(16_384, "record_keys")
def _hash(key: bytes) -> int:
    """The hash of Java's clients. In Python it takes longer than the rest of a send, hence the cache of keys."""
    return int(murmur2(key)) & 0x7FFF_FFFF


def codec_of(settings: Settings) -> str | None:
    """The codec of what a worker sends; without a setting one only where no worker of version 0.1 reads it, too."""
    default = "zstd" if settings.broker.startswith(EMBEDDED) else "none"
    codec = settings.compression or default
    return None if codec == "none" else codec


def partition_of(key: str, partitions: int) -> int:
    """The partition of a record of ours with this key."""
    return _hash(key.encode()) % partitions


class Producer:
    """`Sender` on aiokafka: acks=all, idempotent, no linger (it would add itself to each of four hops).

    Accepted records are sent until the broker has them, however long a partition is without a leader. A broker that has
    lost acknowledged records gets a new producer.
    """

    def __init__(
        self,
        bootstrap: str,
        *,
        client_id: str = "fathom",
        security: Security = PLAINTEXT,
        compression: str | None = None,
    ) -> None:
        self._bootstrap = bootstrap
        self._compression = compression
        self._client_id = client_id
        self._security = security
        self._producer, self._pending = self._made()
        self._broken: AIOKafkaProducer | None = None
        self._renewing = asyncio.Lock()
        self._ending: set[asyncio.Task[None]] = set()
        self._counts: dict[str, tuple[int, float]] = {}

    def _made(self) -> tuple[AIOKafkaProducer, PendingBatches]:
        producer = clients.new_producer(
            self._bootstrap,
            self._security,
            client_id=self._client_id,
            linger_ms=0,
            max_batch_size=clients.MAX_BATCH_BYTES,
            request_timeout_ms=30_000,
            compression_type=self._compression,
        )
        return producer, PendingBatches(producer)

    def give_up(self, topic: str, partitions: Iterable[int]) -> None:
        """Stop sending accepted records of these partitions: their new owner sends them now.

        Requests already in flight may still arrive.
        """
        self._pending.give_up({TopicPartition(topic, partition) for partition in partitions})

    async def _partitions(self, topic: str) -> int:
        """The partition count of a topic; refreshed every minute, since partitions may be added."""
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
        """Send pending records for a few seconds: without a broker it would take for ever."""
        stopping = {asyncio.ensure_future(self._producer.stop()), *self._ending}
        _, late = await asyncio.wait(stopping, timeout=STOP_LIMIT_S)
        if late:
            metrics.log(LOGGER, logging.WARNING, "producer.cut", why="no broker took what was under way in time")
            await self._producer.client.close()
            for each in late:
                each.cancel()

    async def send(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes]],
        partition: int | None = None,
    ) -> "asyncio.Future[StoredAt]":
        try:
            if self._broken is not None:
                await self._renew()
            if partition is None and key is not None:
                partition = _hash(key) % await self._partitions(topic)
            sent: asyncio.Future[StoredAt] = await self._producer.send(
                topic, value, key=key, partition=partition, headers=list(headers)
            )
        except NEVER_TAKEN:
            raise
        except (AssertionError, TypeError, ValueError) as error:
            raise NotSendable(str(error) or type(error).__name__) from error
        except KafkaError as error:
            raise Unavailable("broker", str(error) or type(error).__name__) from error
        sent.add_done_callback(partial(self._look, self._producer))
        return sent

    def _look(self, producer: AIOKafkaProducer, sent: "asyncio.Future[StoredAt]") -> None:
        if not sent.cancelled() and isinstance(sent.exception(), OUT_OF_STEP) and producer is self._producer:
            self._broken = producer

    async def _renew(self) -> None:
        """Replace the producer by one with new sequence numbers; the old one ends by itself."""
        async with self._renewing:
            if self._broken is None:
                return
            metrics.log(LOGGER, logging.WARNING, "producer.renewed", why="the broker lost count of what was sent")
            fresh, pending = self._made()
            try:
                await fresh.start()
            except KafkaError:
                await fresh.stop()
                raise
            # Their senders send them again: sent by both, an earlier record could follow a later one.
            self._pending.give_up_all()
            ending = asyncio.create_task(self._producer.stop())
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)
            self._producer, self._pending, self._broken = fresh, pending, None
