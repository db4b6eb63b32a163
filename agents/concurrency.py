"""What runs beside what: batches, locks by key, shared calls, retries and limits of time."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

FIRST_S, LONGEST_S = 0.05, 1.0
# A loop that comes this much late to a limit was away itself: what came meanwhile has yet to be looked at.
STALL_S = 0.1


@dataclass(frozen=True, slots=True)
class RetryUntil:
    """For how long a reader asks again for what is not there, as across topics there is no order; 0 asks once."""

    seconds: float
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def find(self, read: Callable[[], Awaitable[T | None]]) -> T | None:
        """What the read finds, as soon as it does; None when it never did in time."""
        left, pause = self.seconds, FIRST_S
        while (found := await read()) is None and left > 0:
            await self.sleep(min(pause, left))
            left, pause = left - pause, min(pause * 2, LONGEST_S)
        return found


class KeyedLock:
    """A FIFO lock per key; a key that nobody holds costs nothing."""

    def __init__(self) -> None:
        self._under_way: dict[asyncio.Event, Sequence[str]] = {}

    @asynccontextmanager
    async def of(self, *keys: str) -> AsyncIterator[None]:
        """Hold all these keys: wait for everybody who asked before for one of them."""
        before = [done for done, others in self._under_way.items() if not set(keys).isdisjoint(others)]
        own = asyncio.Event()
        self._under_way[own] = keys
        try:
            for done in before:
                await done.wait()
            yield
        finally:
            del self._under_way[own]
            own.set()


class SingleFlight:
    """One call for all who ask the same while it runs; at most `max_calls` at a time, the others wait their turn.

    A caller may give up: before its turn nothing is called for it, and what has begun runs to its end.
    """

    def __init__(self, max_calls: int) -> None:
        self._turns = asyncio.Semaphore(max_calls)
        self._under_way: dict[Hashable, asyncio.Task[Any]] = {}

    async def share(self, key: Hashable, call: Callable[[], Awaitable[T]]) -> T:
        """What the call returns or raises, or the one under way for an equal key."""
        task = self._under_way.get(key)
        if task is None:
            await self._turns.acquire()
            task = self._under_way.get(key)
            if task is None:
                task = self._begun(key, call)
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

    def _begun(self, key: Hashable, call: Callable[[], Awaitable[T]]) -> "asyncio.Task[T]":
        async def calling() -> T:
            return await call()

        def ended(task: "asyncio.Task[T]") -> None:
            del self._under_way[key]
            self._turns.release()
            retrieve(task)

        task = asyncio.get_running_loop().create_task(calling())
        self._under_way[key] = task
        task.add_done_callback(ended)
        return task


def retrieve(ended: "asyncio.Future[Any]") -> None:
    """Look at a future's error, so that one whose callers have all gone is not logged as never retrieved."""
    if not ended.cancelled():
        ended.exception()


# Items and who waits for what becomes of them.
_Waiting = deque[tuple[Sequence[T], asyncio.Future[list[R]]]]


class MicroBatcher(Generic[T, R]):
    """One call for all items that arrive while the call before is under way.

    Calls run one at a time in FIFO order; urgent items go first, by themselves. A call has at most `max_items`
    (`max_urgent`), or one caller's if those are more. Errors among `shared_errors` reach every caller; after any other
    each caller's items are tried once alone, and it gets their error. A cancelled caller's items stay in.
    """

    def __init__(
        self,
        call: Callable[[list[T]], Awaitable[Sequence[R] | None]],
        max_items: int,
        *,
        max_urgent: int = 0,
        shared_errors: tuple[type[Exception], ...] = (),
    ) -> None:
        self._call, self._shared_errors = call, shared_errors
        self._urgent: _Waiting[T, R] = deque()
        self._later: _Waiting[T, R] = deque()
        self._queues = ((self._urgent, max_urgent), (self._later, max_items))
        self._calling: asyncio.Task[None] | None = None

    async def add(self, items: Sequence[T], *, urgent: bool = False) -> list[R]:
        """What the call returned for these items, in their order; raises what it raised."""
        answer: asyncio.Future[list[R]] = asyncio.get_running_loop().create_future()
        (self._urgent if urgent else self._later).append((items, answer))
        if self._calling is None:
            self._calling = asyncio.create_task(self._call_all())
        return await answer

    async def close(self) -> None:
        """End what is under way; whoever waits is cancelled."""
        if self._calling is not None:
            self._calling.cancel()
            await asyncio.wait({self._calling})

    async def _call_all(self) -> None:
        try:
            while self._urgent or self._later:
                await asyncio.sleep(0)  # whatever else has come by now goes along
                await self._settle(next(_batch(queue, limit) for queue, limit in self._queues if queue))
        finally:
            self._calling = None
            _cancel(self._urgent, self._later)

    async def _settle(self, batch: _Waiting[T, R], *, again: bool = False) -> None:
        try:
            found = iter(await self._call([item for items, _ in batch for item in items]) or ())
            for items, answer in batch:
                own = list(islice(found, len(items)))
                if not answer.done():
                    answer.set_result(own)
        except Exception as error:  # noqa: BLE001 - it is the callers' to settle, each of them
            if not again and not isinstance(error, self._shared_errors):
                for each in batch:
                    await self._settle(deque([each]), again=True)
            for _, answer in batch:
                if not answer.done():
                    answer.set_exception(error)
        finally:
            _cancel(batch)  # where it was ended midway; who has an answer keeps it


def _batch(queue: _Waiting[T, R], limit: int) -> _Waiting[T, R]:
    batch = deque([queue.popleft()])
    size = len(batch[0][0])
    while queue and size + len(queue[0][0]) <= limit:
        size += len(queue[0][0])
        batch.append(queue.popleft())
    return batch


def _cancel(*queues: _Waiting[T, R]) -> None:
    for queue in queues:
        while queue:
            queue.popleft()[1].cancel()


async def call_with_deadline(call: Callable[[], Awaitable[T]], seconds: float) -> tuple[T | None, bool]:
    """What somebody else's code answers, and whether it was too late; (None, False) where it raised anything.

    It is left at the limit even when it does not end as it is told to; only code that holds the loop up is waited for.
    """
    asked: asyncio.Future[T] | None = None
    try:
        asked = asyncio.ensure_future(call())
        await asyncio.wait({asked}, timeout=max(seconds, 0.0))
        if asked.cancelled():  # by itself: nobody cancelled us
            return None, False
        return (asked.result(), False) if asked.done() else (None, True)
    except TimeoutError:
        return None, True
    except Exception:  # noqa: BLE001 - whatever it is, its caller has an answer without it
        return None, False
    finally:
        if asked is not None and not asked.done():
            asked.cancel()
            _LEFT.add(asked)
            asked.add_done_callback(_LEFT.discard)
            asked.add_done_callback(retrieve)


# What was left at its limit, until it ends: a task that nobody holds may be collected before.
_LEFT: set[asyncio.Future[Any]] = set()


@asynccontextmanager
async def timeout(seconds: float, *, stall: float = STALL_S) -> AsyncIterator[None]:
    """Let the body take so long; raises `TimeoutError`. A stall of our own loop by `stall` s does not use it up."""
    async with asyncio.timeout(None) as limit:
        ending = _Ending(limit, seconds, stall)
        try:
            yield
        finally:
            ending.cancel()


class _Ending:
    """When the limit comes; a loop that was away looks at what came meanwhile before it does."""

    __slots__ = ("_handle", "_limit", "_loop", "_stall")

    def __init__(self, limit: asyncio.Timeout, seconds: float, stall: float) -> None:
        self._limit = limit
        self._stall = stall
        self._loop = asyncio.get_running_loop()
        due = self._loop.time() + seconds
        self._handle = self._loop.call_at(due, self._due, due)

    def _due(self, due: float) -> None:
        now = self._loop.time()
        if now - due > self._stall:
            # The answer may lie in the socket since long: it is read before this comes again.
            again = now + self._stall
            self._handle = self._loop.call_at(again, self._due, again)
        else:
            self._limit.reschedule(now)

    def cancel(self) -> None:
        self._handle.cancel()
