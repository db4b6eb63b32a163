"""Packs on their way go first; what learns from them waits, but not for ever."""

import asyncio

from streams.runtime.priority import PriorityGate
from streams.topology import STAGES


def test_background_work_waits_until_nothing_urgent_is_in_hand():
    async def scenario() -> list[str]:
        gate, order = PriorityGate(), []
        gate.enter()

        async def background() -> None:
            await gate.turn()
            order.append("background")

        waiting = asyncio.create_task(background())
        await asyncio.sleep(0)
        order.append("urgent")
        gate.leave(1)
        await waiting
        return order

    assert asyncio.run(scenario()) == ["urgent", "background"]


def test_background_work_gets_its_share_while_urgent_work_never_ends():
    async def scenario() -> str:
        gate = PriorityGate()
        gate.enter()
        await asyncio.wait_for(gate.turn(), 1)
        return "had its turn"

    assert asyncio.run(scenario()) == "had its turn"


def test_background_work_is_let_in_one_by_one_so_that_urgent_work_comes_between():
    async def scenario() -> list[str]:
        gate, order = PriorityGate(), []

        async def background(number: int) -> None:
            await gate.turn()
            order.append(f"background {number}")
            if number == 0:
                gate.enter()  # the next message is read while the first is handled
                order.append("urgent")

        waiting = [asyncio.create_task(background(number)) for number in range(3)]
        for _ in range(20):
            await asyncio.sleep(0)
        assert order == ["background 0", "urgent"]
        gate.leave(1)
        await asyncio.gather(*waiting)
        return order

    assert asyncio.run(scenario()) == ["background 0", "urgent", "background 1", "background 2"]


def test_no_stage_that_somebody_waits_for_is_a_background_one():
    path = {"depth", "planner", "retrieval", "assembler", "presenter", "assessor", "tool-gate"}
    assert {s.group_name for s in STAGES if not s.background} == path
