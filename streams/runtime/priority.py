"""Who goes first in one process: packs on their way, then what learns from them.

All stages of a process share one loop. What computes (vectors, summaries, claims) would make every hop of a pack wait
for its turn behind it; so records of background stages are let in one by one, and each waits until no pack is on its
way, but not for long: under steady traffic what learns still gets a share.
"""

import asyncio

LONGEST_WAIT_S = 0.01


class PriorityGate:
    """Counts the records of the pack path that are in hand."""

    def __init__(self) -> None:
        self._urgent = 0
        self._calm = asyncio.Event()
        self._calm.set()
        self._next = asyncio.Lock()

    def enter(self) -> None:
        """A record of the pack path is in hand."""
        self._urgent += 1
        self._calm.clear()

    def leave(self, records: int) -> None:
        """Records of the pack path are done."""
        self._urgent -= records
        if self._urgent <= 0:
            self._calm.set()

    async def turn(self) -> None:
        """Return when nothing urgent is in hand, or after ten milliseconds: one caller after the other.

        All at once they would be a wall of work before the next pack, as often as there is a moment of calm.
        """
        async with self._next:
            await asyncio.sleep(0)
            if self._urgent > 0:
                try:
                    async with asyncio.timeout(LONGEST_WAIT_S):
                        await self._calm.wait()
                except TimeoutError:
                    return
