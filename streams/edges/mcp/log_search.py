"""Records of one tenant, newest first, as far back as there is time for: how MCP answers from the log itself."""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from aiokafka import ConsumerRecord

from schemas import codec
from schemas.codec import Undecodable
from schemas.envelope import Received
from schemas.topics import Topic
from streams.edges.client import clients
from streams.kafka import log_reader

# Of each partition at a time: packs are some ten kilobytes each.
WINDOW = 200


@dataclass(frozen=True, slots=True)
class RecordWindow:
    """Some records of every partition; `whole` when nothing lies before them."""

    records: tuple[ConsumerRecord, ...]
    whole: bool


async def newest_first(
    bootstrap: str, topic: Topic, key_begins: bytes, seconds: float
) -> AsyncGenerator[RecordWindow, None]:
    """Records whose key begins so, stretch by stretch backwards, until the beginning or for so many seconds.

    Raises `CommandFailed` where no broker answers or the topic is not there.
    """
    deadline = time.monotonic() + seconds
    partitions = clients.partitions_of(await clients.partition_counts(bootstrap), [topic.name])
    async with clients.reading(bootstrap, partitions) as consumer:
        begins = await consumer.beginning_offsets(partitions)
        ends = await consumer.end_offsets(partitions)
        while time.monotonic() < deadline:
            starts = {tp: max(begins[tp], ends[tp] - WINDOW) for tp in partitions}
            found = await log_reader.records(consumer, {tp: (starts[tp], ends[tp]) for tp in partitions})
            mine = [record for record in found if record.key is not None and record.key.startswith(key_begins)]
            whole = all(starts[tp] <= begins[tp] for tp in partitions)
            yield RecordWindow(tuple(mine), whole)
            if whole:
                return
            ends = starts


async def all_of(bootstrap: str, topic: Topic, key_begins: bytes, seconds: float) -> tuple[list[ConsumerRecord], bool]:
    """All such records, and whether there was time for the whole log."""
    found: list[ConsumerRecord] = []
    whole = False
    async with aclosing(newest_first(bootstrap, topic, key_begins, seconds)) as stretches:
        async for stretch in stretches:
            found += stretch.records
            whole = stretch.whole
    return found, whole


def decoded(topic: Topic, record: ConsumerRecord) -> Received[Any] | None:
    """The event of a record; None for one that is none."""
    try:
        return codec.decode_record(topic, record)
    except Undecodable:
        return None
