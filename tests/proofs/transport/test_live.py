"""What rebalances, kills and outages lose and repeat, with worker processes on a live broker."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.proofs.transport.traffic import Traffic, flowing, lost_and_repeated, shared, traffic

RATE = 300
COMMIT_INTERVAL_S = 0.5
# What a worker may have copied beyond its last commit: an interval, and the commit's own way.
KILL_REPEATS = int(RATE * COMMIT_INTERVAL_S * 1.5)


def after(story: Callable[[Traffic], Awaitable[None]], broker: Any, name: str) -> tuple[int, int]:
    """How many records are lost, and how many repeated, once the story is told and all is read."""

    async def scenario() -> tuple[int, int]:
        async with traffic(broker.bootstrap, name, RATE) as flow:
            await story(flow)
            return lost_and_repeated(flow, await flow.copies())

    return asyncio.run(scenario())


@pytest.mark.covers("CF-67")
def test_a_join_and_a_graceful_stop_lose_and_repeat_nothing(broker: Any) -> None:
    # worker 1 ------------------ SIGTERM
    #           worker 2 joins ----------------------
    codes: list[int] = []

    async def story(flow: Traffic) -> None:
        first = flow.worker()
        await first.joined()
        async with flowing(flow):
            await asyncio.sleep(1)
            second = flow.worker()
            await second.joined()
            await asyncio.sleep(1.5)
            codes.append(await first.terminate())
            await asyncio.sleep(1.5)

    assert after(story, broker, "join") == (0, 0)
    assert codes == [0]


@pytest.mark.covers("CF-67")
def test_a_killed_worker_repeats_at_most_a_commit_interval(broker: Any) -> None:
    async def story(flow: Traffic) -> None:
        async with shared(flow) as (first, _):
            await asyncio.sleep(2.2)
            first.kill()
            await asyncio.sleep(1)

    lost, repeated = after(story, broker, "kill")
    assert lost == 0
    assert repeated <= KILL_REPEATS


@pytest.mark.covers("CF-67")
def test_a_worker_frozen_beyond_its_session_repeats_only_what_it_had_begun(broker: Any) -> None:
    # frozen for 4.5 s, its session is 3 s: the other worker has done its share when it wakes
    async def story(flow: Traffic) -> None:
        async with shared(flow) as (first, _):
            await asyncio.sleep(1)
            first.freeze()
            await asyncio.sleep(4.5)
            first.thaw()
            await asyncio.sleep(1)

    lost, repeated = after(story, broker, "frozen")
    assert lost == 0
    assert repeated <= KILL_REPEATS


@pytest.mark.covers("CF-67")
def test_a_first_start_with_a_second_worker_joining_reads_everything_once(broker: Any) -> None:
    async def story(flow: Traffic) -> None:
        async with flowing(flow):
            await asyncio.sleep(0.3)
            flow.worker()
            await asyncio.sleep(0.4)
            flow.worker()
            await asyncio.sleep(2.5)

    assert after(story, broker, "fresh") == (0, 0)


@pytest.mark.covers("CF-67")
@pytest.mark.timeout(90)
def test_an_outage_of_the_broker_loses_nothing(broker: Any) -> None:
    if not hasattr(broker, "kill"):
        pytest.skip("a broker somebody else runs is not killed")

    async def story(flow: Traffic) -> None:
        worker = flow.worker()
        await worker.joined()
        async with flowing(flow):
            await asyncio.sleep(1.5)
            await asyncio.to_thread(broker.kill)
            await asyncio.sleep(2)
            await asyncio.to_thread(broker.start)
            await asyncio.sleep(2)

    lost, repeated = after(story, broker, "outage")
    assert lost == 0
    # The group may have forgotten its members: then it is as if the worker had been killed.
    assert repeated <= KILL_REPEATS
