"""A look at a Redis server for those who check it; nothing is written."""

import time
from dataclasses import dataclass

from redis.exceptions import RedisError

from agents.concurrency import timeout
from agents.errors import Unavailable
from streams.stores.sessions.redis_calls import awaited
from streams.stores.sessions.redis_working_sets import connect

LOOK_S = 5.0


@dataclass(frozen=True, slots=True)
class RedisSeen:
    """What `INFO` says of a server; memory in bytes, 0 is no limit; `ahead` is its clock before ours, in seconds."""

    name: str
    version: str
    policy: str
    limit: int
    used: int
    append_only: bool
    ahead: float


async def look(url: str) -> RedisSeen:
    """Ask a server; raises `Unavailable`."""
    client = connect(url)
    try:
        async with timeout(LOOK_S):
            info = await awaited(client.info())
            asked = time.time()
            seconds, micros = await awaited(client.time())
            answered = time.time()
    except (RedisError, OSError, TimeoutError) as error:
        raise Unavailable("redis", str(error) or f"no answer in {LOOK_S:g} s") from error
    finally:
        await client.aclose()
    forked = "valkey_version" in info
    return RedisSeen(
        name="Valkey" if forked else "Redis",
        version=str(info["valkey_version"] if forked else info["redis_version"]),
        policy=str(info.get("maxmemory_policy", "")),
        limit=int(info.get("maxmemory", 0)),
        used=int(info.get("used_memory", 0)),
        append_only=bool(info.get("aof_enabled", 0)),
        ahead=seconds + micros / 1e6 - (asked + answered) / 2,
    )
