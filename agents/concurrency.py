"""Waiting: a moment for what an event names, as across topics there is no order (CF-69), and never beyond a limit."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")

FIRST_S, LONGEST_S = 0.05, 1.0
# A loop that comes this much late to a limit was away itself: what came meanwhile has yet to be looked at.
STALL_S = 0.1


@dataclass(frozen=True, slots=True)
class RetryUntil:
    """How long a reader asks again for what is not there; 0 asks once."""

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
    """Who shares a key goes one after the other, in the order of asking; a key that nobody has costs nothing."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, key: str) -> asyncio.Lock:
        """What to hold while at work on the key."""
        return self._locks.setdefault(key, asyncio.Lock())


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
            asked.add_done_callback(_ended)


# What was left at its limit, until it ends: a task that nobody holds may be collected before.
_LEFT: set[asyncio.Future[Any]] = set()


def _ended(left: "asyncio.Future[Any]") -> None:
    _LEFT.discard(left)
    if not left.cancelled():
        left.exception()  # looked at, so that nobody says it was not


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
