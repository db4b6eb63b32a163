"""Writes that come while one is under way go together in the next: a request costs the same for one as for fifty."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class MicroBatcher(Generic[T]):
    """One write at a time, in the order of coming, of at most `most` items (or one caller's, if those are more).

    An error `of_all` (the store is away) is everybody's. After any other each caller's items are written by
    themselves: only whose they are hears of it. A caller that gives up waiting takes nothing out.
    """

    def __init__(
        self, write: Callable[[list[T]], Awaitable[None]], most: int, *, of_all: tuple[type[Exception], ...] = ()
    ) -> None:
        self._write = write
        self._most = most
        self._of_all = of_all
        self._waiting: deque[tuple[Sequence[T], asyncio.Future[None]]] = deque()
        self._writing: asyncio.Task[None] | None = None

    async def add(self, items: Sequence[T]) -> None:
        """Returns when they are stored; raises what storing them raised."""
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((items, stored))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_all())
        await stored

    async def close(self) -> None:
        """End what is under way."""
        if self._writing is not None:
            self._writing.cancel()
            await asyncio.wait({self._writing})

    async def _write_all(self) -> None:
        try:
            while self._waiting:
                await asyncio.sleep(0)  # whatever else has come by now goes along
                await self._settle(self._next())
        finally:
            self._writing = None
            for _, stored in self._waiting:
                stored.cancel()
            self._waiting.clear()

    def _next(self) -> list[tuple[Sequence[T], "asyncio.Future[None]"]]:
        batch = [self._waiting.popleft()]
        size = len(batch[0][0])
        while self._waiting and size + len(self._waiting[0][0]) <= self._most:
            size += len(self._waiting[0][0])
            batch.append(self._waiting.popleft())
        return batch

    async def _settle(self, batch: Sequence[tuple[Sequence[T], "asyncio.Future[None]"]]) -> None:
        try:
            await self._write([item for items, _ in batch for item in items])
        except asyncio.CancelledError:
            for _, stored in batch:
                stored.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - it is the callers' to settle, each of them
            if len(batch) > 1 and not isinstance(error, self._of_all):
                for each in batch:
                    await self._settle([each])
                return
            for _, stored in batch:
                if not stored.done():
                    stored.set_exception(error)
        else:
            for _, stored in batch:
                if not stored.done():
                    stored.set_result(None)
