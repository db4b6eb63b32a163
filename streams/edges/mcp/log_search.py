"""Records of one tenant in the log, newest first, as far back as time allows."""

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

# Records of a partition per window: packs are some ten kilobytes each.
WINDOW = 200


@dataclass(frozen=True, slots=True)
class RecordWindow:
    """Some records of every partition; `whole` when there are none before them."""

    records: tuple[ConsumerRecord, ...]
    whole: bool


async def newest_first(
    bootstrap: str, topic: Topic, key_begins: bytes, seconds: float
) -> AsyncGenerator[RecordWindow, None]:
    """Records with a key prefix, window by window backwards, to the beginning of the log or for `seconds`.

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
    """Records with a key prefix, and whether there was time for the whole log."""
    found: list[ConsumerRecord] = []
    whole = False
    async with aclosing(newest_first(bootstrap, topic, key_begins, seconds)) as windows:
        async for window in windows:
            found += window.records
            whole = window.whole
    return found, whole


def decoded(topic: Topic, record: ConsumerRecord) -> Received[Any] | None:
    """The event of a record; None for an undecodable one."""
    try:
        return codec.decode_record(topic, record)
    except Undecodable:
        return None
