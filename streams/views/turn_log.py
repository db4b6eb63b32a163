"""Read what the depth stage has decided back from the log: `TurnLog` on `conversation.turns` and `depth.classified`."""

from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterable, Collection, Iterable
from datetime import timedelta
from typing import Any

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaError

from agents.core.conversation.session_state import RecordedOutcome, TurnOutcome
from agents.errors import Unavailable
from schemas.base import Conversation
from schemas.chat import Turn
from schemas.depth import DepthClassified
from schemas.envelope import Received
from schemas.topics import CONVERSATION_TURNS, DEPTH_CLASSIFIED
from streams.kafka.log_reader import Ranges, events, full_ranges, reader, records, written_since
from streams.kafka.security import PLAINTEXT, Security
from streams.kafka.time_slice import TimeSlice

# A turn and its depth are sent one after the other, by a clock that may be set back.
SLACK_MS = 2_000
# Records of the log that are held at once, unless one partition alone has more.
MAX_BUFFERED = 10_000


class KafkaTurnLog:
    """Reads with a consumer of its own and no group, so that nobody's offsets move."""

    def __init__(self, bootstrap: str, security: Security = PLAINTEXT) -> None:
        self._bootstrap = bootstrap
        self._security = security

    async def read(
        self, partitions: Collection[int], span: timedelta | None
    ) -> AsyncGenerator[dict[int, list[RecordedOutcome]], None]:
        """The turns of each partition, with their depth: of its last `span` of time, with None all; in portions."""
        consumer = reader(self._bootstrap, self._security)
        try:
            await consumer.start()
            # The turns' end first: the depth of each of them is then in the log, or was not finished.
            turns = await full_ranges(consumer, CONVERSATION_TURNS.name, partitions)
            since = None if span is None else await _since(consumer, turns, span)
            depths = await full_ranges(consumer, DEPTH_CLASSIFIED.name, partitions)
            ranges = await written_since(consumer, {**turns, **depths}, since)
            for some in portions(ranges, partitions):
                mine = {tp: ends for tp, ends in ranges.items() if tp.partition in some}
                yield await recorded(events(consumer, mine), some)
        except KafkaError as error:
            raise Unavailable("turn log", str(error) or type(error).__name__) from error
        finally:
            await consumer.stop()


def portions(ranges: Ranges, partitions: Iterable[int]) -> list[list[int]]:
    """The partitions in groups that are read at once: many that are short, or one that is long."""
    sizes: dict[int, int] = defaultdict(int)
    for tp, (begin, end) in ranges.items():
        sizes[tp.partition] += end - begin
    groups: list[list[int]] = []
    filled = 0
    for partition in sorted(partitions):
        if not groups or filled + sizes[partition] > MAX_BUFFERED:
            groups.append([])
            filled = 0
        groups[-1].append(partition)
        filled += sizes[partition]
    return groups


async def recorded(events: AsyncIterable[Received[Any]], partitions: Iterable[int]) -> dict[int, list[RecordedOutcome]]:
    """Turns and depths put together, partition by partition, in the turns' order."""
    turns: dict[int, list[tuple[Conversation, Turn]]] = {partition: [] for partition in partitions}
    depths: dict[tuple[Conversation, str], DepthClassified] = {}
    async for received in events:
        # No more than this of each record: of a long log the rest would be gigabytes.
        event, whose = received.event, received.conversation(received.event.client_id, received.event.conversation_id)
        if received.topic == CONVERSATION_TURNS.name:
            turns[received.partition].append((whose, event))
        else:
            depths[whose, event.message_id] = event
    outcomes: dict[int, list[RecordedOutcome]] = {partition: [] for partition in turns}
    mine = TimeSlice()
    for partition, found in turns.items():
        for whose, turn in found:
            await mine.check()
            # Both were validated when they were read.
            outcome = TurnOutcome.model_construct(turn=turn, classified=depths.get((whose, turn.message_id)))
            outcomes[partition].append(RecordedOutcome(whose, outcome))
    return outcomes


async def _since(consumer: AIOKafkaConsumer, turns: Ranges, span: timedelta) -> dict[int, int]:
    """So long before the last turn of each partition, in ms: a stage that is hours behind needs what was then new."""
    last: dict[int, int] = {}
    for record in await records(consumer, {tp: (end - 1, end) for tp, (_, end) in turns.items()}):
        last[record.partition] = record.timestamp - int(span.total_seconds() * 1000) - SLACK_MS
    return last
