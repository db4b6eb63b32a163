"""The log of votes on depth, from records in memory."""

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from datetime import timedelta

from schemas.learning import DepthVote
from streams.kafka.records import Record
from streams.views import vote_log


class MemoryVoteLog:
    """A `VoteLog` over records from a function; `reads` counts its reads."""

    def __init__(self, of: Callable[[str], Sequence[Record]]) -> None:
        self._of = of
        self.reads = 0

    async def read(
        self, partitions: Collection[int], _span: timedelta | None
    ) -> AsyncGenerator[Mapping[int, Sequence[tuple[str, DepthVote]]], None]:
        """All votes of these partitions, each with its tenant."""
        self.reads += 1
        records = [record for topic in vote_log.TOPICS for record in self._of(topic)]
        for number in partitions:
            yield {number: list(vote_log.votes(each for each in records if each.partition == number))}
