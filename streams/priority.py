"""Who goes first in one process: packs on their way, then what learns from them.

All stages of a process share one loop. What computes (vectors, summaries, claims) would make every hop of a pack wait
for its turn behind it; so before each record a background stage waits until no pack is on its way, but not for long:
under steady traffic it still gets a share.
"""

import asyncio

LONGEST_WAIT_S = 0.01


class Gate:
    """Counts the records of the pack path that are in hand."""

    def __init__(self) -> None:
        self._urgent = 0
        self._calm = asyncio.Event()
        self._calm.set()

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
        """Return when nothing urgent is in hand, or after ten milliseconds."""
        if self._urgent > 0:
            try:
                async with asyncio.timeout(LONGEST_WAIT_S):
                    await self._calm.wait()
            except TimeoutError:
                return
