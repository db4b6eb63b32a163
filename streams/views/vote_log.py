"""What users said about depth, read back from `memory.decisions`."""

from collections.abc import Collection, Iterable, Iterator
from datetime import timedelta
from typing import Any

from aiokafka import AIOKafkaConsumer

from schemas import codec
from schemas.codec import Undecodable
from schemas.learning import DepthVote
from schemas.topics import MEMORY_DECISIONS
from streams.kafka.log_reader import Ranges, batches, full_ranges
from streams.kafka.time_slice import TimeSlice
from streams.views.kafka_log import KafkaViewLog

KIND = "weights"


class KafkaVoteLog(KafkaViewLog[tuple[str, DepthVote]]):
    """Votes, each with its tenant; they are read of all times."""

    what = "vote log"

    async def ranges(self, consumer: AIOKafkaConsumer, partitions: Collection[int], _: timedelta | None) -> Ranges:
        """All that each partition holds."""
        return await full_ranges(consumer, MEMORY_DECISIONS.name, partitions)

    async def decoded(
        self, consumer: AIOKafkaConsumer, ranges: Ranges, partitions: Collection[int]
    ) -> dict[int, list[tuple[str, DepthVote]]]:
        """The votes of each partition."""
        mine = TimeSlice()
        found: dict[int, list[tuple[str, DepthVote]]] = {partition: [] for partition in partitions}
        async for batch in batches(consumer, ranges):
            for record in batch:
                found[record.partition] += votes([record])
                await mine.check()
        return found


def votes(records: Iterable[Any]) -> Iterator[tuple[str, DepthVote]]:
    """The votes among some records of `memory.decisions`; what cannot be read was an outsider's, and nobody took it."""
    for record in records:
        # Of a thousand decisions few are votes: the others are not worth decoding.
        if KIND.encode() not in (record.value or b""):
            continue
        try:
            received = codec.decode_record(MEMORY_DECISIONS, record)
            if received.event.kind == KIND:
                yield received.envelope.tenant, DepthVote.model_validate(received.event.detail)
        except (Undecodable, ValueError):
            continue
