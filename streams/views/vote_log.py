"""Users' votes on depth, read back from `memory.votes` and, of earlier versions, from `memory.decisions`."""

from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from agents.core.depth.votes import vote_of
from schemas import codec
from schemas.codec import Undecodable
from schemas.learning import DepthVote
from schemas.topics import BY_NAME, MEMORY_DECISIONS, MEMORY_VOTES
from streams.kafka.log_reader import Ranges, batches, full_ranges, opened
from streams.kafka.security import PLAINTEXT, Security
from streams.kafka.time_slice import TimeSlice
from streams.kafka.topics_admin import existing

TOPICS = (MEMORY_DECISIONS.name, MEMORY_VOTES.name)
IN_DECISION = b"weights"


class KafkaVoteLog:
    """Votes, each with its tenant; they are read of all times.

    The decisions may have another number of partitions: dealt out over those of the votes, each is read once.
    """

    def __init__(self, bootstrap: str, security: Security = PLAINTEXT) -> None:
        self._bootstrap = bootstrap
        self._security = security

    async def read(
        self, partitions: Collection[int], _span: timedelta | None
    ) -> AsyncGenerator[Mapping[int, Sequence[tuple[str, DepthVote]]], None]:
        """All votes of each partition, one partition at a time. Raises `Unavailable`."""
        counts = await existing(self._bootstrap, self._security)
        mine = TimeSlice()
        async with opened(self._bootstrap, self._security, "vote log") as consumer:
            for partition in sorted(partitions):
                ranges: Ranges = {}
                for topic in TOPICS:
                    numbers = range(partition, counts.get(topic, 0), counts[MEMORY_VOTES.name])
                    ranges = {**ranges, **await full_ranges(consumer, topic, numbers)}
                found: list[tuple[str, DepthVote]] = []
                async for batch in batches(consumer, ranges):
                    for record in batch:
                        found += votes([record])
                        await mine.check()
                yield {partition: found}


def votes(records: Iterable[Any]) -> Iterator[tuple[str, DepthVote]]:
    """The votes among some records of `TOPICS`; what cannot be read was an outsider's, and nobody took it."""
    for record in records:
        # Of a thousand decisions few are votes: the others are not worth decoding.
        if record.topic == MEMORY_DECISIONS.name and IN_DECISION not in (record.value or b""):
            continue
        try:
            received = codec.decode_record(BY_NAME[record.topic], record)
            vote = vote_of(received.event)
        except (Undecodable, ValueError):
            continue
        if vote is not None:
            yield received.envelope.tenant, vote
