"""Tool sessions: in this process's memory, or in Redis with a copy here that its version keeps honest (CF-54).

Key, under the conversation's: `:tools` hash of `version` and `json`. It expires a month after its last write, only to
collect what nobody reads: how long a value counts is the contract's, by event time. Which partitions are whole stands
where it does for working sets (`redis_scripts`), under names of their own.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from typing import Any
from uuid import uuid4

from redis.asyncio import Redis
from redis.exceptions import NoScriptError, RedisError

from agents.errors import Behind
from schemas.base import Conversation
from schemas.tool_session import ToolSession
from streams.stores.guard import Guard
from streams.stores.redis_scripts import BEGIN, BEHIND, EPOCHS, FINISH, MISSING, NOTICE
from streams.stores.redis_working_sets import AT_ONCE, EXPIRE_SECONDS, TIMEOUT_SECONDS, digest_of, is_outage
from streams.stores.signal_weights import new_version
from streams.stores.tenant import key

COPIES = 10_000
Place = Callable[[Conversation], int]
Made = Callable[[ToolSession], ToolSession]

# KEYS: epochs, session. ARGV: partition, then what the script needs.
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


class MemoryToolSessions:
    """The sessions of one process."""

    def __init__(self) -> None:
        self._sessions: dict[str, tuple[ToolSession, str]] = {}
        self._place: Place | None = None
        self._whole: set[int] = set()
        self._making: dict[int, str] = {}

    def clear(self) -> None:
        """Lose everything, as a server does that is emptied."""
        self._sessions.clear()
        self._whole.clear()
        self._making.clear()

    def follow(self, partitions: int, place: Place) -> None:  # noqa: ARG002  (the port's)
        """From now on `load` raises `Behind` where the conversation's partition is not whole, and `save` is False."""
        self._place = place

    async def load(self, conversation: Conversation) -> tuple[ToolSession, str]:
        """The session, and its version for `save`."""
        if not self._holds(conversation):
            raise Behind("tool_sessions", -1 if self._place is None else self._place(conversation))
        return self._sessions.get(key(conversation, "tools"), (ToolSession(), ""))

    async def save(self, conversation: Conversation, session: ToolSession, version: str) -> bool:
        """Replace the session of that version; False when it has changed meanwhile."""
        place = key(conversation, "tools")
        if not self._holds(conversation) or self._sessions.get(place, (None, ""))[1] != version:
            return False
        self._sessions |= {place: (session, new_version())}
        return True

    async def missing(self, partitions: Collection[int]) -> frozenset[int]:
        """Those that are not whole."""
        return frozenset(partitions) - self._whole

    async def begin(self, partition: int) -> str:
        """A token to restore with; the partition is not whole from now on, and an earlier token is worth nothing."""
        self._whole.discard(partition)
        self._making[partition] = token = uuid4().hex
        return token

    async def restore(self, conversation: Conversation, partition: int, token: str, made: Made) -> bool:
        """Replace a session by what is made of it; whether that differs. Raises `Behind` for a token worth nothing."""
        self._unless_behind(partition, token)
        place = key(conversation, "tools")
        known, _ = self._sessions.get(place, (ToolSession(), ""))
        session = made(known)
        self._sessions |= {place: (session, new_version())}
        return session != known

    async def finish(self, partition: int, token: str) -> None:
        """The partition is whole; raises `Behind` when the token is worth nothing any more."""
        self._unless_behind(partition, token)
        del self._making[partition]
        self._whole.add(partition)

    def _holds(self, conversation: Conversation) -> bool:
        return self._place is None or self._place(conversation) in self._whole

    def _unless_behind(self, partition: int, token: str) -> None:
        if partition not in self._making or self._making[partition] != token:
            raise Behind("tool_sessions", partition)


class RedisToolSessions:
    """The sessions of all workers; a session that did not change is not sent again."""

    def __init__(self, client: Redis, *, timeout: float = TIMEOUT_SECONDS) -> None:
        self._client = client
        self._guard = Guard("working_set", timeout=timeout, errors=(RedisError,), is_outage=is_outage, at_once=AT_ONCE)
        self._copies: OrderedDict[str, tuple[str, ToolSession]] = OrderedDict()
        self._partitions = 0
        self._place: Place | None = None

    def follow(self, partitions: int, place: Place) -> None:
        """From now on `load` raises `Behind` where the conversation's partition is not whole, and `save` is False."""
        self._partitions, self._place = partitions, place

    async def load(self, conversation: Conversation) -> tuple[ToolSession, str]:
        """The session, and its version for `save`; raises `Unavailable`."""
        place = key(conversation, "tools")
        known, session = self._copies.get(place, ("", ToolSession()))
        found = await self._run(FETCH, [EPOCHS, place], self._name_of(conversation), known)
        if found == BEHIND:
            raise Behind("tool_sessions", -1 if self._place is None else self._place(conversation))
        if not found:
            return ToolSession(), ""
        version = bytes(found[0]).decode()
        if len(found) > 1:
            session = ToolSession.model_validate_json(found[1])
            self._keep(place, version, session)
        return session, version

    async def save(self, conversation: Conversation, session: ToolSession, version: str) -> bool:
        """Replace the session of that version; False when it has changed meanwhile. Raises `Unavailable`."""
        place, own, name = key(conversation, "tools"), new_version(), self._name_of(conversation)
        json = session.model_dump_json()
        if not await self._run(STORE, [EPOCHS, place], name, version, own, json, EXPIRE_SECONDS):
            return False
        self._keep(place, own, session)
        return True

    async def missing(self, partitions: Collection[int]) -> frozenset[int]:
        """Those that are not whole: never restored, or emptied, or the server may have lost writes since."""
        numbers = sorted(partitions)
        found = await self._run(MISSING, [EPOCHS], *map(self._name, numbers))
        return frozenset(number for number, whole in zip(numbers, found, strict=True) if not whole)

    async def begin(self, partition: int) -> str:
        """A token to restore with; the partition is not whole from now on, and an earlier token is worth nothing."""
        token = uuid4().hex
        # Noticed later, with a script the server does not know, the loss would take the token with it.
        await self._run(NOTICE, [EPOCHS])
        await self._run(BEGIN, [EPOCHS], self._name(partition), token)
        return token

    async def restore(self, conversation: Conversation, partition: int, token: str, made: Made) -> bool:
        """Replace a session by what is made of it; whether that differs. Raises `Behind` for a token worth nothing."""
        place = key(conversation, "tools")
        found = await self._run(FETCH, [EPOCHS, place], "", "")
        known = ToolSession.model_validate_json(found[1]) if found else ToolSession()
        session, own = made(known), new_version()
        done = await self._run(
            REPLACE, [EPOCHS, place], self._name(partition), token, own, session.model_dump_json(), EXPIRE_SECONDS
        )
        self._unless_behind(done, partition)
        self._keep(place, own, session)
        return session != known

    async def finish(self, partition: int, token: str) -> None:
        """The partition is whole; raises `Behind` when the token is worth nothing any more."""
        self._unless_behind(await self._run(FINISH, [EPOCHS], self._name(partition), token), partition)

    def _name(self, partition: int) -> str:
        # With another number of partitions, a conversation may lie in another one.
        return f"tools:{partition}/{self._partitions}"

    def _name_of(self, conversation: Conversation) -> str:
        return "" if self._place is None else self._name(self._place(conversation))

    def _unless_behind(self, found: Any, partition: int) -> None:
        if found == BEHIND:
            raise Behind("tool_sessions", partition)

    def _keep(self, place: str, version: str, session: ToolSession) -> None:
        self._copies[place] = version, session
        self._copies.move_to_end(place)
        if len(self._copies) > COPIES:
            self._copies.popitem(last=False)

    async def _run(self, script: str, keys: Sequence[str], *args: bytes | str | int) -> Any:
        digest, count = digest_of(script), len(keys)

        async def call() -> Any:
            try:
                return await self._client.evalsha(digest, count, *keys, *args)
            except NoScriptError:
                # In one transaction: nobody may use the script before it is known which server this is.
                both = self._client.pipeline(transaction=True)
                both.eval(NOTICE, 1, EPOCHS)
                both.eval(script, count, *keys, *args)
                return (await both.execute())[1]

        return await self._guard.run(call)
