"""Crashes of processes by the records that they had in hand: in this process's memory, or in Redis for all workers.

Key `fathom:crashes`, a hash: a record as text -> crashes + `ALONE` times what those say in which it was alone. It
expires an hour after the last crash.
"""

from collections import Counter
from collections.abc import Collection, Mapping

from redis.asyncio import Redis
from redis.exceptions import RedisError

from streams.stores.guard import CircuitBreaker
from streams.stores.sessions.redis_calls import TIMEOUT_S, awaited, is_outage

KEY = "fathom:crashes"
EXPIRE_S = 3_600
ALONE = 1 << 20


class MemoryCrashCounts:
    """The counts of one process, which end with it: no record of its is ever suspected."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    async def crashed(self, records: Mapping[str, int]) -> None:
        """Count a crash with these records in hand, and how much it says against each that was alone."""
        self._counts.update({record: 1 + ALONE * alone for record, alone in records.items()})

    async def counts(self) -> dict[str, tuple[int, int]]:
        """All records with their crashes, and what those say in which they were alone."""
        return {record: _both(count) for record, count in self._counts.items()}

    async def forget(self, records: Collection[str]) -> None:
        """Forget these records: they are done."""
        for record in records:
            self._counts.pop(record, None)


class RedisCrashCounts:
    """The counts of all workers; raises `Unavailable`."""

    def __init__(self, client: Redis, *, timeout: float = TIMEOUT_S) -> None:
        self._client = client
        self._guard = CircuitBreaker("working_set", timeout=timeout, errors=(RedisError,), is_outage=is_outage)

    async def crashed(self, records: Mapping[str, int]) -> None:
        """Count a crash with these records in hand, and how much it says against each that was alone."""
        if not records:
            return
        together = self._client.pipeline(transaction=True)
        for record, alone in records.items():
            together.hincrby(KEY, record, 1 + ALONE * alone)
        together.expire(KEY, EXPIRE_S)
        await self._guard.run(lambda: awaited(together.execute()))

    async def counts(self) -> dict[str, tuple[int, int]]:
        """All records with their crashes, and what those say in which they were alone."""
        found = await self._guard.run(lambda: awaited(self._client.hgetall(KEY)))
        return {bytes(record).decode(errors="replace"): _both(int(count)) for record, count in found.items()}

    async def forget(self, records: Collection[str]) -> None:
        """Forget these records: they are done."""
        if records:
            await self._guard.run(lambda: awaited(self._client.hdel(KEY, *records)))


def _both(count: int) -> tuple[int, int]:
    alone, crashes = divmod(count, ALONE)
    return crashes, alone
