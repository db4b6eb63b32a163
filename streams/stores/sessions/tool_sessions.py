"""Tool sessions: in this process's memory, or in Redis with a local copy that is validated by its version.

Key, under the conversation's: `:tools` hash of `version` and `json`. It expires a month after its last write, only to
remove unused data: how long a value counts is the contract's, by event time. Complete partitions are recorded as for
working sets (`redis_scripts`), under a prefix of their own.
"""

from collections.abc import Callable

from redis.asyncio import Redis
from redis.exceptions import RedisError

from agents.core.caching.budget import OBJECTS_PER_JSON
from agents.core.caching.lru import ByteCache
from agents.errors import ViewIncomplete
from schemas.base import Conversation
from schemas.tool_session import ToolSession
from streams.stores.guard import CircuitBreaker
from streams.stores.sessions.memory_view import MemoryView
from streams.stores.sessions.redis_calls import PIPELINE_SIZE, TIMEOUT_S, RedisView, is_outage
from streams.stores.sessions.redis_scripts import BEHIND, EPOCHS
from streams.stores.sessions.redis_working_sets import EXPIRE_S
from streams.stores.sessions.votes import new_version
from streams.stores.tenant import key

Place = Callable[[Conversation], int]
Made = Callable[[ToolSession], ToolSession]

# KEYS: epochs, session. ARGV: partition, then the script's own.
FETCH = """
if ARGV[1] ~= '' and redis.call('HEXISTS', KEYS[1], 'whole:' .. ARGV[1]) == 0 then return 'BEHIND' end
local found = redis.call('HMGET', KEYS[2], 'version', 'json')
if not found[1] then return {} end
if found[1] == ARGV[2] then return {found[1]} end
return found
"""

STORE = """
if ARGV[1] ~= '' and redis.call('HEXISTS', KEYS[1], 'whole:' .. ARGV[1]) == 0 then return 0 end
if (redis.call('HGET', KEYS[2], 'version') or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[2], 'version', ARGV[3], 'json', ARGV[4])
redis.call('EXPIRE', KEYS[2], ARGV[5])
return 1
"""

REPLACE = """
if redis.call('HGET', KEYS[1], 'making:' .. ARGV[1]) ~= ARGV[2] then return 'BEHIND' end
redis.call('HSET', KEYS[2], 'version', ARGV[3], 'json', ARGV[4])
redis.call('EXPIRE', KEYS[2], ARGV[5])
return 1
"""


class MemoryToolSessions(MemoryView):
    """The sessions of one process."""

    def __init__(self) -> None:
        super().__init__("tool_sessions")
        self._sessions: dict[str, tuple[ToolSession, str]] = {}
        self._place: Place | None = None

    def clear(self) -> None:
        """Discard everything, like a server that is emptied."""
        super().clear()
        self._sessions.clear()

    def follow(self, partitions: int, place: Place) -> None:  # noqa: ARG002  (the port's)
        """From now on `load` raises `ViewIncomplete` while the partition is incomplete; `save` is False."""
        self._place = place

    async def load(self, conversation: Conversation) -> tuple[ToolSession, str]:
        """The session, and its version for `save`."""
        if not self._holds(conversation):
            raise ViewIncomplete("tool_sessions", -1 if self._place is None else self._place(conversation))
        return self._sessions.get(key(conversation, "tools"), (ToolSession(), ""))

    async def save(self, conversation: Conversation, session: ToolSession, version: str) -> bool:
        """Replace the session of that version; False when it has changed meanwhile."""
        place = key(conversation, "tools")
        if not self._holds(conversation) or self._sessions.get(place, (None, ""))[1] != version:
            return False
        self._sessions |= {place: (session, new_version())}
        return True

    async def restore(self, conversation: Conversation, partition: int, token: str, made: Made) -> bool:
        """Replace a session by the restored one; returns whether it differs. `ViewIncomplete` for an old token."""
        self._unless_behind(partition, token)
        place = key(conversation, "tools")
        known, _ = self._sessions.get(place, (ToolSession(), ""))
        session = made(known)
        self._sessions |= {place: (session, new_version())}
        return session != known

    def _holds(self, conversation: Conversation) -> bool:
        return self._place is None or self._place(conversation) in self._whole


class RedisToolSessions(RedisView):
    """The sessions of all workers; an unchanged session is not transferred again."""

    def __init__(self, client: Redis, *, timeout: float = TIMEOUT_S) -> None:
        guard = CircuitBreaker(
            "working_set", timeout=timeout, errors=(RedisError,), is_outage=is_outage, at_once=PIPELINE_SIZE
        )
        super().__init__(client, guard, what="tool_sessions", view="tools:")
        self._copies: ByteCache[str, tuple[str, ToolSession]] = ByteCache("tool_sessions")
        self._place: Place | None = None

    def follow(self, partitions: int, place: Place) -> None:
        """From now on `load` raises `ViewIncomplete` while the partition is incomplete; `save` is False."""
        self._partitions, self._place = partitions, place

    async def load(self, conversation: Conversation) -> tuple[ToolSession, str]:
        """The session, and its version for `save`; raises `Unavailable`."""
        place = key(conversation, "tools")
        known, session = self._copies.get(place) or ("", ToolSession())
        found = await self._run(FETCH, [EPOCHS, place], self._name_of(conversation), known)
        if found == BEHIND:
            raise ViewIncomplete("tool_sessions", -1 if self._place is None else self._place(conversation))
        if not found:
            return ToolSession(), ""
        version = bytes(found[0]).decode()
        if len(found) > 1:
            session = ToolSession.model_validate_json(found[1])
            self._copies.put(place, (version, session), OBJECTS_PER_JSON * len(found[1]))
        return session, version

    async def save(self, conversation: Conversation, session: ToolSession, version: str) -> bool:
        """Replace the session of that version; False when it has changed meanwhile. Raises `Unavailable`."""
        place, own, name = key(conversation, "tools"), new_version(), self._name_of(conversation)
        json = session.model_dump_json()
        if not await self._run(STORE, [EPOCHS, place], name, version, own, json, EXPIRE_S):
            return False
        self._copies.put(place, (own, session), OBJECTS_PER_JSON * len(json))
        return True

    async def restore(self, conversation: Conversation, partition: int, token: str, made: Made) -> bool:
        """Replace a session by the restored one; returns whether it differs. `ViewIncomplete` for an old token."""
        place = key(conversation, "tools")
        found = await self._run(FETCH, [EPOCHS, place], "", "")
        known = ToolSession.model_validate_json(found[1]) if found else ToolSession()
        session, own = made(known), new_version()
        json = session.model_dump_json()
        done = await self._run(REPLACE, [EPOCHS, place], self._name(partition), token, own, json, EXPIRE_S)
        self._unless_behind(done, partition)
        self._copies.put(place, (own, session), OBJECTS_PER_JSON * len(json))
        return session != known

    def _name_of(self, conversation: Conversation) -> str:
        return "" if self._place is None else self._name(self._place(conversation))
