"""Clients of Kafka that encrypt what they send and decrypt what they read; keys, partitions and offsets stay."""

from collections.abc import Mapping, Sequence
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition

from streams.encryption.records import RecordEncryption

Found = Mapping[TopicPartition, Sequence[ConsumerRecord]]


class EncryptingProducer(AIOKafkaProducer):  # type: ignore[misc]
    """A producer whose values are encrypted under the keys of their subjects."""

    encryption: RecordEncryption

    async def send(
        self,
        topic: str,
        value: bytes | None = None,
        key: bytes | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: Sequence[tuple[str, bytes]] | None = None,
    ) -> Any:
        """As of the base; raises `Unavailable` where the key store does not answer."""
        value, headers = await self.encryption.encrypted(topic, key, value, headers or ())
        return await super().send(topic, value, key, partition, timestamp_ms, list(headers))


class DecryptingConsumer(AIOKafkaConsumer):  # type: ignore[misc]
    """A consumer that returns values in plain, and `ERASED` for those whose key is destroyed."""

    encryption: RecordEncryption

    async def getmany(self, *partitions: TopicPartition, **how: Any) -> dict[TopicPartition, list[ConsumerRecord]]:
        """As of the base; raises `Unavailable` where the key store does not answer: the next call has the same."""
        return await self.decrypted(await super().getmany(*partitions, **how))

    async def decrypted(self, found: Found) -> dict[TopicPartition, list[ConsumerRecord]]:
        """Fetched records in plain; where that fails they are fetched again."""
        try:
            return await self.encryption.decrypted(found)
        except BaseException:
            for tp, records in found.items():
                if records and tp in self.assignment():
                    self.seek(tp, records[0].offset)
            raise
