"""Writes of the same nodes one after the other, before the server has to order them.

Neo4j takes a row of writers that wait for one node for a deadlock, now and then: it ends one of them, which tries again
and meets the same row. On a busy machine eight writers of one summary used up all their tries.
"""

import asyncio
from collections.abc import AsyncIterator, Set
from contextlib import asynccontextmanager


class OrderedWrites:
    """Whoever shares a key with somebody who came before waits until he is done; all others go at once."""

    def __init__(self) -> None:
        self._under_way: dict[asyncio.Event, Set[str]] = {}

    @asynccontextmanager
    async def of(self, keys: Set[str]) -> AsyncIterator[None]:
        """Runs what is inside when nobody who came before has one of these keys."""
        before = [done for done, others in self._under_way.items() if not keys.isdisjoint(others)]
        own = asyncio.Event()
        self._under_way[own] = keys
        try:
            for done in before:
                await done.wait()
            yield
        finally:
            del self._under_way[own]
            own.set()
