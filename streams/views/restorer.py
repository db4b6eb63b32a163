"""Who restores what of a view that follows the log, and how often: the same for working sets and tool sessions."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Collection

from agents.errors import Unavailable, ViewIncomplete

LOGGER = logging.getLogger("fathom.view")
LOOK_EVERY_S = 0.5
# Another worker that restores the same partition takes the token; one of the two lets go for so long.
YIELD_S = 0.3
TRIES = 8

Partitions = frozenset[int]


async def again_and_again(look: Callable[[], Awaitable[None]]) -> None:
    """Look now and then, for ever: a store that is away is looked at again, and so is one that gave us an error.

    Nobody awaits this: an error that ended it would leave a view that is never made whole again, and nobody told.
    """
    failed = False
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        try:
            await look()
            failed = False
        except Unavailable:
            continue
        except Exception as error:
            if not failed:
                LOGGER.error("view.bug", exc_info=error)
            failed = True


class Restorer:
    """Makes partitions whole, one restoration at a time, and of all that need it: those `held`, and those asked for.

    `lacking` says which of some are not whole, `restore` makes them so. Both raise `Unavailable`; `restore` raises
    `ViewIncomplete` when somebody else began to restore one of them.
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
            except ViewIncomplete:
                if not left:
                    raise
                await asyncio.sleep(YIELD_S * random.random())
