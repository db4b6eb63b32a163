"""Concurrency: batches, locks by key, shared calls, retries and time limits."""

import asyncio
import logging
import traceback
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar

from agents.errors import Unavailable

T = TypeVar("T")
R = TypeVar("R")

LOGGER = logging.getLogger("fathom.calls")
FIRST_S, LONGEST_S = 0.05, 1.0
# A timer that fires this late means that the event loop was stalled: input from meanwhile is still unread.
STALL_S = 0.1
# To read so many characters takes some 10 ms; a thread costs less than 1.
LONG_TEXT = 40_000
_ON_WAIT: ContextVar[Callable[[], None] | None] = ContextVar("on_wait", default=None)


async def beside_loop(chars: int, work: Callable[[], T]) -> T:
    """What some work on texts of so many characters gives; of long ones in a thread, so that others go on meanwhile."""
    return await asyncio.to_thread(work) if chars > LONG_TEXT else work()


def on_wait(tell: Callable[[], None]) -> None:
    """Have this task tell when it waits for what others have to do first."""
    _ON_WAIT.set(tell)


def waits() -> None:
    """Tell whoever wants to know that this task waits now."""
    if (tell := _ON_WAIT.get()) is not None:
        tell()


@dataclass(frozen=True, slots=True)
class RetryUntil:
    """Retries of a read whose result may arrive later, since topics have no common order; 0 seconds: one attempt."""

    seconds: float
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def find(self, read: Callable[[], Awaitable[T | None]]) -> T | None:
        """The result of the read as soon as there is one; None when the time is up."""
        left, pause = self.seconds, FIRST_S
        while (found := await read()) is None and left > 0:
            waits()
            await self.sleep(min(pause, left))
            left, pause = left - pause, min(pause * 2, LONGEST_S)
        return found


class KeyedLock:
    """A FIFO lock per key; unused keys take no memory."""

    def __init__(self) -> None:
        self._under_way: dict[asyncio.Event, Sequence[str]] = {}

    @asynccontextmanager
    async def of(self, *keys: str) -> AsyncIterator[None]:
        """Hold all these keys, after all earlier callers with one of them."""
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
    """One shared call for concurrent callers with an equal key; at most `max_calls` run, the others wait.

    A caller may be cancelled: a waiting call is then not made, a running one completes.
    """

    def __init__(self, max_calls: int) -> None:
        self._turns = asyncio.Semaphore(max_calls)
        self._under_way: dict[Hashable, asyncio.Task[Any]] = {}

    async def share(self, key: Hashable, call: Callable[[], Awaitable[T]]) -> T:
        """The result of the call, or of the running one for an equal key; raises its error."""
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
        """Cancel all running calls."""
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
    """Retrieve a future's error, so that it is not logged as never retrieved when all callers have gone."""
    if not ended.cancelled():
        ended.exception()


# Items, with the future of their results.
_Waiting = deque[tuple[Sequence[T], asyncio.Future[list[R]]]]


class MicroBatcher(Generic[T, R]):
    """One call for all items that arrive while the call before is under way.

    Calls run one at a time in FIFO order; urgent items go first, by themselves. A call has at most `max_items`
    (`max_urgent`), or one caller's if those are more. Errors among `shared_errors` reach every caller; after any other
    each caller's items are tried once alone, and it gets their error. A cancelled caller's items stay in.

    With `every`, a call begins only at multiples of so many seconds of the loop's clock, at which those of other
    batchers begin too, or as soon as `enough` items wait.
    """

    def __init__(
        self,
        call: Callable[[list[T]], Awaitable[Sequence[R] | None]],
        max_items: int,
        *,
        max_urgent: int = 0,
        shared_errors: tuple[type[Exception], ...] = (),
        every: float = 0.0,
        enough: int = 1,
    ) -> None:
        self._call, self._shared_errors = call, shared_errors
        self._every, self._enough, self._plenty = every, enough, asyncio.Event()
        self._urgent: _Waiting[T, R] = deque()
        self._later: _Waiting[T, R] = deque()
        self._queues = ((self._urgent, max_urgent), (self._later, max_items))
        self._calling: asyncio.Task[None] | None = None

    async def add(self, items: Sequence[T], *, urgent: bool = False) -> list[R]:
        """The results for these items, in order; raises the call's error."""
        answer: asyncio.Future[list[R]] = asyncio.get_running_loop().create_future()
        (self._urgent if urgent else self._later).append((items, answer))
        if self._has_enough():
            self._plenty.set()
        if self._calling is None:
            self._calling = asyncio.create_task(self._call_all())
        return await answer

    async def close(self) -> None:
        """Cancel the running call and all waiting callers."""
        if self._calling is not None:
            self._calling.cancel()
            await asyncio.wait({self._calling})

    async def _call_all(self) -> None:
        try:
            while self._urgent or self._later:
                await asyncio.sleep(0)  # lets callers that are ready add their items
                if self._every:
                    await self._due()
                await self._settle(next(_batch(queue, limit) for queue, limit in self._queues if queue))
        finally:
            self._calling = None
            _cancel(self._urgent, self._later)

    async def _due(self) -> None:
        """Wait until the next call may begin."""
        if not self._has_enough():
            self._plenty.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._every - asyncio.get_running_loop().time() % self._every):
                    await self._plenty.wait()

    def _has_enough(self) -> bool:
        return bool(self._urgent) or sum(len(items) for items, _ in self._later) >= self._enough

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
            _cancel(batch)  # after a cancellation; finished futures are unaffected


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
    """The result of foreign code, and whether it was too late; (None, False) for any exception.

    What is no `Unavailable` is logged: its kind and where it was raised. At the limit it is abandoned, even if it
    ignores its cancellation; only code that blocks the loop is waited for.
    """
    asked: asyncio.Future[T] | None = None
    try:
        asked = asyncio.ensure_future(call())
        await asyncio.wait({asked}, timeout=max(seconds, 0.0))
        if asked.cancelled():  # cancelled by itself, not by us
            return None, False
        return (asked.result(), False) if asked.done() else (None, True)
    except TimeoutError:
        return None, True
    except Unavailable:
        return None, False
    except Exception as error:  # noqa: BLE001 - whatever it is, its caller has an answer without it
        # A fault of that code, which must be seen. Named, not quoted: it may quote what a user said.
        LOGGER.error("call.failed", extra={"fields": {"error": type(error).__name__, "at": _raised_at(error)}})
        return None, False
    finally:
        if asked is not None and not asked.done():
            asked.cancel()
            _LEFT.add(asked)
            asked.add_done_callback(_LEFT.discard)
            asked.add_done_callback(retrieve)


def _raised_at(error: BaseException) -> str:
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    return f"{frame.f_code.co_filename}:{line}"


# Abandoned tasks until they end: a task without a reference may be garbage-collected.
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
    """The timer of the limit; after a stall of the loop it first lets pending input be read."""

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
