"""Redis loses the votes: what the log has of them is added again, and depth is decided as before."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from typing import Any

import pytest

from agents.errors import Unavailable
from schemas.learning import DepthVote
from schemas.topics import MEMORY_DECISIONS
from streams.stores.sessions.votes import MemorySignalWeights
from streams.testing.log import MemoryVoteLog
from streams.testing.pipeline import Pipeline
from streams.views.votes import RecoverableVotes
from tests.unit.scenarios.test_feedback import FOLLOW_UPS, LIKE, on_a_thread, rate

ALL = frozenset(range(3))
Found = AsyncGenerator[Mapping[int, Sequence[tuple[str, DepthVote]]], None]


@pytest.fixture
def fathom() -> Pipeline:
    """A tenant whose three users wanted more, among decisions that are no votes, and an outsider's record."""
    with Pipeline(reference_wait_ms=0) as pipeline:
        on_a_thread(pipeline)
        for pack in [pipeline.ask(text) for text in FOLLOW_UPS]:
            rate(pipeline, pack)
        pipeline.publish(MEMORY_DECISIONS, b'{"kind": "weights", "oops"', {"tenant": pipeline.tenant})
    return pipeline


def follow(fathom: Pipeline, weights: MemorySignalWeights, log: MemoryVoteLog | None = None) -> RecoverableVotes:
    return RecoverableVotes(weights, log or MemoryVoteLog(fathom.log.of), partitions=len(ALL))


@pytest.mark.covers("CF-85", "S0-88")
def test_votes_that_were_lost_come_back_from_the_log_and_decide_as_before() -> None:
    with Pipeline(reference_wait_ms=0) as fathom:
        on_a_thread(fathom)
        for pack in [fathom.ask(text) for text in FOLLOW_UPS]:
            rate(fathom, pack)
        fathom.weights.clear()
        assert fathom.ask(LIKE).depth_level == "D1"
        following = follow(fathom, fathom.weights)

        async def look() -> None:
            await following.on_assigned(ALL)
            await following.restore_incomplete()

        asyncio.run(look())
        assert fathom.ask(LIKE).depth_level == "D2"


def test_what_is_whole_is_not_read_again_and_only_held_partitions_are(fathom: Pipeline) -> None:
    log, weights = MemoryVoteLog(fathom.log.of), MemorySignalWeights()
    following = follow(fathom, weights, log)

    async def story() -> None:
        await following.restore_incomplete()
        assert log.reads == 0
        await following.on_assigned({0, 2})
        await following.restore_incomplete()
        await following.restore_incomplete()
        assert (log.reads, await weights.incomplete_partitions(ALL)) == (1, {1})
        following.on_revoked()
        weights.clear()
        await following.restore_incomplete()
        assert log.reads == 1

    asyncio.run(story())


def test_a_store_that_is_emptied_while_the_log_is_read_is_restored_once_more(fathom: Pipeline) -> None:
    class Emptying(MemoryVoteLog):
        async def read(self, partitions: Collection[int], span: Any) -> Found:
            async for found in super().read(partitions, span):
                if self.reads == 1:
                    weights.clear()
                yield found

    log, weights = Emptying(fathom.log.of), MemorySignalWeights()
    following = follow(fathom, weights, log)

    async def story() -> int:
        await following.on_assigned(ALL)
        await following.restore_incomplete()
        return sum(map(len, (await weights.votes(fathom.tenant)).values()))

    assert asyncio.run(story()) == len(FOLLOW_UPS)
    assert log.reads == 2


def test_a_vote_that_no_store_takes_keeps_none_of_the_others_away(fathom: Pipeline) -> None:
    class Foreign(MemoryVoteLog):
        async def read(self, partitions: Collection[int], span: Any) -> Found:
            async for portion in super().read(partitions, span):
                # Nobody's to vote for: the writer made a dead letter of it.
                foreign = {number: [("_public", vote) for _, vote in votes] for number, votes in portion.items()}
                yield {number: [*foreign[number], *votes] for number, votes in portion.items()}

    weights = MemorySignalWeights()
    following = follow(fathom, weights, Foreign(fathom.log.of))

    async def story() -> int:
        await following.on_assigned(ALL)
        await following.restore_incomplete()
        assert await weights.incomplete_partitions(ALL) == frozenset()
        return sum(map(len, (await weights.votes(fathom.tenant)).values()))

    assert asyncio.run(story()) == len(FOLLOW_UPS)


def test_a_broker_that_is_away_is_asked_again_at_the_next_look(fathom: Pipeline) -> None:
    class Away(MemoryVoteLog):
        async def read(self, partitions: Collection[int], span: Any) -> Found:
            async for found in super().read(partitions, span):
                if self.reads == 1:
                    raise Unavailable("vote log", "no broker")
                yield found

    log, weights = Away(fathom.log.of), MemorySignalWeights()
    following = follow(fathom, weights, log)

    async def story() -> None:
        await following.on_assigned(ALL)
        with pytest.raises(Unavailable):
            await following.restore_incomplete()
        assert await weights.incomplete_partitions(ALL) == ALL
        await following.restore_incomplete()
        assert await weights.incomplete_partitions(ALL) == frozenset()

    asyncio.run(story())
