"""Redis loses the votes: what the log has of them is added again, and depth is decided as before."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from typing import Any

import pytest

from agents.errors import Unavailable
from schemas.learning import DepthVote
from schemas.topics import MEMORY_DECISIONS, MEMORY_VOTES, Topic
from streams.kafka.records import Record
from streams.stores.sessions.votes import MemorySignalWeights
from streams.testing.pipeline import Pipeline
from streams.views.recoverable import restore
from streams.views.votes import RecoverableVotes, fold_votes
from tests.builders.vote_log import MemoryVoteLog
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
        for topic in (MEMORY_DECISIONS, MEMORY_VOTES):
            pipeline.publish(topic, b'{"kind": "weights", "oops"', {"tenant": pipeline.tenant})
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


def store_restored(*of: Callable[[str], Sequence[Record]]) -> MemorySignalWeights:
    """An empty store after a restoration from these logs, one after the other."""
    weights = MemorySignalWeights()

    async def story() -> None:
        for records in of:
            view = RecoverableVotes(weights, MemoryVoteLog(records), partitions=len(ALL))
            await view.on_assigned(ALL)
            for partition in ALL:
                await weights.start_restore(partition)
            await view.restore_incomplete()

    asyncio.run(story())
    return weights


def counted(weights: MemorySignalWeights, tenant: str = "acme") -> list[bytes]:
    """The votes as a store writes them."""
    by_pattern = asyncio.run(weights.votes(tenant))
    return sorted(vote.model_dump_json().encode() for votes in by_pattern.values() for vote in votes)


def only(fathom: Pipeline, topic: Topic) -> Callable[[str], Sequence[Record]]:
    """A log with one topic, as if nobody had written the others."""
    return lambda name: fathom.log.of(name) if name == topic.name else ()


@pytest.mark.covers("CF-85", "S0-88")
def test_a_log_of_an_earlier_version_restores_the_same_votes_once(fathom: Pipeline) -> None:
    before = counted(fathom.weights)
    assert len(before) == len(FOLLOW_UPS)
    # Earlier versions recorded a vote as a decision, and only so.
    assert counted(store_restored(only(fathom, MEMORY_DECISIONS))) == before
    assert counted(store_restored(only(fathom, MEMORY_VOTES))) == before


@pytest.mark.covers("CF-67", "CF-85", "S0-88")
def test_a_vote_in_both_forms_and_repeated_counts_once() -> None:
    with Pipeline(reference_wait_ms=0) as fathom:
        on_a_thread(fathom)
        packs = [fathom.ask(text) for text in FOLLOW_UPS]
        for pack in packs:
            # Somebody's own time zone must not tell one form from the other.
            rate(fathom, pack, created_at="2026-03-02T12:00:00.5+03:00")
        forms = [*fathom.log.of(MEMORY_VOTES.name), *(r for r in fathom.log.of(MEMORY_DECISIONS.name) if is_vote(r))]
        assert len(forms) == 2 * len(packs)
        for record in forms:
            fathom.log.append(record.topic, record.key, record.value, record.headers)
        fathom.settle()
        assert len(counted(fathom.weights)) == len(packs)
        told = asyncio.run(restore(MemorySignalWeights(), MemoryVoteLog(fathom.log.of), fold_votes, ALL))
        assert told == {"votes": len(packs)}
        # A change of mind is another state of the same vote, in whichever form it is read.
        rate(fathom, packs[0], "D1")
        assert len(counted(fathom.weights)) == len(packs) + 1
        assert fathom.ask(LIKE).depth_level == "D1"
        assert counted(store_restored(fathom.log.of, only(fathom, MEMORY_DECISIONS))) == counted(fathom.weights)


def is_vote(record: Record) -> bool:
    return b'"kind":"weights"' in (record.value or b"")


@pytest.mark.parametrize("topic", [MEMORY_VOTES, MEMORY_DECISIONS], ids=lambda topic: topic.name)
@pytest.mark.covers("AC-36", "S0-88")
def test_votes_of_either_form_come_back_to_their_own_tenant(topic: Topic) -> None:
    with Pipeline(reference_wait_ms=0) as fathom:
        for tenant, count in (("acme", 3), ("beta", 1)):
            on_a_thread(fathom, tenant=tenant)
            for text in FOLLOW_UPS[:count]:
                rate(fathom, fathom.ask(text, tenant=tenant), tenant=tenant)
        weights = store_restored(only(fathom, topic))
        assert [len(counted(weights, tenant)) for tenant in ("acme", "beta", "web")] == [3, 1, 0]
        for tenant in ("acme", "beta"):
            assert counted(weights, tenant) == counted(fathom.weights, tenant)
        fathom.weights._votes = weights._votes
        assert [fathom.ask(LIKE, tenant=tenant).depth_level for tenant in ("acme", "beta")] == ["D2", "D1"]


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
