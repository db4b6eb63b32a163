"""Long work beside everything else that runs in one loop.

A loop that is held for seconds answers no heartbeat: its process loses every partition it has, and begins anew.
"""

import asyncio
import time

SLICE_S = 0.002


class TimeSlice:
    """How long somebody works before all others in the loop have their turn."""

    def __init__(self) -> None:
        self._ends = time.perf_counter() + SLICE_S

    async def check(self) -> None:
        """Let the others run, if the slice is used up; a new one begins then."""
        if time.perf_counter() >= self._ends:
            await asyncio.sleep(0)
            self._ends = time.perf_counter() + SLICE_S
