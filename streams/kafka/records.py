"""A record as received by a stage's runner, its partition, and whether a raw one may name an id."""

import re
from dataclasses import dataclass

from aiokafka import TopicPartition

from schemas.codec import Written

__all__ = ["Record", "TopicPartition"]

# Such an id is written in one way only, in JSON too, so that its bytes can be looked for.
PLAIN = re.compile(r"[\w.:-]+", re.ASCII)


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


def may_name(record: Written, name: str) -> bool:
    """Whether a raw record may hold an id, at a fiftieth of what decoding costs; true for ids of several forms."""
    if PLAIN.fullmatch(name) is None:
        return True
    mark = name.encode()
    return mark in (record.value or b"") or any(mark in value for _, value in record.headers)
