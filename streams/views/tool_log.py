"""A conversation's tool calls, read back from verdicts, confirmations, results and erasures."""

from collections.abc import Collection, Iterable
from datetime import timedelta
from typing import Any

from aiokafka import AIOKafkaConsumer

from schemas.envelope import Received
from schemas.topics import MEMORY_ERASURES, TOOLS_CALLS_OUT, TOOLS_CONFIRMATIONS_IN, TOOLS_RESULTS_IN
from streams.kafka.log_reader import Ranges, events, full_ranges, written_since
from streams.views.kafka_log import KafkaViewLog, milliseconds

TOPICS = (TOOLS_CALLS_OUT.name, TOOLS_CONFIRMATIONS_IN.name, TOOLS_RESULTS_IN.name)


class KafkaToolLog(KafkaViewLog[Received[Any]]):
    """Records topic by topic in their order; a span ends with the partition's last verdict, else its last result."""

    what = "tool log"

    async def ranges(self, consumer: AIOKafkaConsumer, partitions: Collection[int], span: timedelta | None) -> Ranges:
        """The offsets to read."""
        ranges = [await full_ranges(consumer, topic, partitions) for topic in TOPICS]
        ends = {tp: (last - 1, last) for each in ranges for tp, (_, last) in each.items()}
        since = None if span is None else beginnings([each async for each in events(consumer, ends)], span)
        # Topic by topic: a partition without a time in one of them has one in another.
        if MEMORY_ERASURES.name in await consumer.topics():  # not in the log of an earlier version
            ranges.append(await full_ranges(consumer, MEMORY_ERASURES.name, partitions))
        cuts = [await written_since(consumer, each, since) for each in ranges]
        return {tp: until for each in cuts for tp, until in each.items()}

    async def decoded(
        self, consumer: AIOKafkaConsumer, ranges: Ranges, partitions: Collection[int]
    ) -> dict[int, list[Received[Any]]]:
        """The records of each partition."""
        return by_partition([each async for each in events(consumer, ranges)], partitions)


def beginnings(last: Iterable[Received[Any]], span: timedelta) -> dict[int, int]:
    """From when on each partition counts, in ms, by the last records of its topics.

    A verdict has the time of its call: a stage that is hours behind needs what was then new.
    """
    ends: dict[int, tuple[bool, int]] = {}
    for record in last:
        verdict = record.topic == TOOLS_CALLS_OUT.name
        at = int(record.envelope.time.timestamp() * 1000) if verdict else record.timestamp
        ends[record.partition] = max(ends.get(record.partition, (False, 0)), (verdict, at))
    return {partition: at - milliseconds(span) for partition, (_, at) in ends.items()}


def by_partition(found: Iterable[Received[Any]], partitions: Iterable[int]) -> dict[int, list[Received[Any]]]:
    """Records by their partition, those of one topic in its order."""
    read: dict[int, list[Received[Any]]] = {partition: [] for partition in partitions}
    for record in sorted(found, key=lambda each: (each.topic, each.partition, each.offset)):
        read[record.partition].append(record)
    return read
