"""Tool sessions: in this process's memory, or in Redis with a copy here that its version keeps honest (CF-54).

Key, under the conversation's: `:tools` hash of `version` and `json`. It expires a month after its last write, only to
collect what nobody reads: how long a value counts is the contract's, by event time.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import NoScriptError, RedisError

from schemas.base import Conversation
from schemas.tool_session import ToolSession
from streams.stores.guard import Guard
from streams.stores.redis_working_sets import EXPIRE_SECONDS, TIMEOUT_SECONDS, digest_of, is_outage
from streams.stores.signal_weights import new_version
from streams.stores.tenant import key

COPIES = 10_000

FETCH = """
local found = redis.call('HMGET', KEYS[1], 'version', 'json')
if not found[1] then return {} end
if found[1] == ARGV[1] then return {found[1]} end
return found
"""

STORE = """
if (redis.call('HGET', KEYS[1], 'version') or '') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'version', ARGV[2], 'json', ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[4])
return 1
"""


class MemoryToolSessions:
    """The sessions of one process."""

    def __init__(self) -> None:
        self._sessions: dict[str, tuple[ToolSession, str]] = {}

    async def load(self, conversation: Conversation) -> tuple[ToolSession, str]:
        """The session, and its version for `save`."""
        return self._sessions.get(key(conversation, "tools"), (ToolSession(), ""))

    async def save(self, conversation: Conversation, session: ToolSession, version: str) -> bool:
        """Replace the session of that version; False when it has changed meanwhile."""
        place = key(conversation, "tools")
        if self._sessions.get(place, (None, ""))[1] != version:
            return False
        self._sessions |= {place: (session, new_version())}
        return True


class RedisToolSessions:
    """The sessions of all workers; a session that did not change is not sent again."""

    def __init__(self, client: Redis, *, timeout: float = TIMEOUT_SECONDS) -> None:
        self._client = client
        self._guard = Guard("working_set", timeout=timeout, errors=(RedisError,), is_outage=is_outage)
        self._copies: OrderedDict[str, tuple[str, ToolSession]] = OrderedDict()

    async def load(self, conversation: Conversation) -> tuple[ToolSession, str]:
        """The session, and its version for `save`; raises `Unavailable`."""
        place = key(conversation, "tools")
        known, session = self._copies.get(place, ("", ToolSession()))
        found = await self._run(FETCH, [place], known)
        if not found:
            return ToolSession(), ""
        version = bytes(found[0]).decode()
        if len(found) > 1:
            session = ToolSession.model_validate_json(found[1])
            self._keep(place, version, session)
        return session, version

    async def save(self, conversation: Conversation, session: ToolSession, version: str) -> bool:
        """Replace the session of that version; False when it has changed meanwhile. Raises `Unavailable`."""
        place = key(conversation, "tools")
        own = new_version()
        if not await self._run(STORE, [place], version, own, session.model_dump_json(), EXPIRE_SECONDS):
            return False
        self._keep(place, own, session)
        return True

    def _keep(self, place: str, version: str, session: ToolSession) -> None:
        self._copies[place] = version, session
        self._copies.move_to_end(place)
        if len(self._copies) > COPIES:
            self._copies.popitem(last=False)

    async def _run(self, script: str, keys: Sequence[str], *args: bytes | str | int) -> Any:
        async def call() -> Any:
            try:
                return await self._client.evalsha(digest_of(script), 1, *keys, *args)
            except NoScriptError:
                return await self._client.eval(script, 1, *keys, *args)

        return await self._guard.run(call)
