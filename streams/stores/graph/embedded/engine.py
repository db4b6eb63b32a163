"""The embedded graph: a SQLite file in a directory of one owner process, or a graph in memory."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from agents.errors import Unavailable
from streams.stores.damage import DamagedStore, mark_unfilled, opening
from streams.stores.graph import queries
from streams.stores.graph.cypher import REMOVED
from streams.stores.graph.decision_reads import UNANSWERED
from streams.stores.graph.embedded import write_log
from streams.stores.graph.embedded.conversion import OLD, convert
from streams.stores.graph.embedded.documents import DOCUMENTS
from streams.stores.graph.embedded.reads import READS
from streams.stores.graph.embedded.tables import ENDS, FILE, GraphTables, Node, always
from streams.stores.graph.rows import DocumentVersion, Edge, Found, NameLink, NodeUpsert, Properties, RowBatch
from streams.stores.graph.schema import RETIRED, SHARED
from streams.stores.graph.store import Engine, GraphStore
from streams.stores.guard import CircuitBreaker
from streams.stores.ownership import Ownership, private

TIMEOUT_S = 5.0
# Enough for some thousand rows, each dozen waiting for the other work of the event loop.
WRITE_TIMEOUT_S = 60.0
# Rows between two turns of the event loop: about a millisecond.
CHUNK = 12
# A log of writes of this size goes into the file, in a thread: the event loop would wait for the disk.
MAX_LOG_BYTES = 4 << 20
# For readers of other processes.
BUSY_S = 5.0

# There from the opening of a graph to its close.
RUNNING = "open"

# What people list: as many nodes as a tenant has.
LISTS = frozenset({*DOCUMENTS, queries.DECISIONS_MADE, queries.CORRECTIONS_MADE, UNANSWERED})
REMOVALS = {text: label for label, text in REMOVED.items()}


class EmbeddedGraph(GraphStore):
    """The graph in a directory of this process; without a directory, a graph in memory."""

    engine: "EmbeddedEngine"

    def __init__(self, directory: Path | None = None, *, admin: bool = False, timeout: float = TIMEOUT_S) -> None:
        super().__init__(EmbeddedEngine(directory, timeout), admin=admin)

    async def ping(self) -> None:
        """Raises `Unavailable` when the graph does not answer."""
        await self.engine.ping()

    async def version(self) -> str:
        """The name and version of the engine."""
        return f"SQLite {sqlite3.sqlite_version}, embedded"

    async def compact(self) -> None:
        """Leave nothing of deleted nodes in the files."""
        await self.engine.compact()

    async def close(self) -> None:
        """Release the directory."""
        await self.engine.close()


class EmbeddedEngine(Engine):
    """Answers each of `queries` from the tables; raises `DirectoryInUse` when another process has the directory.

    A committed write survives the death of the process; a power cut may lose writes that the system had cached.
    """

    def __init__(self, directory: Path | None = None, timeout: float = TIMEOUT_S) -> None:
        self._owned = None if directory is None else Ownership(private(directory))
        self._path = None if directory is None else directory / FILE
        try:
            self._tables = _opened(self._path)
        except BaseException:
            # On any exception, also Ctrl-C: a lock that is kept would refuse this process's own next attempt.
            if self._owned is not None:
                self._owned.release()
            raise
        self._guard = CircuitBreaker("graph", timeout=timeout, errors=(sqlite3.Error,), is_outage=_is_outage)
        self._writing = asyncio.Lock()
        self._erased = True  # as far as this process knows

    @property
    def nodes(self) -> dict[str, dict[str, Node]]:
        """Every node by its label and id, for a look at a small graph."""
        found: dict[str, dict[str, Node]] = {}
        for label, node in self._tables.all_nodes():
            found.setdefault(label, {})[node["id"]] = node
        return found

    @property
    def links(self) -> dict[tuple[str, str, str], Node]:
        """The properties of every link by its kind and ends."""
        return {(kind, start, end): props for kind, start, end, props in self._tables.all_links()}

    async def ping(self) -> None:
        """Raises `Unavailable` when the file cannot be read."""

        async def read() -> Node | None:
            return self._tables.one(SHARED, "", ())

        await self._guard.run(read)

    async def read(self, query: str, parameters: Properties) -> Sequence[Found]:
        """The rows of a query; on the loop, as it takes microseconds, but for a list of thousands of nodes."""

        async def rows() -> Sequence[Found]:
            if query in LISTS and self._path is not None:
                return await asyncio.to_thread(_read_apart, self._path, query, parameters)
            return READS[query](self._tables, parameters)

        return await self._guard.run(rows)

    async def read_all(self, several: Sequence[str], parameters: Sequence[Properties]) -> Sequence[Sequence[Found]]:
        """The rows of several queries, one after the other: none of them waits."""
        return [await self.read(query, each) for query, each in zip(several, parameters, strict=True)]

    async def write(self, rows: RowBatch) -> None:
        """Merge nodes, then links, then names, in one transaction, in which other tasks run in between."""
        await self._changed(_steps(self._tables, rows))

    async def erase(self, statement: str, parameters: Mapping[str, Any]) -> None:
        """Run one of `cypher.REMOVED`."""
        self._erased = True
        label, tenant = REMOVALS[statement], parameters["tenant"]
        await self._changed(partial(self._tables.removed, label, each, tenant) for each in parameters["ids"])

    async def file(self) -> Path | None:
        """Where the graph is, for another process of this user to read."""
        return self._path

    async def compact(self) -> None:
        """Write the log of writes into the file and cut it off, if something was deleted since the last time."""
        async with self._writing:
            if self._erased and self._path is not None:
                await self._guard.run(partial(asyncio.to_thread, _checkpoint, self._path), timeout=WRITE_TIMEOUT_S)
                self._erased = False

    async def close(self) -> None:
        """Write the log of writes into the file and release the directory."""
        async with self._writing:
            await asyncio.to_thread(self._tables.close)
            if self._path is not None:
                (self._path.parent / RUNNING).unlink(missing_ok=True)
            if self._owned is not None:
                self._owned.release()

    async def _changed(self, steps: Iterator[Callable[[], object]]) -> None:
        async with self._writing:
            await self._guard.run(partial(self._commit, steps), timeout=WRITE_TIMEOUT_S)

    async def _commit(self, steps: Iterator[Callable[[], object]]) -> None:
        self._tables.begin()
        try:
            for number, step in enumerate(steps, 1):
                step()
                if number % CHUNK == 0:
                    await asyncio.sleep(0)
            self._tables.commit()
        except BaseException:
            self._tables.roll_back()
            raise
        if self._path is not None and write_log.size(self._path) > MAX_LOG_BYTES:
            with suppress(Unavailable):  # another process reads: the log goes on, and is cut off later
                await asyncio.to_thread(_checkpoint, self._path)


class GraphFileReader(Engine):
    """The graph of another process of this user, read from its file."""

    def __init__(self, path: Path) -> None:
        self._tables = GraphTables(path, writes=False)

    async def read(self, query: str, parameters: Properties) -> Sequence[Found]:
        """The rows of a query."""
        return READS[query](self._tables, parameters)

    async def write(self, rows: RowBatch) -> None:
        """Nothing is written by a reader."""
        raise NotImplementedError(rows)

    async def erase(self, statement: str, parameters: Properties) -> None:
        """Nothing is erased by a reader."""
        raise NotImplementedError(statement, parameters)

    def close(self) -> None:
        self._tables.close()


def _opened(path: Path | None) -> GraphTables:
    if path is None:
        return GraphTables(None)
    # The old engine has a file of its own only once it was stopped; until then its log of writes has all.
    if not path.exists() and any((path.parent / name).exists() for name in (OLD, f"{OLD}-wal")):
        with opening(path.parent):
            convert(path.parent)
    if path.exists() and not path.stat().st_size:
        raise DamagedStore(path.parent, f"{path.name} is empty")
    committed = write_log.committed_pages(path)
    # While a graph is open it has a log of writes, but for the moment after a checkpoint.
    is_lost = (path.parent / RUNNING).exists() and not (path.exists() and write_log.size(path))
    with opening(path.parent):
        tables = GraphTables(path)
        if tables.checkpoint() < committed or is_lost:
            # SQLite goes on with what was before the damage.
            mark_unfilled(path.parent)
        wrong = tables.check()
    if wrong:
        tables.close()
        raise DamagedStore(path.parent, wrong)
    (path.parent / RUNNING).touch(mode=0o600)
    return tables


def _read_apart(path: Path, query: str, parameters: Properties) -> Sequence[Found]:
    """The rows of a query, by a connection of its own: the other one is in a transaction now and then."""
    tables = GraphTables(path, writes=False)
    try:
        return READS[query](tables, parameters)
    finally:
        tables.close()


def _checkpoint(path: Path) -> None:
    """Raises `Unavailable` where another process reads for longer than a moment."""
    file = sqlite3.connect(path, timeout=BUSY_S)
    try:
        [busy, _, _] = file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        file.close()
    if busy:
        raise Unavailable("graph", "another process reads the graph; what was erased stays in its log of writes")


def _is_outage(error: Exception) -> bool:
    """Whether a retry helps: after a full disk or an error of it, not after a fault of ours."""
    return isinstance(error, sqlite3.OperationalError)


def _steps(tables: GraphTables, rows: RowBatch) -> Iterator[Callable[[], object]]:
    for fact in rows.facts:
        yield partial(tables.merged, fact.label, fact.id, fact.tenant_id, partial(always, fact.props))
    for latest in rows.latest:
        yield partial(_put_latest, tables, latest)
    for link in rows.links:
        yield partial(_join, tables, link)
    for named in rows.names:
        yield partial(_name, tables, named)
    for version in rows.versions:
        yield partial(_retire, tables, version)


def _put_latest(tables: GraphTables, latest: NodeUpsert) -> None:
    def change(node: Node) -> Node:
        known, changed = node.get(latest.guard), Node()
        if latest.created_at is not None:
            changed["created_at"] = min(node.get("created_at", latest.created_at), latest.created_at)
        is_newer = known is None or known <= latest.version
        return changed | ({**latest.props, latest.guard: latest.version} if is_newer else {})

    tables.merged(latest.label, latest.id, latest.tenant_id, change)


def _join(tables: GraphTables, link: Edge) -> None:
    start_label, end_label = ENDS[link.type]
    start = tables.merged(start_label, link.start, link.tenant_id)
    tables.linked(link.type, start, tables.merged(end_label, link.end, link.end_tenant), link.props)


def _name(tables: GraphTables, named: NameLink) -> None:
    concepts = [*tables.keyed("Concept", named.tenant_id, name_key=named.name_key)]
    for knowledge in [*tables.keyed("Knowledge", named.tenant_id, name_key=named.name_key)]:
        for concept in concepts:
            _join(tables, Edge("ABOUT", knowledge["id"], concept["id"], named.tenant_id, named.tenant_id))


def _retire(tables: GraphTables, version: DocumentVersion) -> None:
    document = tables.one("Document", version.id, [version.tenant_id])
    newest = None if document is None else document.get("complete_at")
    if newest is None or not (version.whole or newest > version.at):
        return
    for label in RETIRED:
        for node in [*tables.keyed(label, version.tenant_id, document_id=version.document_id)]:
            known = node.get("retired_at")
            if node["recorded_at"] < newest and (known is None or known < node["recorded_at"] or known > newest):
                tables.merged(label, node["id"], version.tenant_id, partial(always, {"retired_at": newest}))
