"""The access level of a user's searches, which begin before the graph has said it."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeVar

from agents.core.caching.lru import ByteCache
from agents.errors import Unavailable
from agents.ports.graph import GraphReader
from schemas.items import AccessLevel

T = TypeVar("T")

PUBLIC: AccessLevel = "public"


class AccessLevels:
    """Searches at a user's access level; the levels last seen are remembered."""

    def __init__(self, graph: GraphReader) -> None:
        self._graph = graph
        self._seen: ByteCache[tuple[str, str], AccessLevel] = ByteCache("access_levels")

    async def searched(
        self, tenant: str, user_id: str, as_of: datetime, search: Callable[[AccessLevel], Awaitable[T]]
    ) -> tuple[T, str | None]:
        """What a search finds at the user's level, and the error where the graph did not answer: public, then.

        It begins at the level last seen of the user, while the graph is asked, as a simple question has time for one
        of the two waits; where the level is another by now, what was found is dropped and searched for again.
        """
        user = (tenant, user_id)
        expected = self._seen.get(user) or PUBLIC
        (level, error), found = await asyncio.gather(self._level(*user, as_of), search(expected))
        if level != expected:
            found = await search(level)
        if error is None:
            self._seen.put(user, level)
        return found, error

    async def _level(self, tenant: str, user_id: str, as_of: datetime) -> tuple[AccessLevel, str | None]:
        try:
            persona = await self._graph.persona(tenant, user_id, as_of)
        except Unavailable as unavailable:
            return PUBLIC, str(unavailable)
        return persona.person.persona_access if persona else PUBLIC, None
