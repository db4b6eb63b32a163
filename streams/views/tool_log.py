"""Read a conversation's tool calls back from the log: verdicts, confirmations and results, partition by partition."""

from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta
from typing import Any

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaError

from agents.errors import Unavailable
from schemas.envelope import Received
from schemas.topics import TOOLS_CALLS_OUT, TOOLS_CONFIRMATIONS_IN, TOOLS_RESULTS_IN
from streams.kafka.log_reader import Ranges, events, full_ranges, reader, written_since
from streams.kafka.security import PLAINTEXT, Security

TOPICS = (TOOLS_CALLS_OUT.name, TOOLS_CONFIRMATIONS_IN.name, TOOLS_RESULTS_IN.name)
# Whoever publishes a result may have a clock that is a little behind.
SLACK_MS = 2_000


class KafkaToolLog:
    """Reads with a consumer of its own and no group, so that nobody's offsets move."""

    def __init__(self, bootstrap: str, security: Security = PLAINTEXT) -> None:
        self._bootstrap = bootstrap
        self._security = security

    async def read(self, partitions: Collection[int], span: timedelta | None) -> dict[int, list[Received[Any]]]:
        """The records of each partition, topic by topic in their order: of its last `span` of time, with None all.

        The span ends with the last verdict of the partition, else with its last result. Raises `Unavailable`.
        """
        consumer = reader(self._bootstrap, self._security)
        try:
            await consumer.start()
            ranges = [await full_ranges(consumer, topic, partitions) for topic in TOPICS]
            since = None if span is None else await self._since(consumer, ranges, span)
            cuts = [await written_since(consumer, each, since) for each in ranges]
            ends = {tp: until for each in cuts for tp, until in each.items()}
            found = [each async for each in events(consumer, ends)]
        except KafkaError as error:
            raise Unavailable("tool log", str(error) or type(error).__name__) from error
        finally:
            await consumer.stop()
        return by_partition(found, partitions)

    async def _since(self, consumer: AIOKafkaConsumer, ranges: list[Ranges], span: timedelta) -> dict[int, int]:
        ends = {tp: (last - 1, last) for each in ranges for tp, (_, last) in each.items()}
        return beginnings([each async for each in events(consumer, ends)], span)


def beginnings(last: Iterable[Received[Any]], span: timedelta) -> dict[int, int]:
    """From when on each partition counts, in ms, by the last records of its topics.

    A verdict has the time of its call: a stage that is hours behind needs what was then new.
    """
    ends: dict[int, tuple[bool, int]] = {}
    for record in last:
        verdict = record.topic == TOOLS_CALLS_OUT.name
        at = int(record.envelope.time.timestamp() * 1000) if verdict else record.timestamp
        ends[record.partition] = max(ends.get(record.partition, (False, 0)), (verdict, at))
    return {partition: at - int(span.total_seconds() * 1000) - SLACK_MS for partition, (_, at) in ends.items()}


def by_partition(found: Iterable[Received[Any]], partitions: Iterable[int]) -> dict[int, list[Received[Any]]]:
    """Records by their partition, those of one topic in its order."""
    read: Mapping[int, list[Received[Any]]] = {partition: [] for partition in partitions}
    for record in sorted(found, key=lambda each: (each.topic, each.partition, each.offset)):
        read[record.partition].append(record)
    return dict(read)
