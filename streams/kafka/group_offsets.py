"""Committed offsets of a consumer group that is not running."""

from collections.abc import Iterable

from aiokafka import TopicPartition

from streams.kafka import clients
from streams.kafka.security import Security
from streams.kafka.topics_admin import existing


async def rewind(bootstrap: str, group: str, topics: Iterable[str], security: Security) -> None:
    """Commit the beginning of every partition of the existing topics; the group must have no members."""
    known = await existing(bootstrap, security)
    partitions = [
        TopicPartition(topic, number) for topic in sorted(known.keys() & set(topics)) for number in range(known[topic])
    ]
    if not partitions:
        return
    consumer = clients.new_consumer(bootstrap, security, group_id=group)
    await consumer.start()
    try:
        consumer.assign(partitions)
        await consumer.commit(await consumer.beginning_offsets(partitions))
    finally:
        await consumer.stop()
