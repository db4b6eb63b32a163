"""Calls that go together: what is in each, in which order, who gets which answer, and who hears of an error."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from agents.concurrency import MicroBatcher


class Store:
    """Keeps what each write held; a write goes on when it is let."""

    def __init__(self, *, held: bool = False, wrong: str | None = None) -> None:
        self.writes: list[list[str]] = []
        self.go = asyncio.Event()
        self.wrong = wrong
        if not held:
            self.go.set()

    async def __call__(self, items: list[str]) -> None:
        self.writes.append(items)
        await self.go.wait()
        if self.wrong in items:
            raise ValueError(self.wrong)
        if "down" in items:
            raise ConnectionError("down")


def story(told: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(told())


def test_what_comes_while_a_write_is_under_way_goes_in_the_next():
    async def told() -> None:
        store = Store(held=True)
        together = MicroBatcher(store, 4)
        first = asyncio.create_task(together.add(["a", "b"]))
        await asyncio.sleep(0.01)
        others = [asyncio.create_task(together.add([name])) for name in "cdefgh"]
        await asyncio.sleep(0.01)
        assert (store.writes, first.done()) == ([["a", "b"]], False)
        store.go.set()
        await asyncio.gather(first, *others)
        assert store.writes == [["a", "b"], ["c", "d", "e", "f"], ["g", "h"]]

    story(told)


def test_more_than_fits_of_one_caller_is_one_write():
    async def told() -> None:
        store = Store()
        together = MicroBatcher(store, 2)
        await asyncio.gather(together.add(["a"]), together.add(["b", "c", "d"]), together.add(["e"]))
        assert store.writes == [["a"], ["b", "c", "d"], ["e"]]

    story(told)


def test_an_error_of_one_is_heard_by_that_one_alone():
    async def told() -> None:
        store = Store(wrong="b")
        together = MicroBatcher(store, 10, shared_errors=(ConnectionError,))
        said = await asyncio.gather(*(together.add([name]) for name in "abc"), return_exceptions=True)
        assert [type(each) for each in said] == [list, ValueError, list]
        assert store.writes == [["a", "b", "c"], ["a"], ["b"], ["c"]]

    story(told)


def test_an_error_of_the_store_is_everybodys_and_nothing_is_tried_again():
    async def told() -> None:
        store = Store()
        together = MicroBatcher(store, 10, shared_errors=(ConnectionError,))
        said = await asyncio.gather(*(together.add([name]) for name in ("a", "down")), return_exceptions=True)
        assert [str(each) for each in said] == ["down", "down"]
        assert len(store.writes) == 1
        await together.add(["later"])
        assert store.writes[-1] == ["later"]

    story(told)


def test_who_gives_up_waiting_keeps_nobody_else_from_being_stored():
    async def told() -> None:
        store = Store(held=True)
        together = MicroBatcher(store, 10)
        first, second = (asyncio.create_task(together.add([name])) for name in "ab")
        await asyncio.sleep(0.01)
        first.cancel()
        await asyncio.sleep(0.01)
        store.go.set()
        await second
        assert first.cancelled()
        assert store.writes == [["a", "b"]]

    story(told)


def test_closing_ends_all_that_waits():
    async def told() -> None:
        store = Store(held=True)
        together = MicroBatcher(store, 1)
        waiting = [asyncio.create_task(together.add([name])) for name in "abc"]
        await asyncio.sleep(0.01)
        await together.close()
        for each in waiting:
            with pytest.raises(asyncio.CancelledError):
                await each
        await together.close()

    story(told)


def test_an_error_that_is_everybodys_reaches_even_one_alone_once_and_any_other_is_tried_once_again():
    async def told() -> None:
        store = Store(wrong="b")
        together = MicroBatcher(store, 10, shared_errors=(ConnectionError,))
        for name, error in (("down", ConnectionError), ("b", ValueError)):
            with pytest.raises(error):
                await together.add([name])
        assert store.writes == [["down"], ["b"], ["b"]]

    story(told)


def test_closing_while_each_is_tried_alone_ends_all_that_wait():
    async def told() -> None:
        async def alone(items: list[str]) -> None:
            if len(items) > 1:
                raise ValueError(items)
            await asyncio.sleep(30)

        together = MicroBatcher(alone, 10)
        waiting = [asyncio.create_task(together.add([name])) for name in "abc"]
        await asyncio.sleep(0.01)
        await together.close()
        said = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 5)
        assert [type(each) for each in said] == [asyncio.CancelledError] * 3

    story(told)


def test_each_caller_gets_the_answers_to_its_own_items_in_their_order():
    async def told() -> None:
        calls: list[list[str]] = []

        async def upper(items: list[str]) -> list[str]:
            calls.append(items)
            return [item.upper() for item in items]

        together = MicroBatcher(upper, 10)
        assert await asyncio.gather(together.add(["a", "b"]), together.add([]), together.add(["c"])) == [
            ["A", "B"],
            [],
            ["C"],
        ]
        assert calls == [["a", "b", "c"]]

    story(told)


def test_what_is_urgent_goes_first_by_itself_and_as_many_as_may():
    async def told() -> None:
        store = Store(held=True)
        together = MicroBatcher(store, 2, max_urgent=3)
        first = asyncio.create_task(together.add(["a"]))
        await asyncio.sleep(0.01)
        later = [asyncio.create_task(together.add([name])) for name in "bcd"]
        urgent = [asyncio.create_task(together.add([name], urgent=True)) for name in "WXYZ"]
        await asyncio.sleep(0.01)
        store.go.set()
        await asyncio.gather(first, *later, *urgent)
        assert store.writes == [["a"], ["W", "X", "Y"], ["Z"], ["b", "c"], ["d"]]

    story(told)


def test_what_comes_within_a_time_goes_together():
    async def told() -> None:
        store = Store()
        together = MicroBatcher(store, 10, every=0.05, enough=9)
        waiting = [asyncio.create_task(together.add(["a"]))]
        for _ in range(5):
            await asyncio.sleep(0)
        waiting.append(asyncio.create_task(together.add(["b"])))
        await asyncio.gather(*waiting)
        assert store.writes == [["a", "b"]]

    story(told)


def test_as_soon_as_enough_wait_nobody_waits_for_the_time():
    async def told() -> None:
        store = Store()
        together = MicroBatcher(store, 10, every=3600.0, enough=3)
        first = asyncio.create_task(together.add(["a"]))
        await asyncio.sleep(0.01)
        assert store.writes == []
        await asyncio.wait_for(asyncio.gather(first, together.add(["b"]), together.add(["c"])), 5)
        assert store.writes == [["a", "b", "c"]]
        await asyncio.wait_for(together.add(["d", "e", "f"]), 5)
        assert store.writes[1:] == [["d", "e", "f"]]
        await asyncio.wait_for(together.add(["u"], urgent=True), 5)
        assert store.writes[2:] == [["u"]]

    story(told)
