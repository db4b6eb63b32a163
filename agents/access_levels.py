"""The access level of a user's searches, which begin before the graph has said it."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeVar

from agents.errors import Unavailable
from agents.ports.graph import GraphReader
from schemas.items import AccessLevel

T = TypeVar("T")

PUBLIC: AccessLevel = "public"
MAX_USERS = 10_000


class AccessLevels:
    """Searches at a user's access level; the levels last seen of so many users."""

    def __init__(self, graph: GraphReader) -> None:
        self._graph = graph
        self._seen: OrderedDict[tuple[str, str], AccessLevel] = OrderedDict()

    async def searched(
        self, tenant: str, user_id: str, as_of: datetime, search: Callable[[AccessLevel], Awaitable[T]]
    ) -> tuple[T, str | None]:
        """What a search finds at the user's level, and the error where the graph did not answer: public, then.

        It begins at the level last seen of the user, while the graph is asked, as a simple question has time for one
        of the two waits; where the level is another by now, what was found is dropped and searched for again.
        """
        user = (tenant, user_id)
        expected = self._seen.get(user, PUBLIC)
        (level, error), found = await asyncio.gather(self._level(*user, as_of), search(expected))
        if level != expected:
            found = await search(level)
        if error is None:
            self._seen[user] = level
            self._seen.move_to_end(user)
            if len(self._seen) > MAX_USERS:
                self._seen.popitem(last=False)
        return found, error

    async def _level(self, tenant: str, user_id: str, as_of: datetime) -> tuple[AccessLevel, str | None]:
        try:
            persona = await self._graph.persona(tenant, user_id, as_of)
        except Unavailable as unavailable:
            return PUBLIC, str(unavailable)
        return persona.person.persona_access if persona else PUBLIC, None
