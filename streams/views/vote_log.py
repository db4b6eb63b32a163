"""Read what users said about depth back from the log: `VoteLog` on `memory.decisions`."""

from collections.abc import AsyncGenerator, Collection, Iterable, Iterator
from typing import Any

from aiokafka.errors import KafkaError

from agents.errors import Unavailable
from schemas import codec
from schemas.codec import Undecodable
from schemas.learning import DepthVote
from schemas.topics import MEMORY_DECISIONS
from streams.kafka.log_reader import batches, full_ranges, reader
from streams.kafka.security import PLAINTEXT, Security
from streams.kafka.time_slice import TimeSlice

KIND = "weights"


class KafkaVoteLog:
    """Reads with a consumer of its own and no group, so that nobody's offsets move."""

    def __init__(self, bootstrap: str, security: Security = PLAINTEXT) -> None:
        self._bootstrap = bootstrap
        self._security = security

    async def read(self, partitions: Collection[int]) -> AsyncGenerator[tuple[str, DepthVote], None]:
        """All votes of these partitions, each with its tenant. Raises `Unavailable` when the broker does not answer."""
        consumer, mine = reader(self._bootstrap, self._security), TimeSlice()
        try:
            await consumer.start()
            async for batch in batches(consumer, await full_ranges(consumer, MEMORY_DECISIONS.name, partitions)):
                for found in votes(batch):
                    await mine.check()
                    yield found
                await mine.check()
        except KafkaError as error:
            raise Unavailable("vote log", str(error) or type(error).__name__) from error
        finally:
            await consumer.stop()


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
