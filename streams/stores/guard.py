"""Every call to a store goes through its guard: a time limit, one error of ours, and no queue before a dead store."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from agents.errors import Unavailable

T = TypeVar("T")

PAUSE_SECONDS = 1.0


def always(_: Exception) -> bool:
    return True


class Guard:
    """Calls of one store. After a failure they are refused at once, but for one probe per pause.

    `errors` are the driver's; of these, `is_outage` picks what means "does not answer". Others are bugs and pass.
    """

    def __init__(
        self,
        what: str,
        *,
        timeout: float,
        errors: tuple[type[Exception], ...],
        is_outage: Callable[[Exception], bool] = always,
        clock: Callable[[], float] = time.monotonic,
        pause: float = PAUSE_SECONDS,
    ) -> None:
        self.what = what
        self._timeout = timeout
        self._errors = errors
        self._is_outage = is_outage
        self._clock = clock
        self._pause = pause
        self._closed_until: float | None = None
        self._probing = False
        self._detail = ""

    async def run(self, call: Callable[[], Awaitable[T]], *, timeout: float | None = None) -> T:
        """What the call returns; raises `Unavailable` when the store fails, is too slow, or just did."""
        probes = self._admit()
        try:
            async with asyncio.timeout(self._timeout if timeout is None else timeout):
                found = await call()
        except (TimeoutError, OSError) as error:
            raise self._failed(error) from error
        except self._errors as error:
            if self._is_outage(error):
                raise self._failed(error) from error
            raise
        finally:
            self._probing = self._probing and not probes
        self._closed_until = None
        return found

    @property
    def state(self) -> str | None:
        """What was last wrong with the store; None while it answers."""
        return None if self._closed_until is None else self._detail

    def _admit(self) -> bool:
        """Whether this call is the probe; during it all others are refused, as waiting would cost each a time-out."""
        if self._closed_until is None:
            return False
        if self._probing or self._clock() < self._closed_until:
            raise Unavailable(self.what, self._detail)
        self._probing = True
        return True

    def _failed(self, error: Exception) -> Unavailable:
        self._closed_until = self._clock() + self._pause
        self._detail = str(error) or f"no answer in {self._timeout:g} s"
        return Unavailable(self.what, self._detail)
