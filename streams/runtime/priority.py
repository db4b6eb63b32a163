"""Scheduling priority within one process: the pack path before background stages.

All stages of a process share one event loop. Computation (vectors, summaries, claims) would delay every hop of a pack;
so records of background stages are admitted one by one, each when no pack is in progress or after a short timeout, so
that background stages are not starved under steady traffic.
"""

import asyncio

MAX_WAIT_S = 0.01


class PriorityGate:
    """A gate for background records: it counts the records in progress on the pack path."""

    def __init__(self) -> None:
        self._urgent = 0
        self._calm = asyncio.Event()
        self._calm.set()
        self._next = asyncio.Lock()

    def enter(self) -> None:
        """Count a record of the pack path as in progress."""
        self._urgent += 1
        self._calm.clear()

    def leave(self, records: int) -> None:
        """Count records of the pack path as done."""
        self._urgent -= records
        if self._urgent <= 0:
            self._calm.set()

    async def turn(self) -> None:
        """Wait until no urgent record is in progress, at most ten milliseconds; callers are admitted in FIFO order.

        Admitted together they would block the loop before the next pack.
        """
        async with self._next:
            await asyncio.sleep(0)
            if self._urgent > 0:
                try:
                    async with asyncio.timeout(MAX_WAIT_S):
                        await self._calm.wait()
                except TimeoutError:
                    return
