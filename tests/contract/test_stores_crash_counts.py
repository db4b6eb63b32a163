"""The contract of the counts of crashes, on the twin, fakeredis, the embedded Valkey, and a real Redis."""

import asyncio
from collections.abc import Iterator

import pytest
from redis.asyncio import Redis

from agents.errors import Unavailable
from streams.runtime.crashes.watch import CrashCounts
from streams.stores.sessions.crash_counts import EXPIRE_S, KEY, MemoryCrashCounts, RedisCrashCounts
from streams.stores.sessions.redis_working_sets import connect
from tests.contract.working_sets import client_for

ONE, OTHER = "claims conversation.turns 3 41", "depth messages.in 0 7"


class Kit:
    def __init__(self, store: CrashCounts, runner: asyncio.Runner, client: Redis | None = None) -> None:
        self.store, self.runner, self.client = store, runner, client

    def crashed(self, **alone: int) -> None:
        names = {"one": ONE, "other": OTHER}
        self.runner.run(self.store.crashed({names[name]: each for name, each in alone.items()}))

    def counts(self) -> dict[str, tuple[int, int]]:
        return self.runner.run(self.store.counts())


@pytest.fixture(params=["memory", "fakeredis", "valkey", "redis-server"])
def kit(request: pytest.FixtureRequest) -> Iterator[Kit]:
    with asyncio.Runner() as runner:
        if request.param == "memory":
            yield Kit(MemoryCrashCounts(), runner)
            return
        client = client_for(request.param, request)
        runner.run(client.delete(KEY))
        yield Kit(RedisCrashCounts(client), runner, client)
        runner.run(client.delete(KEY))
        runner.run(client.aclose())


@pytest.mark.covers("B13")
def test_crashes_add_up_and_those_alone_beside_them(kit: Kit) -> None:
    assert kit.counts() == {}
    kit.crashed(one=0, other=0)
    kit.crashed(one=1)
    kit.crashed(one=1)
    assert kit.counts() == {ONE: (3, 2), OTHER: (1, 0)}


def test_what_is_forgotten_begins_anew(kit: Kit) -> None:
    kit.crashed(one=1, other=0)
    kit.runner.run(kit.store.forget({ONE, "never there"}))
    assert kit.counts() == {OTHER: (1, 0)}
    kit.crashed(one=0)
    assert kit.counts()[ONE] == (1, 0)
    kit.runner.run(kit.store.forget(()))
    kit.runner.run(kit.store.crashed({}))
    assert set(kit.counts()) == {ONE, OTHER}


def test_counts_expire_an_hour_after_the_last_crash(kit: Kit) -> None:
    if kit.client is None:
        return  # ends with its process
    kit.crashed(one=0)
    left = kit.runner.run(kit.client.ttl(KEY))
    assert EXPIRE_S - 60 < left <= EXPIRE_S
    kit.runner.run(kit.client.expire(KEY, 60))
    kit.crashed(other=0)
    assert kit.runner.run(kit.client.ttl(KEY)) > 60


def test_a_server_that_is_away_is_said() -> None:
    async def scenario() -> None:
        client = connect("redis://127.0.0.1:1")
        with pytest.raises(Unavailable):
            await RedisCrashCounts(client, timeout=0.5).counts()
        await client.aclose()

    asyncio.run(scenario())
