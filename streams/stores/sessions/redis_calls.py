"""What all views in Redis share: how a script is run, and which partitions of the log a view holds whole."""

from collections.abc import Awaitable, Collection, Sequence
from functools import lru_cache
from hashlib import sha1
from typing import Any, cast
from uuid import uuid4

from redis.asyncio import Redis
from redis.exceptions import NoScriptError, ResponseError

from agents.errors import ViewIncomplete
from streams.stores.guard import CircuitBreaker
from streams.stores.sessions.redis_scripts import BEGIN, BEHIND, EPOCHS, FINISH, MISSING, NOTICE

# A server that is gone says so at once. This long it may be silent: packs wait for it, and have a deadline. Giving up
# early would file a turn without its history, and take a message that was sent twice for two.
TIMEOUT_S = 1.0
# Calls of one store at a time: a burst waits for its turn instead of opening a connection each.
PIPELINE_SIZE = 32
OUTAGES = frozenset(
    {"MISCONF", "OOM", "READONLY", "LOADING", "CLUSTERDOWN", "MASTERDOWN", "NOREPLICAS", "TRYAGAIN", "NOPERM"}
)


def is_outage(error: Exception) -> bool:
    """Whether an error says "not now" rather than "wrong": a failed script or a wrong type is a bug."""
    # The driver takes the code off the text of those errors it has a class for.
    code = getattr(error, "status_code", None) or str(error).partition(" ")[0]
    return not isinstance(error, ResponseError) or code in OUTAGES


@lru_cache
def digest_of(script: str) -> str:
    """What the server knows a script by."""
    return sha1(script.encode(), usedforsecurity=False).hexdigest()


def awaited(reply: object) -> Awaitable[Any]:
    """An answer of the driver's: it types every command for its blocking and its asyncio client at once."""
    return cast("Awaitable[Any]", reply)


class RedisView:
    """A view of the log in Redis, which knows of which partitions it holds all that the log has.

    That is a field for each partition, in the hash of all views (`redis_scripts`): `view` sets this one's names apart.
    """

    def __init__(self, client: Redis, guard: CircuitBreaker, *, what: str, view: str = "") -> None:
        self._client = client
        self._guard = guard
        self._partitions = 0
        self._what = what
        self._view = view

    async def incomplete_partitions(self, partitions: Collection[int]) -> frozenset[int]:
        """Those that are not whole: never restored, or emptied, or the server may have lost writes since."""
        numbers = sorted(partitions)
        found = await self._run(MISSING, [EPOCHS], *map(self._name, numbers))
        return frozenset(number for number, whole in zip(numbers, found, strict=True) if not whole)

    async def start_restore(self, partition: int) -> str:
        """A token to restore with; the partition is not whole from now on, and an earlier token is worth nothing."""
        token = uuid4().hex
        # Noticed later, with a script the server does not know, the loss would take the token with it.
        await self._run(NOTICE, [EPOCHS])
        await self._run(BEGIN, [EPOCHS], self._name(partition), token)
        return token

    async def complete_restore(self, partition: int, token: str) -> None:
        """The partition is whole; raises `ViewIncomplete` when the token is worth nothing any more."""
        self._unless_behind(await self._run(FINISH, [EPOCHS], self._name(partition), token), partition)

    def _name(self, partition: int) -> str:
        # With another number of partitions, a key may lie in another one.
        return f"{self._view}{partition}/{self._partitions}"

    def _unless_behind(self, found: object, partition: int) -> None:
        if found == BEHIND:
            raise ViewIncomplete(self._what, partition)

    async def _run(self, script: str, keys: Sequence[str], *args: str | bytes | int) -> Any:
        """What the script answers; raises `Unavailable`."""
        digest, count = digest_of(script), len(keys)

        async def call() -> object:
            try:
                return await awaited(self._client.evalsha(digest, count, *keys, *args))
            except NoScriptError:
                # In one transaction: nobody may use the script before it is known which server this is.
                both = self._client.pipeline(transaction=True)
                both.eval(NOTICE, 1, EPOCHS)
                both.eval(script, count, *keys, *args)
                return (await awaited(both.execute()))[1]

        return await self._guard.run(call)
