"""Read what the depth stage has decided back from the log: `TurnLog` on `conversation.turns` and `depth.classified`."""

from collections.abc import Collection, Iterable
from datetime import timedelta
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from agents.core.remembering import Outcome, Recorded
from agents.errors import Unavailable
from schemas import codec
from schemas.base import Conversation
from schemas.codec import Undecodable
from schemas.envelope import Received
from schemas.topics import BY_NAME, CONVERSATION_TURNS, DEPTH_CLASSIFIED
from streams.kafka_reading import PROMPT, Ranges, records
from streams.kafka_security import PLAINTEXT, Security

# A turn and its depth are sent one after the other, by a clock that may be set back.
SLACK_MS = 2_000
# A consumer without a group hears of its topics when it first asks for them, and asks again so much later.
RETRY_MS = 20


class KafkaTurnLog:
    """Reads with a consumer of its own and no group, so that nobody's offsets move."""

    def __init__(self, bootstrap: str, security: Security = PLAINTEXT) -> None:
        self._bootstrap = bootstrap
        self._security = security

    async def read(self, partitions: Collection[int], span: timedelta | None) -> dict[int, list[Recorded]]:
        """The turns of each partition, with their depth: of its last `span` of time, with None all."""
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self._bootstrap,
            enable_auto_commit=False,
            retry_backoff_ms=RETRY_MS,
            **PROMPT,
            **self._security.client_options(),
        )
        try:
            await consumer.start()
            # The turns' end first: the depth of each of them is then in the log, or was not finished.
            turns = await _ranges(consumer, CONVERSATION_TURNS.name, partitions)
            since = None if span is None else await _since(consumer, turns, span)
            depths = await _ranges(consumer, DEPTH_CLASSIFIED.name, partitions)
            ranges = await _cut(consumer, {**turns, **depths}, since)
            return recorded(await _read(consumer, ranges), partitions)
        except KafkaError as error:
            raise Unavailable("turn log", str(error) or type(error).__name__) from error
        finally:
            await consumer.stop()


def recorded(events: Iterable[Received[Any]], partitions: Iterable[int]) -> dict[int, list[Recorded]]:
    """Turns and depths put together, partition by partition, in the turns' order."""
    turns: dict[int, list[Received[Any]]] = {partition: [] for partition in partitions}
    depths: dict[tuple[str, str], Any] = {}
    for received in events:
        if received.topic == CONVERSATION_TURNS.name:
            turns[received.partition].append(received)
        else:
            depths[received.key, received.event.message_id] = received.event
    return {
        partition: [
            Recorded(_whose(received), Outcome(turn=turn, classified=depths.get((received.key, turn.message_id))))
            for received in found
            for turn in (received.event,)
        ]
        for partition, found in turns.items()
    }


def _whose(received: Received[Any]) -> Conversation:
    return received.conversation(received.event.client_id, received.event.conversation_id)


async def _ranges(consumer: AIOKafkaConsumer, topic: str, partitions: Iterable[int]) -> Ranges:
    """The whole of each partition that holds anything: its first offset, and the one after its last."""
    asked = [TopicPartition(topic, partition) for partition in partitions]
    firsts, ends = await consumer.beginning_offsets(asked), await consumer.end_offsets(asked)
    return {tp: (firsts[tp], ends[tp]) for tp in asked if firsts[tp] < ends[tp]}


async def _since(consumer: AIOKafkaConsumer, turns: Ranges, span: timedelta) -> dict[int, int]:
    """So long before the last turn of each partition, in ms: a stage that is hours behind needs what was then new."""
    last: dict[int, int] = {}
    for record in await records(consumer, {tp: (end - 1, end) for tp, (_, end) in turns.items()}):
        last[record.partition] = record.timestamp - int(span.total_seconds() * 1000) - SLACK_MS
    return last


async def _cut(consumer: AIOKafkaConsumer, ranges: Ranges, since: dict[int, int] | None) -> Ranges:
    if since is None:
        return ranges
    asked = {tp: max(since[tp.partition], 0) for tp in ranges if tp.partition in since}
    found = await consumer.offsets_for_times(asked) if asked else {}
    begins = {tp: ranges[tp][1] if found.get(tp) is None else found[tp].offset for tp in asked}
    return {tp: (max(begins[tp], ranges[tp][0]), ranges[tp][1]) for tp in asked}


async def _read(consumer: AIOKafkaConsumer, ranges: Ranges) -> list[Received[Any]]:
    events = []
    for record in await records(consumer, ranges):
        try:
            events.append(
                codec.decode(
                    BY_NAME[record.topic],
                    record.key,
                    record.value,
                    record.headers,
                    partition=record.partition,
                    offset=record.offset,
                    timestamp=record.timestamp,
                )
            )
        except Undecodable:
            continue  # an outsider's record on our output was decided by nobody
    return events
