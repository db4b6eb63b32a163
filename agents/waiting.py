"""Wait a moment for what an event names: across topics there is no order, so it may not be stored yet (CF-69)."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

FIRST_S, LONGEST_S = 0.05, 1.0


@dataclass(frozen=True, slots=True)
class Patience:
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
