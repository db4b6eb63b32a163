"""Repartition records of producers that partition otherwise: all records of a conversation lie in one partition.

The order of turns and the reach of an erasure go by offsets of that partition. The offset of a record in another one
would put it before or after the others by chance.
"""

from collections.abc import Sequence
from typing import Any

from prometheus_client import Counter

from schemas.codec import rfc3339
from schemas.envelope import Received
from schemas.topics import Topic
from streams.kafka.producer import partition_of
from streams.kafka.records import Record
from streams.telemetry.registry import REGISTRY

REPARTITIONED = Counter(
    "fathom_repartitioned_records_total",
    "Records that lay in another partition than their conversation's, and were written again there",
    ("topic",),
    registry=REGISTRY,
)
# Workers that count partitions differently, while some are added, must not send a record back and forth.
MOVED = "fathom_moved"


def destination(
    topic: Topic, record: Record, received: Received[Any], partitions: int | None
) -> tuple[str, int] | None:
    """The key and the partition of the record's conversation; None where it lies there or may stay."""
    if partitions is None or not topic.outside or topic.key != "conversation":
        return None
    event = received.event
    key = received.conversation(event.client_id, event.conversation_id).key()
    partition = partition_of(key, partitions)
    if partition == record.partition or any(name == MOVED for name, _ in record.headers):
        return None
    return key, partition


def headers_of(record: Record, received: Received[Any]) -> Sequence[tuple[str, bytes]]:
    """The record's headers, and the id and time that it has by its first position."""
    stated = {name for name, value in record.headers if value}
    added = {"ce_id": received.envelope.id, "ce_time": rfc3339(received.envelope.time), MOVED: "true"}
    kept = [(name, value or b"") for name, value in record.headers]
    return [*kept, *((name, text.encode()) for name, text in added.items() if name not in stated)]
