"""Packs on their way go first; what learns from them waits, but not for ever."""

import asyncio

from streams.priority import Gate
from streams.topology import STAGES


def test_background_work_waits_until_nothing_urgent_is_in_hand():
    async def scenario() -> list[str]:
        gate, order = Gate(), []
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
        gate = Gate()
        gate.enter()
        await asyncio.wait_for(gate.turn(), 1)
        return "had its turn"

    assert asyncio.run(scenario()) == "had its turn"


def test_no_stage_of_the_pack_path_is_a_background_one():
    path = {"depth", "planner", "retrieval", "assembler"}
    assert {s.group_name for s in STAGES if not s.background} == path
