"""Votes of a tenant's users on depth: in this process's memory, or in Redis with a local copy at most seconds old.

Keys, under `tenant_key`: `:votes` sorted set, each vote as JSON by its time; `:votes:version` changes on every write.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from uuid import uuid4

from redis.asyncio import Redis
from redis.exceptions import RedisError

from agents.core.caching.budget import OBJECTS_PER_JSON
from agents.core.caching.lru import ByteCache
from schemas.learning import DepthVote, Votes
from streams.stores.guard import CircuitBreaker
from streams.stores.sessions.memory_view import MemoryView
from streams.stores.sessions.redis_calls import PIPELINE_SIZE, TIMEOUT_S, RedisView, awaited, is_outage
from streams.stores.tenant import tenant_key

# The number of votes kept per tenant; older ones have no effect.
MAX_VOTES = 10_000
# A copy this young is not compared with the server: depth must not spend a round trip on every message.
FRESH_S = 2.0
REWRITTEN_S, POLL_S = 60.0, 0.05

ADD = """
if redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1]) == 1 then
  redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -tonumber(ARGV[3]) - 1)
  redis.call('SET', KEYS[2], ARGV[4])
end
return 1
"""

REMOVE = """
local gone = 0
for _, vote in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  if cjson.decode(vote).user_id == ARGV[1] then gone = gone + redis.call('ZREM', KEYS[1], vote) end
end
if gone > 0 then redis.call('SET', KEYS[2], ARGV[2]) end
return gone
"""

FETCH = """
local version = redis.call('GET', KEYS[2]) or ''
if version == ARGV[1] then return {version} end
return {version, redis.call('ZRANGE', KEYS[1], 0, -1)}
"""


class MemorySignalWeights(MemoryView):
    """The votes of one process."""

    def __init__(self) -> None:
        super().__init__("weights")
        self._votes: dict[str, dict[bytes, DepthVote]] = defaultdict(dict)

    def clear(self) -> None:
        """Discard everything, like a server that is emptied."""
        super().clear()
        self._votes.clear()

    def follow(self, partitions: int) -> None:
        """Do nothing: partition counts do not outlive this process."""

    async def votes(self, tenant: str) -> Votes:
        """All votes of the tenant by pattern."""
        return _by_pattern(self._votes[tenant_key(tenant)].values())

    async def add(self, tenant: str, vote: DepthVote) -> None:
        """Store a vote; a repeat changes nothing."""
        kept = self._votes[tenant_key(tenant)]
        kept[_encoded(vote)] = vote
        for raw, _ in sorted(kept.items(), key=lambda one: (one[1].at, one[0]))[: max(len(kept) - MAX_VOTES, 0)]:
            del kept[raw]

    async def remove(self, tenant: str, user_id: str) -> int:
        """Remove the votes of a user; how many these were."""
        kept = self._votes[tenant_key(tenant)]
        own = [raw for raw, vote in kept.items() if vote.user_id == user_id]
        for raw in own:
            del kept[raw]
        return len(own)


@dataclass(slots=True)
class _Copy:
    version: bytes
    votes: Votes
    fresh_until: float
    size: int = 0


class RedisSignalWeights(RedisView):
    """The votes of all tenants; `votes` asks the server at most once per `fresh` seconds and tenant."""

    def __init__(
        self,
        client: Redis,
        *,
        fresh: float = FRESH_S,
        timeout: float = TIMEOUT_S,
        clock: Callable[[], float] = time.monotonic,
        embedded: bool = False,
    ) -> None:
        guard = CircuitBreaker(
            "working_set", timeout=timeout, errors=(RedisError,), is_outage=is_outage, at_once=PIPELINE_SIZE
        )
        super().__init__(client, guard, what="weights", view="weights:")
        self._fresh = fresh
        self._embedded = embedded
        self._clock = clock
        self._copies: ByteCache[str, _Copy] = ByteCache("votes")

    def follow(self, partitions: int) -> None:
        """Set the number of partitions of `memory.votes`."""
        self._partitions = partitions

    async def votes(self, tenant: str) -> Votes:
        """All votes of the tenant by pattern; raises `Unavailable` only where none were ever read."""
        now = self._clock()
        copy = self._copies.get(tenant) or _Copy(b"?", {}, 0.0)
        if now < copy.fresh_until:
            return copy.votes
        copy.fresh_until = now + self._fresh  # concurrent callers use the copy meanwhile
        keys = [tenant_key(tenant, "votes"), tenant_key(tenant, "votes", "version")]
        version, *found = await self._run(FETCH, keys, copy.version)
        if found:
            copy.version, copy.votes = version, _by_pattern(map(_decoded, found[0]))
            copy.size = OBJECTS_PER_JSON * sum(map(len, found[0]))
        copy.fresh_until = now + self._fresh
        self._copies.put(tenant, copy, copy.size)
        return copy.votes

    async def add(self, tenant: str, vote: DepthVote) -> None:
        """Store a vote; a repeat changes nothing."""
        keys = [tenant_key(tenant, "votes"), tenant_key(tenant, "votes", "version")]
        await self._run(ADD, keys, _encoded(vote), int(vote.at.timestamp() * 1000), MAX_VOTES, new_version())
        self._expire(tenant)

    async def remove(self, tenant: str, user_id: str) -> int:
        """Remove the votes of a user; how many these were."""
        keys = [tenant_key(tenant, "votes"), tenant_key(tenant, "votes", "version")]
        gone = int(await self._run(REMOVE, keys, user_id, new_version()))
        self._expire(tenant)
        return gone

    def _expire(self, tenant: str) -> None:
        if (copy := self._copies.get(tenant)) is not None:
            copy.fresh_until = 0.0

    async def compact(self) -> None:
        """Have an embedded server write its append-only file anew, of what there is; another one is its operator's."""
        if self._embedded:
            await self._guard.run(self._rewrite, timeout=REWRITTEN_S)

    async def _rewrite(self) -> None:
        # One that runs was begun before the last deletion: it is awaited, and another one begun.
        await self._rewritten()
        await awaited(self._client.bgrewriteaof())
        await self._rewritten()

    async def _rewritten(self) -> None:
        while (await awaited(self._client.info("persistence")))["aof_rewrite_in_progress"]:  # noqa: ASYNC110
            await asyncio.sleep(POLL_S)


def new_version() -> str:
    """A version that no copy has."""
    # Not a counter: after a loss and a rebuild its value could equal that of somebody's copy.
    return uuid4().hex


def _encoded(vote: DepthVote) -> bytes:
    return vote.model_dump_json().encode()


def _decoded(raw: bytes) -> DepthVote:
    return DepthVote.model_validate_json(raw)


def _by_pattern(votes: Iterable[DepthVote]) -> Votes:
    found: dict[str, list[DepthVote]] = defaultdict(list)
    for vote in votes:
        found[vote.pattern].append(vote)
    return {pattern: tuple(each) for pattern, each in found.items()}
