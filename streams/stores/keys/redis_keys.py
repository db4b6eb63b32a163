"""Keys of subjects in a Redis or Valkey server, for the processes of several hosts.

It must be persistent and replicated as a database is, with `noeviction`, and be no cache: a lost key is lost content.
Keys, all in one slot: `fathom:{keys}:of:<subject>` the id and the wrapped key, `…:id:<id>` the subject,
`…:destroyed:<id>` when, `…:gone:<note>` the ids of a subject's destroyed keys by their time.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from redis.asyncio import Redis
from redis.exceptions import RedisError

from agents.errors import Unavailable
from streams.stores.keys.key_store import DestroyedKey, WrappedKey, note_of

T = TypeVar("T")

OURS = "fathom:{keys}"
TIMEOUT_S = 2.0
ADD = """
local known = redis.call('GET', KEYS[1])
if known then return known end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('SET', KEYS[2], ARGV[2])
return ARGV[1]
"""
# The id is the first sixteen characters of what is stored. Keys of the tombstone are made of it, in the same slot.
DESTROY = """
local known = redis.call('GET', KEYS[1])
if not known then return false end
local id = string.sub(known, 1, 16)
redis.call('SET', ARGV[1] .. ':destroyed:' .. id, ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], id)
redis.call('DEL', KEYS[1], ARGV[1] .. ':id:' .. id)
return id
"""
ID_CHARS = 16


class RedisKeyStore:
    """`KeyStore` on a server; `connect` makes its client, one for each event loop that asks."""

    def __init__(self, connect: Callable[[], "Redis"]) -> None:
        self._connect = connect
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Redis | None = None

    async def current(self, subjects: Collection[str]) -> Mapping[str, WrappedKey]:
        """The key of each subject that has one."""
        asked = [*subjects]
        found = await self._run(lambda redis: redis.mget([_of(each) for each in asked])) if asked else []
        return {each: _wrapped(raw) for each, raw in zip(asked, found, strict=True) if raw is not None}

    async def add(self, subject: str, fresh: WrappedKey) -> WrappedKey:
        """Give a subject its key, if it has none; returns the one it has."""
        both = (_of(subject), _by(fresh.id))
        whole = fresh.id.encode() + fresh.wrapped
        return _wrapped(await self._run(lambda redis: redis.eval(ADD, 2, *both, whole, subject)))

    async def by_id(self, ids: Collection[str]) -> Mapping[str, WrappedKey | DestroyedKey]:
        """Each key that is there or was destroyed."""
        found: dict[str, WrappedKey | DestroyedKey] = {}
        asked = [*ids]
        if not asked:
            return found
        names = [name for each in asked for name in (_by(each), f"{OURS}:destroyed:{each}")]
        said = await self._run(lambda redis: redis.mget(names))
        for own, at in zip(asked, said[1::2], strict=True):
            if at is not None:
                found[own] = DestroyedKey(own, datetime.fromisoformat(at.decode()))
        owners = {own: who.decode() for own, who in zip(asked, said[::2], strict=True) if who is not None}
        known = await self.current(set(owners.values()))
        # One that was destroyed between the two reads is found the next time.
        found |= {own: key for own, who in owners.items() if (key := known.get(who)) is not None and key.id == own}
        return found

    async def destroy(self, subject: str, at: datetime) -> DestroyedKey | None:
        """Destroy the subject's key and note it, in one step."""
        moment = at.astimezone(UTC)
        said = (OURS, moment.isoformat(), int(moment.timestamp() * 1000))
        own = await self._run(lambda redis: redis.eval(DESTROY, 2, _of(subject), _gone(subject), *said))
        return None if own is None else DestroyedKey(own.decode(), moment)

    async def destroyed(self, subject: str) -> tuple[DestroyedKey, ...]:
        """The destroyed keys of a subject, oldest first."""
        ids = [own.decode() for own in await self._run(lambda redis: redis.zrange(_gone(subject), 0, -1))]
        found = await self.by_id(ids)
        return tuple(key for own in ids if isinstance(key := found.get(own), DestroyedKey))

    async def any(self) -> WrappedKey | None:
        """One of the keys; None where there are none."""

        async def first(redis: Redis) -> bytes | None:
            async for name in redis.scan_iter(match=f"{OURS}:of:*", count=1_000):
                if (raw := await redis.get(name)) is not None:
                    return cast("bytes", raw)
            return None

        raw = await self._run(first)
        return None if raw is None else _wrapped(raw)

    async def ping(self) -> None:
        """Raises `Unavailable` where the server does not answer."""
        await self._run(lambda redis: redis.ping())

    async def close(self) -> None:
        """Close the connections of this event loop."""
        if self._client is not None and self._loop is asyncio.get_running_loop():
            await self._client.aclose()
        self._client = None

    async def _run(self, call: Callable[[Any], object]) -> Any:
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client, self._loop = self._connect(), loop
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await cast("Awaitable[Any]", call(self._client))
        except (RedisError, OSError, TimeoutError) as error:
            raise Unavailable("keys", str(error) or f"no answer in {TIMEOUT_S:g} s") from error


def redis_key_store(url: str) -> RedisKeyStore:
    """The key store of a server's URL."""
    return RedisKeyStore(lambda: Redis.from_url(url, protocol=2))


def _of(subject: str) -> str:
    return f"{OURS}:of:{subject}"


def _by(own: str) -> str:
    return f"{OURS}:id:{own}"


def _gone(subject: str) -> str:
    return f"{OURS}:gone:{note_of(subject)}"


def _wrapped(raw: bytes) -> WrappedKey:
    return WrappedKey(raw[:ID_CHARS].decode(), raw[ID_CHARS:])
