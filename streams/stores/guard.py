"""Circuit breakers of stores: a time limit, one error type, and no queue before a dead store."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from typing import TypeVar

from agents.concurrency import timeout
from agents.errors import Unavailable

T = TypeVar("T")

PAUSE_S = 1.0


def is_closed_transport(error: RuntimeError) -> bool:
    """Whether uvloop reports an ended connection: it raises no OSError, which drivers expect."""
    return "the handler is closed" in str(error)


def always(_: Exception) -> bool:
    return True


class CircuitBreaker:
    """The calls of one store. After a failure they are refused at once, except one probe per pause.

    A pause below a second doubles with each probe that fails, up to a second: a store is noticed again after at most
    twice the time that it was away, and is not asked twenty times a second for as long as that takes.

    `errors` are the driver's; `is_outage` tells those that mean "does not answer". Others are bugs and are raised.
    With a `probe` no caller waits for a store known to be silent: the probe runs in parallel.
    Calls above `at_once` wait before their time limit starts: a queue of ours is not a failure of the store.
    """

    def __init__(
        self,
        what: str,
        *,
        timeout: float,
        errors: tuple[type[Exception], ...],
        is_outage: Callable[[Exception], bool] = always,
        clock: Callable[[], float] = time.monotonic,
        pause: float = PAUSE_S,
        probe: Callable[[], Awaitable[object]] | None = None,
        at_once: int | None = None,
    ) -> None:
        self.what = what
        self._timeout = timeout
        self._errors = errors
        self._is_outage = is_outage
        self._clock = clock
        self._first_pause = self._pause = pause
        self._probe = probe
        self._slots: AbstractAsyncContextManager[None] = (
            nullcontext() if at_once is None else asyncio.Semaphore(at_once)
        )
        self._probing: asyncio.Task[None] | None = None
        self._probes = False
        self._closed_until: float | None = None
        self._detail = ""

    async def run(self, call: Callable[[], Awaitable[T]], *, timeout: float | None = None) -> T:
        """The result of the call; raises `Unavailable` when the store fails, is too slow, or has just failed."""
        async with self._slots:
            probes = self._admit()
            try:
                return await self._run(call, self._timeout if timeout is None else timeout)
            finally:
                self._probes = self._probes and not probes

    async def check(self, call: Callable[[], Awaitable[T]]) -> T:
        """As `run`, but regardless of the known state, to learn the current one."""
        return await self._run(call, self._timeout)

    async def close(self) -> None:
        """Cancel a running probe."""
        if self._probing is not None and not self._probing.done():
            self._probing.cancel()
            await asyncio.wait({self._probing})

    async def _run(self, call: Callable[[], Awaitable[T]], seconds: float) -> T:
        try:
            async with timeout(seconds):
                found = await call()
        except (TimeoutError, OSError) as error:
            raise self._failed(error) from error
        except RuntimeError as error:
            if not is_closed_transport(error):
                raise
            raise self._failed(ConnectionResetError("the connection is closed")) from error
        except self._errors as error:
            if self._is_outage(error):
                raise self._failed(error) from error
            raise
        self._closed_until = None
        return found

    @property
    def state(self) -> str | None:
        """The store's last error; None while it answers."""
        return None if self._closed_until is None else self._detail

    def _admit(self) -> bool:
        """Whether this call is the probe; during it all others are refused: waiting would cost each a time-out."""
        if self._closed_until is None:
            return False
        if self._probes or self._clock() < self._closed_until:
            raise Unavailable(self.what, self._detail)
        if self._probe is None:
            self._probes = True
            return True
        if self._probing is None or self._probing.done():
            self._probing = asyncio.get_running_loop().create_task(self._ask(self._probe))
        raise Unavailable(self.what, self._detail)

    async def _ask(self, probe: Callable[[], Awaitable[object]]) -> None:
        with suppress(Unavailable):
            await self._run(probe, self._timeout)

    def _failed(self, error: Exception) -> Unavailable:
        now = self._clock()
        if self._closed_until is None:
            self._pause = self._first_pause
        elif now >= self._closed_until:  # not another call of those that failed together
            self._pause = max(self._first_pause, min(2 * self._pause, PAUSE_S))
        self._closed_until = now + self._pause
        self._detail = str(error) or f"no answer in {self._timeout:g} s"
        return Unavailable(self.what, self._detail)
