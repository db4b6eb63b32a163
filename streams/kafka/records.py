"""A record as received by a stage's runner, and its partition."""

from dataclasses import dataclass

from aiokafka import TopicPartition

__all__ = ["Record", "TopicPartition"]


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a source topic, in raw bytes; a None value is a tombstone.

    `timestamp` is the record's create time in milliseconds since the epoch.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]

    @property
    def tp(self) -> TopicPartition:
        """The partition the record was read from."""
        return TopicPartition(self.topic, self.partition)
