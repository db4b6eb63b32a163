"""What the depth stage has decided, read back from `conversation.turns`, `depth.classified` and `memory.erasures`."""

from collections import defaultdict
from collections.abc import AsyncIterable, Collection, Iterable
from datetime import timedelta
from typing import Any

from aiokafka import AIOKafkaConsumer

from agents.core.conversation.session_state import Recorded, RecordedErasure, RecordedOutcome, TurnOutcome
from schemas.base import Conversation
from schemas.chat import Turn
from schemas.depth import DepthClassified
from schemas.envelope import Received
from schemas.topics import CONVERSATION_TURNS, DEPTH_CLASSIFIED, MEMORY_ERASURES
from streams.kafka.log_reader import Ranges, events, full_ranges, records, written_since
from streams.kafka.time_slice import TimeSlice
from streams.views.kafka_log import KafkaViewLog, milliseconds

TOPICS = (CONVERSATION_TURNS.name, DEPTH_CLASSIFIED.name, MEMORY_ERASURES.name)


class KafkaTurnLog(KafkaViewLog[Recorded]):
    """Turns with their depth, and erasures; a span ends with the partition's last turn."""

    what = "turn log"

    async def ranges(self, consumer: AIOKafkaConsumer, partitions: Collection[int], span: timedelta | None) -> Ranges:
        """The turns' end first: the depth of each of them is then in the log, or was not finished."""
        turns = await full_ranges(consumer, CONVERSATION_TURNS.name, partitions)
        since = None if span is None else await _since(consumer, turns, span)
        depths = await full_ranges(consumer, DEPTH_CLASSIFIED.name, partitions)
        erasures: Ranges = {}
        if MEMORY_ERASURES.name in await consumer.topics():  # not in the log of an earlier version
            erasures = await full_ranges(consumer, MEMORY_ERASURES.name, partitions)
        return await written_since(consumer, {**turns, **depths, **erasures}, since)

    async def decoded(
        self, consumer: AIOKafkaConsumer, ranges: Ranges, partitions: Collection[int]
    ) -> dict[int, list[Recorded]]:
        """Turns and depths put together, and erasures."""
        return await recorded(events(consumer, ranges), partitions)


async def recorded(events: AsyncIterable[Received[Any]], partitions: Iterable[int]) -> dict[int, list[Recorded]]:
    """Turns and depths put together, partition by partition, in the turns' order, with erasures at their place."""
    turns: dict[int, list[tuple[Conversation, Turn]]] = {partition: [] for partition in partitions}
    depths: dict[tuple[Conversation, str], DepthClassified] = {}
    erasures: dict[int, list[RecordedErasure]] = defaultdict(list)
    async for received in events:
        # No more than this of each record: of a long log the rest would be gigabytes.
        event, whose = received.event, received.conversation(received.event.client_id, received.event.conversation_id)
        if received.topic == CONVERSATION_TURNS.name:
            turns[received.partition].append((whose, event))
        elif received.topic == MEMORY_ERASURES.name:
            erasures[received.partition].append(RecordedErasure(whose, event.up_to_seq))
        else:
            depths[whose, event.message_id] = event
    outcomes: dict[int, list[Recorded]] = {partition: [] for partition in turns}
    mine = TimeSlice()
    for partition, found in turns.items():
        for whose, turn in found:
            await mine.check()
            # Both were validated when they were read.
            outcome = TurnOutcome.model_construct(turn=turn, classified=depths.get((whose, turn.message_id)))
            outcomes[partition].append(RecordedOutcome(whose, outcome))
        if erased := erasures[partition]:
            outcomes[partition] = sorted((*outcomes[partition], *erased), key=_place)
    return outcomes


def _place(one: Recorded) -> int:
    return one.up_to_seq if isinstance(one, RecordedErasure) else one.outcome.turn.seq


async def _since(consumer: AIOKafkaConsumer, turns: Ranges, span: timedelta) -> dict[int, int]:
    """So long before the last turn of each partition, in ms: a stage that is hours behind needs what was then new."""
    last = await records(consumer, {tp: (end - 1, end) for tp, (_, end) in turns.items()})
    return {record.partition: record.timestamp - milliseconds(span) for record in last}
