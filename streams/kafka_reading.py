"""Read what a log holds by now, from one offset to another, and no further."""

from collections.abc import Mapping
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition

# Such a reader never waits for what is yet to come. By the client's defaults each read that reaches a partition's end
# leaves a fetch behind it that the broker holds for half a second, and every next one to that broker waits for it.
PROMPT: Mapping[str, int] = {"fetch_max_wait_ms": 10}
AT_ONCE = 500

Ranges = Mapping[TopicPartition, tuple[int, int]]


async def records(consumer: AIOKafkaConsumer, ranges: Ranges) -> list[Any]:
    """The records of these offsets (first, one after the last); what retention or compaction took is passed over."""
    found: list[Any] = []
    left = {tp: end for tp, (begin, end) in ranges.items() if begin < end}
    if not left:
        return found
    consumer.assign(list(left))
    for tp in left:
        consumer.seek(tp, ranges[tp][0])
    while left:
        for tp, batch in (await consumer.getmany(*left, timeout_ms=500, max_records=AT_ONCE)).items():
            found += [record for record in batch if record.offset < ranges[tp][1]]
        for tp, end in list(left.items()):
            if await consumer.position(tp) >= end:
                del left[tp]
    return found
