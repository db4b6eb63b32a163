"""The contract of the signal weights, on the twin, fakeredis, the embedded Valkey, and a real Redis."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from agents.errors import Rejected, Unavailable, ViewIncomplete
from schemas.learning import DepthVote, Votes
from streams.stores.sessions.redis_working_sets import connect
from streams.stores.sessions.votes import MemorySignalWeights, RedisSignalWeights
from streams.views.restorable import RestorableWeights
from tests.contract.working_sets import NOON, client_for


@dataclass
class Kit:
    store: RestorableWeights
    runner: asyncio.Runner
    client: Redis | None = None
    tenant: str = field(default_factory=lambda: f"t{uuid4().hex[:8]}")

    def add(self, *votes: DepthVote, tenant: str | None = None) -> None:
        for vote in votes:
            self.runner.run(self.store.add(self.tenant if tenant is None else tenant, vote))

    def votes(self, tenant: str | None = None) -> Votes:
        return self.runner.run(self.store.votes(self.tenant if tenant is None else tenant))

    def emptied(self) -> None:
        if isinstance(self.store, MemorySignalWeights):
            self.store.clear()
        elif self.client is not None:
            self.runner.run(self.client.flushall())

    def missing(self) -> frozenset[int]:
        return self.runner.run(self.store.incomplete_partitions({0, 1}))

    def ids(self, tenant: str | None = None) -> dict[str, list[str]]:
        return {pattern: sorted(vote.id for vote in each) for pattern, each in self.votes(tenant).items()}


@pytest.fixture(params=["memory", "fakeredis", "valkey", "redis-server"])
def kit(request: pytest.FixtureRequest) -> Iterator[Kit]:
    with asyncio.Runner() as runner:
        if request.param == "memory":
            yield Kit(MemorySignalWeights(), runner)
            return
        client = client_for(request.param, request)
        yield Kit(RedisSignalWeights(client, fresh=0.0), runner, client)
        runner.run(client.aclose())


def vote(number: int, minutes: float = 0, pattern: str = "follow_up", **fields: object) -> DepthVote:
    base: dict[str, object] = {
        "id": f"v{number}",
        "pattern": pattern,
        "decided": "D1",
        "expected": "D2",
        "rating": 2,
        "at": NOON + timedelta(minutes=minutes),
        "message_id": f"m{number}",
        "pack_id": f"p{number}",
        "user_id": "ana",
        "reason": "raso | é pouco\n",
    }
    return DepthVote.model_validate({**base, **fields})


@pytest.mark.covers("S0-88")
def test_votes_come_back_whole_by_their_pattern(kit: Kit) -> None:
    assert kit.votes() == {}
    kit.add(vote(1), vote(2, pattern="anaphora+follow_up"), vote(3, expected=None))
    assert kit.ids() == {"follow_up": ["v1", "v3"], "anaphora+follow_up": ["v2"]}
    assert kit.votes()["anaphora+follow_up"] == (vote(2, pattern="anaphora+follow_up"),)


@pytest.mark.covers("CF-67")
def test_a_vote_that_comes_again_in_any_order_changes_nothing(kit: Kit) -> None:
    kit.add(vote(2, 2), vote(1, 1), vote(2, 2), vote(1, 1))
    assert kit.ids() == {"follow_up": ["v1", "v2"]}


def test_each_state_of_a_vote_that_was_changed_is_kept_with_its_time(kit: Kit) -> None:
    kit.add(vote(1, 5, expected="D1"), vote(1, 0, expected="D2"))
    assert sorted((each.at, each.expected) for each in kit.votes()["follow_up"]) == [
        (NOON, "D2"),
        (NOON + timedelta(minutes=5), "D1"),
    ]


@pytest.mark.covers("AC-36")
def test_a_tenants_votes_are_its_own(kit: Kit) -> None:
    kit.add(vote(1))
    for other in (f"{kit.tenant}2", f"{kit.tenant}|web|c1", kit.tenant.upper(), f"{kit.tenant}*"):
        assert kit.votes(other) == {}
        kit.add(vote(9), tenant=other)
    assert kit.ids() == {"follow_up": ["v1"]}
    for nobody in ("", " ", "_public"):
        with pytest.raises(Rejected):
            kit.add(vote(1), tenant=nobody)


@pytest.mark.covers("CF-85")
def test_a_partition_is_whole_once_it_was_restored_and_until_the_store_is_emptied(kit: Kit) -> None:
    kit.store.follow(2)
    kit.emptied()
    assert kit.missing() == {0, 1}
    token = kit.runner.run(kit.store.start_restore(0))
    assert kit.missing() == {0, 1}
    kit.runner.run(kit.store.complete_restore(0, token))
    assert kit.missing() == {1}
    kit.emptied()
    assert kit.missing() == {0, 1}


@pytest.mark.covers("CF-85")
def test_a_store_that_is_emptied_while_it_is_restored_is_not_whole(kit: Kit) -> None:
    kit.store.follow(2)
    token = kit.runner.run(kit.store.start_restore(0))
    kit.emptied()
    with pytest.raises(ViewIncomplete):
        kit.runner.run(kit.store.complete_restore(0, token))
    assert kit.missing() == {0, 1}


@pytest.fixture(params=["fakeredis", "redis-server"])
def server(request: pytest.FixtureRequest) -> Iterator[Kit]:
    with asyncio.Runner() as runner:
        client = client_for(request.param, request)
        yield Kit(RedisSignalWeights(client, fresh=0.0), runner, client)
        runner.run(client.aclose())


def test_a_copy_is_used_without_asking_until_it_is_old(server: Kit) -> None:
    assert server.client is not None
    now = [0.0]
    reader = RedisSignalWeights(server.client, fresh=2.0, clock=lambda: now[0])
    server.add(vote(1))
    read = [server.runner.run(reader.votes(server.tenant))]
    server.add(vote(2))
    read.append(server.runner.run(reader.votes(server.tenant)))
    assert read[0] is read[1]
    now[0] = 2.1
    assert len(server.runner.run(reader.votes(server.tenant))["follow_up"]) == 2
    server.runner.run(reader.add(server.tenant, vote(3)))
    assert len(server.runner.run(reader.votes(server.tenant))["follow_up"]) == 3


def test_after_a_loss_and_a_rebuild_a_copy_is_not_taken_for_the_same(server: Kit) -> None:
    assert server.client is not None
    server.add(vote(1))
    assert server.ids() == {"follow_up": ["v1"]}
    keys = [key for name in (":votes", ":votes:version") for key in [f"fathom:{{{server.tenant}}}{name}"]]
    assert server.runner.run(server.client.delete(*keys)) == 2
    assert server.ids() == {}
    server.add(vote(2))
    assert server.ids() == {"follow_up": ["v2"]}


def test_a_server_that_is_gone_leaves_the_last_copy_and_says_so_where_there_is_none() -> None:
    async def play() -> None:
        gone = connect("redis://127.0.0.1:1")
        with pytest.raises(Unavailable):
            await RedisSignalWeights(gone).votes("acme")
        await gone.aclose()

    asyncio.run(play())


def test_the_votes_of_a_user_are_removed_and_nobody_elses(kit):
    kit.add(vote(1), vote(2, user_id="bia"), vote(3, pattern="look_up"))
    kit.add(vote(4), tenant=f"{kit.tenant}-other")
    assert kit.ids() == {"follow_up": ["v1", "v2"], "look_up": ["v3"]}
    assert kit.runner.run(kit.store.remove(kit.tenant, "ana")) == 2
    assert kit.ids() == {"follow_up": ["v2"]}
    assert kit.ids(f"{kit.tenant}-other") == {"follow_up": ["v4"]}
    assert kit.runner.run(kit.store.remove(kit.tenant, "ana")) == 0
