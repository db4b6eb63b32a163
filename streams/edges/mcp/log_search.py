"""Records of one tenant in the log, newest first, as far back as time allows."""

import time
from collections.abc import AsyncGenerator, Iterable
from typing import Any
from urllib.parse import quote

from aiokafka import ConsumerRecord

from schemas import codec
from schemas.codec import Undecodable
from schemas.envelope import Received
from schemas.topics import Topic
from streams.edges.client import clients
from streams.edges.mcp.tool import Call
from streams.kafka import log_reader

# Records of a partition per window: packs are some ten kilobytes each.
WINDOW = 200


async def newest_first(topic: Topic, call: Call, *key: str) -> AsyncGenerator[tuple[list[ConsumerRecord], bool], None]:
    """Records whose key begins with these parts, and whether none are before them.

    Window by window backwards, to the beginning of the log or for the seconds of the call. Raises `CommandFailed` where
    no broker answers or the topic is not there.
    """
    deadline = time.monotonic() + call.site.seconds
    bootstrap = call.site.bootstrap()
    begins_with = "".join(f"{quote(part, safe='')}|" for part in key).encode()
    partitions = clients.partitions_of(await clients.partition_counts(bootstrap), [topic.name])
    async with clients.reading(bootstrap, partitions) as consumer:
        begins = await consumer.beginning_offsets(partitions)
        ends = await consumer.end_offsets(partitions)
        while time.monotonic() < deadline:
            starts = {tp: max(begins[tp], ends[tp] - WINDOW) for tp in partitions}
            found = await log_reader.records(consumer, {tp: (starts[tp], ends[tp]) for tp in partitions})
            whole = all(starts[tp] <= begins[tp] for tp in partitions)
            yield [record for record in found if record.key is not None and record.key.startswith(begins_with)], whole
            if whole:
                return
            ends = starts


def received(topic: Topic, records: Iterable[ConsumerRecord], call: Call) -> list[Received[Any]]:
    """The events of the caller's tenant, without undecodable ones."""
    found = []
    for record in records:
        try:
            one = codec.decode_record(topic, record)
        except Undecodable:
            continue
        if one.envelope.tenant == call.caller.tenant:
            found.append(one)
    return found
