"""Time slices for long computations on a shared event loop.

A loop that is blocked for seconds answers no heartbeat: its process loses all its partitions, and starts over.
"""

import asyncio
import time

SLICE_S = 0.002


class TimeSlice:
    """The duration of work before the other tasks of the loop run."""

    def __init__(self) -> None:
        self._ends = time.perf_counter() + SLICE_S

    async def check(self) -> None:
        """Let other tasks run if the slice is used up, and start a new one."""
        if time.perf_counter() >= self._ends:
            await asyncio.sleep(0)
            self._ends = time.perf_counter() + SLICE_S
