"""Reads under way: whoever asks the same meanwhile gets the same answer, and nobody's impatience ends one.

A driver that is left in the middle of a read closes its connection. Where parts of packs run out of time, each such
read would cost the next ones a new connection, which makes more of them late: a server that was slow for a moment
stayed slow for as long as messages came.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class SingleFlight:
    """Runs at most so many reads at a time; whoever waits for his turn may go, what has begun is read to its end."""

    def __init__(self, most: int) -> None:
        self._turns = asyncio.Semaphore(most)
        self._under_way: dict[Hashable, asyncio.Task[Any]] = {}

    async def share(self, key: Hashable, read: Callable[[], Awaitable[T]]) -> T:
        """What the read returns or raises; that of a read under way for an equal key."""
        task = self._under_way.get(key)
        if task is None:
            await self._turns.acquire()
            task = self._under_way.get(key)
            if task is None:
                task = self._begun(key, read)
            else:
                self._turns.release()
        found: T = await asyncio.shield(task)
        return found

    async def close(self) -> None:
        """End what is under way."""
        tasks = [*self._under_way.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _begun(self, key: Hashable, read: Callable[[], Awaitable[T]]) -> "asyncio.Task[T]":
        async def reading() -> T:
            return await read()

        def ended(task: "asyncio.Task[T]") -> None:
            del self._under_way[key]
            self._turns.release()
            # Asked, so that one whose callers have all gone is not reported as never asked.
            if not task.cancelled():
                task.exception()

        task = asyncio.get_running_loop().create_task(reading())
        self._under_way[key] = task
        task.add_done_callback(ended)
        return task
