"""Who shares a key waits for those who came before; others do not."""

import asyncio
from collections.abc import Iterable

import pytest

from agents.concurrency import KeyedLock


async def told(turns: KeyedLock, log: list[str], name: str, keys: Iterable[str], go: asyncio.Event) -> None:
    async with turns.of(*keys):
        log.append(f"{name} begins")
        await go.wait()
        log.append(f"{name} ends")


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_who_shares_a_key_waits_in_the_order_they_came_and_others_go_at_once():
    async def story() -> list[str]:
        turns, log = KeyedLock(), []
        go = {name: asyncio.Event() for name in ("first", "second", "third", "other")}
        keys = {"first": "ab", "second": "bc", "third": "cd", "other": "x"}
        async with asyncio.TaskGroup() as group:
            for name, event in go.items():
                group.create_task(told(turns, log, name, keys[name], event))
            await settled()
            assert log == ["first begins", "other begins"]
            for name in ("third", "second", "first", "other"):  # who may go on first is no matter
                go[name].set()
        return log

    log = asyncio.run(story())
    assert [line for line in log if "other" not in line] == [
        f"{name} {what}" for name in ("first", "second", "third") for what in ("begins", "ends")
    ]


def test_who_fails_or_gives_up_waiting_holds_nobody_up():
    async def story() -> list[str]:
        turns, log, never, now = KeyedLock(), [], asyncio.Event(), asyncio.Event()
        now.set()
        first = asyncio.create_task(told(turns, log, "first", "a", never))
        second = asyncio.create_task(told(turns, log, "second", "a", never))
        third = asyncio.create_task(told(turns, log, "third", "a", now))
        await settled()
        second.cancel()
        await settled()
        assert log == ["first begins"]  # the third waits for the first all the same
        first.cancel()
        await asyncio.wait_for(third, 5)
        with pytest.raises(asyncio.CancelledError):
            await first
        return log

    assert asyncio.run(story()) == ["first begins", "third begins", "third ends"]
