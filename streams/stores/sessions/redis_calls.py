"""The common base of all views in Redis: running scripts, and the completeness of a view by partition."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import lru_cache, partial
from hashlib import sha1
from typing import Any, cast
from uuid import uuid4

from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, ResponseError

from agents.errors import ViewIncomplete
from streams.stores.guard import CircuitBreaker
from streams.stores.sessions.redis_scripts import BEGIN, BEHIND, CHANGED, EPOCHS, FINISH, MISSING, NOTICE

# A server that is gone refuses connections at once. A silent one may take this long: packs wait for it, and have a
# deadline. Giving up early would store a turn without its history, and process a redelivered message twice.
TIMEOUT_S = 1.0
# Concurrent calls of one store: a burst queues instead of opening a connection each.
PIPELINE_SIZE = 32
OUTAGES = frozenset(
    {"MISCONF", "OOM", "READONLY", "LOADING", "CLUSTERDOWN", "MASTERDOWN", "NOREPLICAS", "TRYAGAIN", "NOPERM"}
)


def is_outage(error: Exception) -> bool:
    """Whether a retry helps after an error; a failed script or a wrong type is a bug."""
    # The driver removes the code from the text of errors for which it has a class.
    code = getattr(error, "status_code", None) or str(error).partition(" ")[0]
    return not isinstance(error, ResponseError) or code in OUTAGES


@lru_cache
def digest_of(script: str) -> str:
    """The server's id of a script."""
    return sha1(script.encode(), usedforsecurity=False).hexdigest()


def awaited(reply: object) -> Awaitable[Any]:
    """A reply of the driver as an awaitable: it types every command for its blocking and its asyncio client at once."""
    return cast("Awaitable[Any]", reply)


class SameServer:
    """Looks, on each new connection of a client, whether it is still the server of the last one.

    After a failover and back the first server has our scripts, and its views say that they are whole: the writes that
    it had not sent to the second one may be there and the second one's may not.
    """

    def __init__(self) -> None:
        self._run: bytes | None = None

    async def connected(self, connection: AbstractConnection) -> None:
        """Prepare a connection; views of another server than before are no longer whole."""
        await connection.on_connect()
        if self._run is not None:
            await connection.send_command("EVAL", CHANGED, 1, EPOCHS, self._run)
        else:
            await connection.send_command("EVAL", NOTICE, 1, EPOCHS)
        self._run = await connection.read_response()


class RedisView:
    """A view of the log in Redis that knows which partitions are complete.

    Stored as a field per partition in the hash of all views (`redis_scripts`), prefixed by `view`.
    """

    def __init__(self, client: Redis, guard: CircuitBreaker, *, what: str, view: str = "") -> None:
        self._client = client
        self._guard = guard
        self._partitions = 0
        self._what = what
        self._view = view

    async def incomplete_partitions(self, partitions: Collection[int]) -> frozenset[int]:
        """The incomplete partitions: never restored, or emptied, or the server may have lost writes since."""
        numbers = sorted(partitions)
        found = await self._run(MISSING, [EPOCHS], *map(self._name, numbers))
        return frozenset(number for number, whole in zip(numbers, found, strict=True) if not whole)

    async def start_restore(self, partition: int) -> str:
        """A token for a restoration; the partition is incomplete from now on, and earlier tokens become invalid."""
        token = uuid4().hex
        # Noticed later, on an unknown script, the loss would discard the token, too.
        await self._run(NOTICE, [EPOCHS])
        await self._run(BEGIN, [EPOCHS], self._name(partition), token)
        return token

    async def complete_restore(self, partition: int, token: str) -> None:
        """Mark the partition complete; raises `ViewIncomplete` for an invalid token."""
        self._unless_behind(await self._run(FINISH, [EPOCHS], self._name(partition), token), partition)

    def _name(self, partition: int) -> str:
        # With another partition count, a key may belong to another partition.
        return f"{self._view}{partition}/{self._partitions}"

    def _unless_behind(self, found: object, partition: int) -> None:
        if found == BEHIND:
            raise ViewIncomplete(self._what, partition)

    async def _run(self, script: str, keys: Sequence[str], *args: str | bytes | int) -> Any:
        """The result of the script; raises `Unavailable`."""
        digest, count = digest_of(script), len(keys)

        async def call() -> object:
            try:
                return await awaited(self._client.evalsha(digest, count, *keys, *args))
            except NoScriptError:
                # In one transaction: no script may run before the server process is known.
                both = self._client.pipeline(transaction=True)
                both.eval(NOTICE, 1, EPOCHS)
                both.eval(script, count, *keys, *args)
                return (await awaited(both.execute()))[1]

        return await self._guard.run(partial(self._once_more, call))

    async def _once_more(self, call: Callable[[], Awaitable[object]]) -> object:
        """The result of the call, made once more where its connection had ended before the server was known to fail."""
        away = self._guard.state is not None
        try:
            return await call()
        except RedisConnectionError:
            if away:
                raise
            return await call()
