"""Working sets in Redis or Valkey: turns per frame, the session, the outcomes of recent messages.

Keys of a conversation, all made by `tenant.key` (components of ids are percent-encoded):

    :session          hash   json, frame (of the session)
    :turns            list   the newest turns of all frames
    :turns:<frame>    list   the newest turns of one frame
    :seen             list   the last 256 message ids, oldest first
    :outcomes :filed  hash   message id -> outcome bytes, frame id

They expire a month after the last write: only to collect what nobody reads, never as policy (that is event time).
"""

from collections.abc import Awaitable, Sequence
from functools import lru_cache
from hashlib import sha1
from typing import Any, cast

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError, RedisError, ResponseError

from agents.core.conversation import ConversationTurn, Opened, Session, Turns
from schemas.base import Conversation
from streams.stores.guard import Guard
from streams.stores.tenant import key, key_part
from streams.stores.turn_codec import decode_session, decode_turns, encode_session, encode_turn, filed_id, newest

KNOWN_MESSAGES = 256
SESSION_TURNS = 400
EXPIRE_SECONDS = 30 * 24 * 3600
# A server that is gone says so at once. This long it may be silent, for the loop here may be the slow one: giving up
# early would file a turn without its history, and take a message that was sent twice for two.
TIMEOUT_SECONDS = 5.0
# A burst waits for one of these instead of opening a connection each.
CONNECTIONS = 32
# Turns read beyond the limit, so that a few newer than asked for do not need a second read.
SLACK = 4

OUTAGES = frozenset(
    {"MISCONF", "OOM", "READONLY", "LOADING", "CLUSTERDOWN", "MASTERDOWN", "NOREPLICAS", "TRYAGAIN", "NOPERM"}
)

# Turns come back as one JSON array: the driver reads one long string much faster than many short ones.
OPEN = """
local session = redis.call('HMGET', KEYS[1], 'json', 'frame')
local turns = {}
if session[2] and tonumber(ARGV[2]) > 0 then
  turns = redis.call('LRANGE', KEYS[2] .. ':' .. session[2], -tonumber(ARGV[2]), -1)
end
return {session[1], redis.call('HGET', KEYS[3], ARGV[1]), '[' .. table.concat(turns, ',') .. ']'}
"""

RANGE = "return '[' .. table.concat(redis.call('LRANGE', KEYS[1], ARGV[1], -1), ',') .. ']'"

APPEND = """
local session, turns, frame, seen, outcomes, filed = unpack(KEYS)
local message, turn, state, frame_key, frame_id, outcome = unpack(ARGV, 1, 6)
local keep, keep_all, known, expire = unpack(ARGV, 7, 10)
if redis.call('HEXISTS', filed, message) == 1 then return 0 end
redis.call('RPUSH', turns, turn)
redis.call('LTRIM', turns, -tonumber(keep_all), -1)
redis.call('RPUSH', frame, turn)
redis.call('LTRIM', frame, -tonumber(keep), -1)
redis.call('HSET', session, 'json', state, 'frame', frame_key)
redis.call('HSET', outcomes, message, outcome)
redis.call('HSET', filed, message, frame_id)
if redis.call('RPUSH', seen, message) > tonumber(known) then
  local oldest = redis.call('LPOP', seen)
  redis.call('HDEL', outcomes, oldest)
  redis.call('HDEL', filed, oldest)
end
for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, expire) end
return 1
"""


def is_outage(error: Exception) -> bool:
    """Whether an error says "not now" rather than "wrong": a failed script or a wrong type is a bug."""
    # The driver takes the code off the text of those errors it has a class for.
    code = getattr(error, "status_code", None) or str(error).partition(" ")[0]
    return not isinstance(error, ResponseError) or code in OUTAGES


class RedisWorkingSets:
    """Turns and session of each conversation; `append` is one script, `open` one round trip."""

    def __init__(self, client: Redis, *, timeout: float = TIMEOUT_SECONDS) -> None:
        self._client = client
        self._guard = Guard("working_set", timeout=timeout, errors=(RedisError,), is_outage=is_outage)

    async def open(self, conversation: Conversation, message_id: str, limit: int) -> Opened:
        """The session, its current frame's last `limit` turns, and the outcome if this message was seen before."""
        keys = [key(conversation, part) for part in ("session", "turns", "outcomes")]
        raw, outcome, turns = await self._run(OPEN, keys, message_id, limit)
        return Opened(
            session=Session() if raw is None else decode_session(raw),
            turns=decode_turns(turns),
            outcome=outcome,
        )

    async def frame_of(self, conversation: Conversation, message_id: str) -> str | None:
        """The frame an earlier message was filed in, while it is still known."""
        filed = key(conversation, "filed")
        found = await self._guard.run(lambda: _async(self._client.hget(filed, message_id)))
        return None if found is None else bytes(found).decode()

    async def append(
        self,
        conversation: Conversation,
        frame_id: str,
        turn: ConversationTurn,
        session: Session,
        outcome: bytes,
        keep: int,
    ) -> None:
        """File a turn with the new session and the outcome, in one step; a known message id changes nothing."""
        keys = [
            key(conversation, "session"),
            key(conversation, "turns"),
            key(conversation, "turns", frame_id),
            *(key(conversation, part) for part in ("seen", "outcomes", "filed")),
        ]
        await self._run(
            APPEND,
            keys,
            filed_id(turn),
            encode_turn(turn),
            encode_session(session),
            key_part(session.frame_id),
            frame_id,
            outcome,
            max(keep, 1),
            max(keep, SESSION_TURNS),
            KNOWN_MESSAGES,
            EXPIRE_SECONDS,
        )

    async def turns(self, conversation: Conversation, frame_id: str, *, up_to_seq: int, limit: int) -> Turns:
        """The last `limit` turns of a frame with `seq <= up_to_seq`, oldest first."""
        return await self._newest(key(conversation, "turns", frame_id), up_to_seq, limit)

    async def session_turns(self, conversation: Conversation, *, up_to_seq: int, limit: int) -> Turns:
        """The last `limit` turns of all frames with `seq <= up_to_seq`, ordered by seq."""
        return await self._newest(key(conversation, "turns"), up_to_seq, limit)

    async def ping(self) -> None:
        """Raises `Unavailable` when there is no answer."""
        await self._guard.run(lambda: _async(self._client.ping()))

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _newest(self, turns_key: str, up_to_seq: int, limit: int) -> Turns:
        window = limit + SLACK
        kept = await self._last(turns_key, -window)
        turns = newest(kept, up_to_seq=up_to_seq, limit=limit)
        if len(turns) < limit and len(kept) == window:
            turns = newest(await self._last(turns_key, 0), up_to_seq=up_to_seq, limit=limit)
        return turns

    async def _last(self, turns_key: str, start: int) -> Turns:
        return decode_turns(await self._run(RANGE, [turns_key], start))

    async def _run(self, script: str, keys: Sequence[str], *args: str | bytes | int) -> Any:
        digest, count = _digest(script), len(keys)

        async def call() -> Any:
            try:
                return await _async(self._client.evalsha(digest, count, *keys, *args))
            except NoScriptError:
                return await _async(self._client.eval(script, count, *keys, *args))

        return await self._guard.run(call)


def connect(url: str) -> Redis:
    """A client whose time limit is the guard's: its own would start a timer for every read."""
    pool = BlockingConnectionPool.from_url(
        url, max_connections=CONNECTIONS, timeout=None, protocol=2, socket_timeout=None, retry=Retry(NoBackoff(), 1)
    )
    # Owned by the client: given to its constructor, the pool would stay open after the client is closed.
    return Redis.from_pool(pool)


@lru_cache
def _digest(script: str) -> str:
    return sha1(script.encode(), usedforsecurity=False).hexdigest()


def _async(reply: Any) -> Awaitable[Any]:
    # redis-py types every command for its blocking and its asyncio client at once.
    return cast("Awaitable[Any]", reply)
