"""One call for all who ask the same at a time; it ends though they go, and no more run at once than may."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from agents.concurrency import SingleFlight


def played(story: Callable[[], Awaitable[None]]) -> Callable[[], None]:
    """A story as a test."""

    def test() -> None:
        asyncio.run(asyncio.wait_for(story(), 10))

    return test


class Slow:
    """A read that ends when it is let go, and counts."""

    def __init__(self) -> None:
        self.begun = self.ended = self.cancelled = 0
        self.go = asyncio.Event()

    async def __call__(self) -> int:
        self.begun += 1
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        self.ended += 1
        return self.begun


async def soon() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@played
async def test_who_asks_the_same_meanwhile_gets_the_same_answer() -> None:
    reads, slow = SingleFlight(4), Slow()
    asked = [asyncio.create_task(reads.share("k", slow)) for _ in range(3)]
    await soon()
    slow.go.set()
    assert await asyncio.gather(*asked) == [1, 1, 1]
    assert await reads.share("k", slow) == 2, "an answer of before is no answer of now"


@played
async def test_another_question_is_another_read() -> None:
    reads, slow = SingleFlight(4), Slow()
    asked = [asyncio.create_task(reads.share(key, slow)) for key in ("a", "b")]
    await soon()
    assert slow.begun == 2
    slow.go.set()
    await asyncio.gather(*asked)


@played
async def test_what_has_begun_is_read_to_its_end_though_its_callers_go() -> None:
    reads, slow = SingleFlight(4), Slow()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await reads.share("k", slow)
    later = asyncio.create_task(reads.share("k", slow))
    await soon()
    slow.go.set()
    assert await later == 1
    assert (slow.begun, slow.ended, slow.cancelled) == (1, 1, 0)


@played
async def test_no_more_at_once_than_may_and_who_waits_may_go() -> None:
    reads, slow = SingleFlight(2), Slow()
    asked = [asyncio.create_task(reads.share(key, slow)) for key in range(5)]
    await soon()
    assert slow.begun == 2
    asked[2].cancel()
    await soon()
    slow.go.set()
    await asyncio.gather(*asked[:2], *asked[3:])
    assert slow.begun == 4, "whoever went before his turn has not been read for"


@played
async def test_who_waited_for_a_turn_takes_the_answer_of_a_read_begun_meanwhile() -> None:
    reads, first, slow = SingleFlight(2), Slow(), Slow()
    busy = [asyncio.create_task(reads.share(key, first)) for key in ("one", "two")]
    await soon()
    asked = [asyncio.create_task(reads.share("k", slow)) for _ in range(3)]
    await soon()
    first.go.set()
    await asyncio.gather(*busy)
    await soon()
    slow.go.set()
    assert await asyncio.gather(*asked) == [1, 1, 1]
    slow.go.clear()
    again = [asyncio.create_task(reads.share(key, slow)) for key in range(2)]
    await soon()
    slow.go.set()
    assert await asyncio.gather(*again) == [3, 3], "every turn was given back"


@played
async def test_a_failure_is_everybodys_and_of_that_read_only() -> None:
    reads = SingleFlight(1)

    async def fails() -> None:
        await asyncio.sleep(0)
        raise OSError("gone")

    found = await asyncio.gather(*(reads.share("k", fails) for _ in range(2)), return_exceptions=True)
    assert [str(each) for each in found] == ["gone", "gone"]
    slow = Slow()
    slow.go.set()
    assert await reads.share("k", slow) == 1


@played
async def test_a_failure_whose_callers_have_gone_is_not_reported_as_never_asked() -> None:
    reads, seen = SingleFlight(1), []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: seen.append(context))
    go = asyncio.Event()

    async def fails() -> None:
        await go.wait()
        raise OSError("gone")

    asked = asyncio.create_task(reads.share("k", fails))
    await soon()
    asked.cancel()
    await soon()
    go.set()
    await soon()
    del asked
    assert seen == []


@played
async def test_closing_ends_what_is_under_way() -> None:
    reads, slow = SingleFlight(1), Slow()
    asked = asyncio.create_task(reads.share("k", slow))
    await soon()
    await reads.close()
    assert slow.cancelled == 1
    with pytest.raises(asyncio.CancelledError):
        await asked
