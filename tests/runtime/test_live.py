"""What rebalances, kills and outages lose and repeat, with worker processes on a live broker."""

import asyncio
from typing import Any

import pytest

from tests.runtime.traffic import flowing, lost_and_repeated, traffic

RATE = 300
COMMIT_INTERVAL_S = 0.5
# What a worker may have copied beyond its last commit: an interval, and the commit's own way.
KILL_REPEATS = int(RATE * COMMIT_INTERVAL_S * 1.5)


@pytest.mark.covers("CF-67")
def test_a_join_and_a_graceful_stop_lose_and_repeat_nothing(broker: Any) -> None:
    # worker 1 ------------------ SIGTERM
    #           worker 2 joins ----------------------
    async def scenario() -> tuple[tuple[int, int], int]:
        async with traffic(broker.bootstrap, "join", RATE) as flow:
            first = flow.worker()
            await first.joined()
            async with flowing(flow):
                await asyncio.sleep(1)
                second = flow.worker()
                await second.joined()
                await asyncio.sleep(1.5)
                code = await first.terminate()
                await asyncio.sleep(1.5)
            return lost_and_repeated(flow, await flow.copies()), code

    assert asyncio.run(scenario()) == ((0, 0), 0)


@pytest.mark.covers("CF-67")
def test_a_killed_worker_repeats_at_most_a_commit_interval(broker: Any) -> None:
    async def scenario() -> tuple[int, int]:
        async with traffic(broker.bootstrap, "kill", RATE) as flow:
            first, second = flow.worker(), flow.worker()
            await asyncio.gather(first.joined(), second.joined())
            async with flowing(flow):
                await asyncio.sleep(2.2)
                first.kill()
                await asyncio.sleep(1)
            return lost_and_repeated(flow, await flow.copies())

    lost, repeated = asyncio.run(scenario())
    assert lost == 0
    assert repeated <= KILL_REPEATS


@pytest.mark.covers("CF-67")
def test_a_worker_frozen_beyond_its_session_repeats_only_what_it_had_begun(broker: Any) -> None:
    # frozen for 4.5 s, its session is 3 s: the other worker has done its share when it wakes
    async def scenario() -> tuple[int, int]:
        async with traffic(broker.bootstrap, "frozen", RATE) as flow:
            first, second = flow.worker(), flow.worker()
            await asyncio.gather(first.joined(), second.joined())
            async with flowing(flow):
                await asyncio.sleep(1)
                first.freeze()
                await asyncio.sleep(4.5)
                first.thaw()
                await asyncio.sleep(1)
            return lost_and_repeated(flow, await flow.copies())

    lost, repeated = asyncio.run(scenario())
    assert lost == 0
    assert repeated <= KILL_REPEATS


@pytest.mark.covers("CF-67")
def test_a_first_start_with_a_second_worker_joining_reads_everything_once(broker: Any) -> None:
    async def scenario() -> tuple[int, int]:
        async with traffic(broker.bootstrap, "fresh", RATE) as flow:
            async with flowing(flow):
                await asyncio.sleep(0.3)
                flow.worker()
                await asyncio.sleep(0.4)
                flow.worker()
                await asyncio.sleep(2.5)
            return lost_and_repeated(flow, await flow.copies())

    assert asyncio.run(scenario()) == (0, 0)


@pytest.mark.covers("CF-67")
@pytest.mark.timeout(90)
def test_an_outage_of_the_broker_loses_nothing(broker: Any) -> None:
    if not hasattr(broker, "kill"):
        pytest.skip("a broker somebody else runs is not killed")

    async def scenario() -> tuple[int, int]:
        async with traffic(broker.bootstrap, "outage", RATE) as flow:
            worker = flow.worker()
            await worker.joined()
            async with flowing(flow):
                await asyncio.sleep(1.5)
                await asyncio.to_thread(broker.kill)
                await asyncio.sleep(2)
                await asyncio.to_thread(broker.start)
                await asyncio.sleep(2)
            return lost_and_repeated(flow, await flow.copies())

    lost, repeated = asyncio.run(scenario())
    assert lost == 0
    # The group may have forgotten its members: then it is as if the worker had been killed.
    assert repeated <= KILL_REPEATS
