"""Read what the depth stage has decided back from the log: `TurnLog` on `conversation.turns` and `depth.classified`."""

from collections.abc import Collection, Iterable
from datetime import timedelta
from typing import Any

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaError

from agents.core.remembering import Outcome, Recorded
from agents.errors import Unavailable
from schemas.base import Conversation
from schemas.envelope import Received
from schemas.topics import CONVERSATION_TURNS, DEPTH_CLASSIFIED
from streams.kafka_reading import Ranges, cut, events, reader, records, whole
from streams.kafka_security import PLAINTEXT, Security

# A turn and its depth are sent one after the other, by a clock that may be set back.
SLACK_MS = 2_000


class KafkaTurnLog:
    """Reads with a consumer of its own and no group, so that nobody's offsets move."""

    def __init__(self, bootstrap: str, security: Security = PLAINTEXT) -> None:
        self._bootstrap = bootstrap
        self._security = security

    async def read(self, partitions: Collection[int], span: timedelta | None) -> dict[int, list[Recorded]]:
        """The turns of each partition, with their depth: of its last `span` of time, with None all."""
        consumer = reader(self._bootstrap, self._security)
        try:
            await consumer.start()
            # The turns' end first: the depth of each of them is then in the log, or was not finished.
            turns = await whole(consumer, CONVERSATION_TURNS.name, partitions)
            since = None if span is None else await _since(consumer, turns, span)
            depths = await whole(consumer, DEPTH_CLASSIFIED.name, partitions)
            ranges = await cut(consumer, {**turns, **depths}, since)
            return recorded(await events(consumer, ranges), partitions)
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


async def _since(consumer: AIOKafkaConsumer, turns: Ranges, span: timedelta) -> dict[int, int]:
    """So long before the last turn of each partition, in ms: a stage that is hours behind needs what was then new."""
    last: dict[int, int] = {}
    for record in await records(consumer, {tp: (end - 1, end) for tp, (_, end) in turns.items()}):
        last[record.partition] = record.timestamp - int(span.total_seconds() * 1000) - SLACK_MS
    return last
