"""Who restores what of a view that follows the log, and how often: the same for working sets and tool sessions."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Collection

from agents.errors import Behind

# Another worker that restores the same partition takes the token; one of the two lets go for so long.
YIELD_S = 0.3
TRIES = 8

Partitions = frozenset[int]


class Restorer:
    """Makes partitions whole, one restoration at a time, and of all that need it: those `held`, and those asked for.

    `lacking` says which of some are not whole, `restore` makes them so. Both raise `Unavailable`; `restore` raises
    `Behind` when somebody else began to restore one of them.
    """

    def __init__(
        self,
        lacking: Callable[[Partitions], Awaitable[Partitions]],
        restore: Callable[[Partitions], Awaitable[None]],
    ) -> None:
        self.held: Partitions = frozenset()
        self._lacking = lacking
        self._restore = restore
        self._restoring: asyncio.Task[None] | None = None
        self._wanted: set[int] = set()

    async def restored(self, partitions: Collection[int]) -> None:
        """Wait until these are whole."""
        self._wanted.update(partitions)
        while self._wanted.intersection(partitions) or self._restoring is not None:
            if self._restoring is None:
                self._restoring = asyncio.create_task(self._restore_wanted())
                self._restoring.add_done_callback(self._ended)
            # A reader that runs out of time must not end what others wait for.
            await asyncio.shield(self._restoring)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._restoring = None
        if not task.cancelled():
            task.exception()  # whoever waits hears of it; perhaps nobody does any more

    async def _restore_wanted(self) -> None:
        held, wanted = self.held, frozenset(self._wanted | self.held)
        self._wanted.clear()
        for left in reversed(range(TRIES)):
            # What was given up meanwhile is its next owner's: two who restore it take it from each other for ever.
            wanted -= held - self.held
            lacking = await self._lacking(wanted)
            if not lacking:
                return
            try:
                await self._restore(lacking)
                return
            except Behind:
                if not left:
                    raise
                await asyncio.sleep(YIELD_S * random.random())
