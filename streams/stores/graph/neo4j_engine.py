"""The graph on a Neo4j server, over Bolt: the Cypher of the embedded graph, each batch in one managed transaction."""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeVar
from urllib.parse import urlsplit

import orjson
from neo4j import READ_ACCESS, AsyncDriver, AsyncGraphDatabase, AsyncManagedTransaction, Query, unit_of_work
from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    ConnectionPoolError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)

from agents.concurrency import KeyedLock, SingleFlight, retrieve
from agents.errors import Unavailable
from streams.stores.graph.cypher import Statement, columns_of, in_one, numbered, statements_of, united
from streams.stores.graph.migrations import DatabaseRefused, bundled, migrate
from streams.stores.graph.rows import Found, Properties, RowBatch
from streams.stores.graph.store import Engine, GraphStore
from streams.stores.guard import CircuitBreaker, is_closed_transport
from streams.stores.neo4j_values import native, sent
from streams.telemetry import metrics

LOGGER = logging.getLogger("fathom.stores")
T = TypeVar("T")

# The time limits of the guard and of the server: the transaction of a dead worker ends and releases its locks.
READ_S, WRITE_S = 5.0, 15.0
CONNECT_S = 5.0
SCHEMA_S = 600.0
# The duration of retries after a deadlock or a lost connection, before the caller gets the error.
READ_RETRY_S, WRITE_RETRY_S = 0.3, 3.0
FIRST_RETRY_S = 0.05
# A server has 400 threads for all clients.
CONNECTIONS = 32
# More concurrent reads would only wait for each other at the server.
READS = 16
IDLE_S = 30.0
# A worker's writers ask what was erased before and after they write; none of them is waited for.
LOOKED_UP_S = 0.05
ONE: Final = "RETURN 1 AS one"
NOTHING = RowBatch((), (), (), ())

# Server errors that are independent of the statement.
OUTAGES = (
    "Neo.DatabaseError.Database.",
    "Neo.DatabaseError.General.",
    "Neo.DatabaseError.Transaction.",
    "Neo.ClientError.Security.",
    "Neo.ClientError.Database.",
    "Neo.ClientError.Cluster.",
    "Neo.ClientError.Transaction.InvalidBookmark",
    "Neo.ClientError.Transaction.LockClientStopped",
    "Neo.ClientError.Transaction.Terminated",
    "Neo.ClientError.Transaction.TransactionTimedOut",
)
COMPONENTS = """
    CALL dbms.components() YIELD name, versions, edition WHERE name = 'Neo4j Kernel'
    RETURN versions[0] AS version, edition AS edition"""
CREDENTIALS = "the user or its password is refused; check FATHOM_NEO4J_USER and FATHOM_NEO4J_PASSWORD_FILE"


@dataclass(frozen=True, slots=True)
class Neo4jServer:
    """Address and login of a Neo4j server; without a password the server must ask for none."""

    url: str
    user: str = "neo4j"
    password: str | None = field(default=None, repr=False)

    def driver(self) -> AsyncDriver:
        """A pool of connections, not yet opened; raises `DatabaseRefused` for an invalid URL."""
        # Otherwise a line for each deadlock that it retries, and for each label missing in an empty graph. Not a
        # setting of the server: an old one would refuse the query before the check of its version.
        logging.getLogger("neo4j").setLevel(logging.ERROR)
        try:
            # The driver would report it on connecting, like a server that is away.
            _ = urlsplit(self.url).port
            return AsyncGraphDatabase.driver(
                self.url,
                auth=None if self.password is None else (self.user, self.password),
                max_connection_pool_size=CONNECTIONS,
                connection_timeout=CONNECT_S,
                connection_acquisition_timeout=CONNECT_S,
                liveness_check_timeout=IDLE_S,
                max_transaction_retry_time=WRITE_RETRY_S,
                initial_retry_delay=FIRST_RETRY_S,
                telemetry_disabled=True,
            )
        except (ConfigurationError, ValueError) as error:
            raise DatabaseRefused(f"FATHOM_NEO4J_URL cannot be used: {error}; write bolt://HOST:PORT") from error


class Neo4jGraph(GraphStore):
    """The graph of one database; reads see what this process wrote before."""

    engine: "Neo4jEngine"

    def __init__(
        self, server: Neo4jServer, *, admin: bool = False, timeout: float = READ_S, looked_up_every: float = 0.0
    ) -> None:
        self.engine = Neo4jEngine(server, timeout)
        super().__init__(self.engine, admin=admin, looked_up_every=looked_up_every)

    async def ping(self) -> None:
        """Raises `Unavailable` when the server does not answer."""
        await self.engine.check()

    async def version(self) -> str:
        """The name, version and edition of the server."""
        [said] = await self.engine.read(COMPONENTS, {})
        return f"Neo4j {said['version']} {said['edition']}"

    async def close(self) -> None:
        """Close all connections."""
        await self.engine.close()


def open_graph(server: Neo4jServer, *, admin: bool = False, timeout: float = READ_S) -> Neo4jGraph:
    """The graph, with its schema; blocks shortly, at the first start while the schema is made.

    `timeout` is the limit of a read, in seconds. An unreachable server does not prevent the start: the schema is then
    made before the first read or write. Raises `DatabaseRefused` for a server that is too old, refuses us, or has
    another schema.
    """
    try:
        # A thread of its own has no running loop, whatever the caller has.
        with ThreadPoolExecutor(1) as apart:
            apart.submit(asyncio.run, _make_schema(server)).result()
    except AuthError as error:
        raise DatabaseRefused(f"FATHOM_NEO4J_URL: {CREDENTIALS}") from error
    except (DriverError, Neo4jError, OSError) as error:
        if not isinstance(error, OSError) and not is_outage(error):
            raise
        metrics.log(LOGGER, logging.WARNING, "graph.waiting", why=str(error), next="starting without it")
    return Neo4jGraph(server, admin=admin, timeout=timeout, looked_up_every=LOOKED_UP_S)


async def _make_schema(server: Neo4jServer) -> None:
    async with asyncio.timeout(SCHEMA_S), server.driver() as driver:
        await migrate(driver, bundled())


class Neo4jEngine(Engine):
    """Runs Cypher texts over a pool of connections, which belong to the loop that first uses them."""

    def __init__(self, server: Neo4jServer, timeout: float = READ_S) -> None:
        self._server = server
        self._driver = server.driver()
        self._left: dict[asyncio.Task[None], AsyncDriver] = {}
        self._bookmarks = AsyncGraphDatabase.bookmark_manager()
        self._guard = CircuitBreaker(
            "graph",
            timeout=timeout,
            errors=(DriverError, Neo4jError, DatabaseRefused),
            is_outage=is_outage,
            probe=partial(self._prepared_for, partial(self._read, ONE, {})),
        )
        self._read_seconds = timeout
        # A driver that is cancelled in a read closes its connection, and the next read needs a new one: a server that
        # was slow for a moment would stay slow as long as messages arrive.
        self._reads = SingleFlight(READS)
        # Neo4j sometimes takes a queue of writers for one node for a deadlock: it ends one of them, which retries and
        # meets the same queue. On a busy machine eight writers of one summary used up all their retries.
        self._nodes = KeyedLock()
        self._writes = 0
        self._schema: asyncio.Task[object] | None = None
        self._prepared = False

    async def read(self, query: str, parameters: Properties) -> Sequence[Found]:
        """The rows of a query, times in UTC; includes all earlier writes of this process."""
        key = (query, self._writes, orjson.dumps(parameters))
        return await self._reads.share(key, partial(self._run, partial(self._read, query, parameters)))

    async def read_all(self, several: Sequence[str], parameters: Sequence[Properties]) -> Sequence[Sequence[Found]]:
        """The rows of independent queries, each with its parameters, in one round trip."""
        found: list[list[Found]] = [[] for _ in several]
        for row in await self.read(united(tuple(several)), numbered(parameters)):
            place = row["place"]
            found[place].append(dict(zip(columns_of(several[place]), row["found"], strict=True)))
        return found

    async def check(self) -> None:
        """Ask the server, regardless of its known state; raises `Unavailable` when it does not answer."""
        async with self._afresh_after_outage():
            await self._guard.check(partial(self._prepared_for, partial(self._read, ONE, {})))

    async def write(self, rows: RowBatch) -> None:
        """Merge nodes and links, all or nothing, then names; after `Unavailable` the state is undefined."""
        own = replace(rows, names=())
        # Locks for nodes that many events write: a turn, a claim and a summary share their conversation.
        async with self._nodes.of(*{row.id for row in rows.latest}):
            if own != NOTHING:
                await self._run(partial(self._write, own), timeout=WRITE_S)
            if rows.names:
                # After the commit of the nodes: of two concurrent writers each would see only its own node, and neither
                # would make the link.
                names = replace(NOTHING, names=rows.names)
                await self._run(partial(self._write, names), timeout=WRITE_S)
        self._writes += 1

    async def erase(self, statement: str, parameters: Properties) -> None:
        """Delete the nodes or links of a statement, all or nothing."""
        await self._run(partial(self._erase, statement, parameters), timeout=WRITE_S)
        self._writes += 1

    async def close(self) -> None:
        """Close all connections."""
        await self._reads.close()
        await self._guard.close()
        if self._schema is not None and not self._schema.done():
            self._schema.cancel()
            await asyncio.wait({self._schema})
        left = [*self._left.values()]
        for task in self._left:
            task.cancel()
        for driver in (self._driver, *left):
            # Connections of cancelled calls may not close in order.
            with suppress(DriverError, Neo4jError, OSError, RuntimeError):
                await driver.close()

    def _leave(self, driver: AsyncDriver) -> None:
        """Replace the pool: it has lost count of a connection, and would soon have none available."""
        if self._driver is driver:
            self._driver = self._server.driver()
            task = asyncio.create_task(_closed_later(driver))
            self._left[task] = driver
            task.add_done_callback(self._left.pop)

    async def _run(self, work: Callable[[], Awaitable[T]], timeout: float | None = None) -> T:
        async with self._afresh_after_outage():
            return await self._guard.run(partial(self._prepared_for, work), timeout=timeout)

    @asynccontextmanager
    async def _afresh_after_outage(self) -> AsyncIterator[None]:
        try:
            yield
        except Unavailable:
            # It may return restored from a backup: without our recent writes, perhaps without its schema.
            self._bookmarks, self._prepared = AsyncGraphDatabase.bookmark_manager(), False
            raise

    async def _prepared_for(self, work: Callable[[], Awaitable[T]]) -> T:
        driver = self._driver
        try:
            await self._prepare()
            return await work()
        except AuthError as error:
            raise PermissionError(CREDENTIALS) from error
        except RuntimeError as error:
            if is_closed_transport(error):
                self._leave(driver)
            raise

    async def _prepare(self) -> None:
        """Make the schema once, in a task of its own: a caller may be cancelled earlier."""
        if self._prepared:
            return
        if self._schema is None or self._schema.done():
            self._schema = asyncio.create_task(migrate(self._driver, bundled()))
            self._schema.add_done_callback(retrieve)
        await asyncio.shield(self._schema)
        self._prepared = True

    async def _read(self, query: str, parameters: Properties) -> Sequence[Found]:
        return await _retried(partial(self._read_once, query, parameters), READ_RETRY_S)

    async def _read_once(self, query: str, parameters: Properties) -> Sequence[Found]:
        # A single statement is its own transaction: an explicit one around it took a third of the time of a read.
        async with self._driver.session(default_access_mode=READ_ACCESS, bookmark_manager=self._bookmarks) as session:
            asked = {name: sent(value) for name, value in parameters.items()}
            found = await session.run(Query(query, timeout=self._read_seconds), asked)
            names = found.keys()
            return [dict(zip(names, map(native, row), strict=True)) for row in await found.values()]

    async def _write(self, rows: RowBatch) -> None:
        one = in_one(rows)
        if one is not None:
            await _retried(partial(self._write_once, *one), WRITE_RETRY_S)
            return
        async with self._driver.session(bookmark_manager=self._bookmarks) as session:
            await session.execute_write(_merge, [*statements_of(rows)])

    async def _write_once(self, query: str, parameters: Properties) -> None:
        # Its own transaction, in one round trip: a transaction around each statement took four times the time.
        async with self._driver.session(bookmark_manager=self._bookmarks) as session:
            asked = {name: sent(value) for name, value in parameters.items()}
            await (await session.run(Query(query, timeout=WRITE_S), asked)).consume()

    async def _erase(self, statement: str, parameters: Properties) -> None:
        await self._driver.execute_query(
            Query(statement, timeout=WRITE_S), dict(parameters), bookmark_manager_=self._bookmarks
        )


async def _retried(call: Callable[[], Awaitable[T]], seconds: float) -> T:
    """The result of a call that may be repeated, after errors that pass; raises the last one."""
    loop = asyncio.get_running_loop()
    until, wait = loop.time() + seconds, FIRST_RETRY_S
    while True:
        try:
            return await call()
        except (DriverError, Neo4jError) as error:
            if not error.is_retryable() or loop.time() + wait > until:
                raise
        # Writers that met each other would meet again after equal pauses.
        await asyncio.sleep(wait * (0.5 + random.random()))
        wait *= 2


@unit_of_work(timeout=WRITE_S)
async def _merge(transaction: AsyncManagedTransaction, statements: Sequence[Statement]) -> None:
    for text, rows in statements:
        await (await transaction.run(text, rows=sent(rows))).consume()


def is_outage(error: Exception) -> bool:
    """Whether the server is away, so that a retry helps; other errors are invalid statements or values."""
    if isinstance(error, DatabaseRefused | ServiceUnavailable | SessionExpired | ConnectionPoolError | TransientError):
        return True
    return isinstance(error, Neo4jError) and error.code.startswith(OUTAGES)


async def _closed_later(driver: AsyncDriver) -> None:
    await asyncio.sleep(WRITE_S)  # its remaining users have their answers, or were cancelled
    with suppress(DriverError, Neo4jError, OSError, RuntimeError):
        await driver.close()
