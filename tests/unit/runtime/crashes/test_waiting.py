"""What only waits is not in hand, and what is alone waits for nobody."""

import asyncio

import pytest

from agents.concurrency import AT_ONCE, IN_HANDS, MicroBatcher, RetryUntil


class Hands:
    def __init__(self) -> None:
        self.full = True
        self.seen: list[bool] = []

    def put_down(self) -> None:
        self.full = False

    def take_up(self) -> None:
        self.full = True


@pytest.mark.covers("B13")
def test_what_waits_for_what_it_names_is_put_down_and_taken_up_for_each_look():
    hands = Hands()

    async def pause(_: float) -> None:
        hands.seen.append(hands.full)

    async def look() -> str | None:
        hands.seen.append(hands.full)
        return "there" if len(hands.seen) > 4 else None

    async def scenario() -> str | None:
        IN_HANDS.set(hands)
        return await RetryUntil(10.0, pause).find(look)

    assert asyncio.run(scenario()) == "there"
    assert hands.seen == [True, False, True, False, True]
    assert hands.full


def test_what_is_alone_is_written_by_itself_and_at_once():
    batches: list[list[int]] = []

    async def call(items: list[int]) -> None:
        batches.append(items)

    async def scenario() -> float:
        batcher: MicroBatcher[int, None] = MicroBatcher(call, 500, every=5.0, enough=32)
        others = [asyncio.create_task(batcher.add([number])) for number in range(3)]
        await asyncio.sleep(0)
        AT_ONCE.set(True)
        began = asyncio.get_running_loop().time()
        await batcher.add([9])
        took = asyncio.get_running_loop().time() - began
        for other in others:
            other.cancel()
        await batcher.close()
        return took

    assert asyncio.run(scenario()) < 2.0
    assert batches[0] == [9]
