"""The embedded graph: kglite in this process, a file with a write-ahead log, one owner process."""

import asyncio
import shutil
from collections.abc import Sequence
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import kglite

from agents.errors import FathomError
from streams.stores.damage import mark_unfilled, opening
from streams.stores.graph import queries
from streams.stores.graph.cypher import Statement, statements_of
from streams.stores.graph.rows import Found, Properties, RowBatch
from streams.stores.graph.store import Engine, GraphStore
from streams.stores.guard import CircuitBreaker
from streams.stores.ownership import DirectoryInUse, Ownership, private

FILE = "graph.kgl"
TIMEOUT_S = 5.0
# Enough for some thousand rows, each statement waiting for the other work of the event loop.
WRITE_TIMEOUT_S = 60.0
# Rows per statement: about a millisecond. It holds Python's lock, so that a thread would not keep the loop free.
CHUNK = 12

# The labels whose nodes have a title property of ours.
TITLED = frozenset({"Chunk", "Document", "Knowledge", "Objective"})

# The indexes of the embedded engine; a server has the constraints and indexes of `deploy/neo4j`. An index serves a read
# only when the read compares all of its properties for equality, so each belongs to one read. One over several
# properties is maintained by scanning its values, 18 microseconds per thousand: properties that differ in almost every
# node have a single-property index, and the tenant is checked in its results. Not so conversations: many tenants number
# them alike.
INDEXES = (
    "CREATE INDEX summary_talk IF NOT EXISTS"
    " FOR (n:ConversationSummary) ON (n.tenant_id, n.conversation_id, n.user_id)",
    "CREATE INDEX summary_user IF NOT EXISTS FOR (n:ConversationSummary) ON (n.tenant_id, n.user_id)",
    "CREATE INDEX claim_talk IF NOT EXISTS FOR (n:Claim) ON (n.tenant_id, n.conversation_id, n.client_id)",
    "CREATE INDEX claim_by_subject IF NOT EXISTS FOR (n:Claim) ON (n.subject_key)",
    "CREATE INDEX decision_by_message IF NOT EXISTS FOR (n:CDCDecision) ON (n.message_id)",
    "CREATE INDEX audit_by_subject IF NOT EXISTS FOR (n:AuditEvent) ON (n.subject_id)",
    "CREATE INDEX audit_by_talk IF NOT EXISTS FOR (n:AuditEvent) ON (n.conversation_id)",
    "CREATE INDEX consultation_by_talk IF NOT EXISTS FOR (n:Consulta) ON (n.conversation_id)",
    "CREATE INDEX consultation_by_signature IF NOT EXISTS FOR (n:Consulta) ON (n.signature)",
    "CREATE INDEX knowledge_by_name IF NOT EXISTS FOR (n:Knowledge) ON (n.name_key)",
    "CREATE INDEX chunk_by_document IF NOT EXISTS FOR (n:Chunk) ON (n.document_id)",
    "CREATE INDEX knowledge_by_document IF NOT EXISTS FOR (n:Knowledge) ON (n.document_id)",
    "CREATE INDEX concept_by_document IF NOT EXISTS FOR (n:Concept) ON (n.document_id)",
    "CREATE INDEX process_by_document IF NOT EXISTS FOR (n:Process) ON (n.document_id)",
    "CREATE INDEX concept_by_name IF NOT EXISTS FOR (n:Concept) ON (n.name_key)",
)


class KgliteGraph(GraphStore):
    """The graph in a directory of this process; `close` writes a checkpoint."""

    engine: "KgliteEngine"

    def __init__(self, directory: Path, *, admin: bool = False, timeout: float = TIMEOUT_S) -> None:
        self.engine = KgliteEngine(directory, timeout)
        super().__init__(self.engine, admin=admin)

    async def ping(self) -> None:
        """Raises `Unavailable` when the graph does not answer."""
        await self.engine.read("RETURN 1 AS one", {})

    async def version(self) -> str:
        """The name and version of the engine."""
        return f"kglite {metadata.version('kglite')}, embedded"

    async def compact(self) -> None:
        """Write a checkpoint: the file without deleted nodes, and the log empty."""
        await self.engine.checkpoint()

    async def close(self) -> None:
        """Write a checkpoint and release the directory."""
        await self.engine.close()


class KgliteEngine(Engine):
    """Runs Cypher texts; raises `DirectoryInUse` when another process has the directory.

    A committed write survives the death of the process; a power cut may lose writes that the system had cached.
    """

    def __init__(self, directory: Path, timeout: float = TIMEOUT_S) -> None:
        self._owned = Ownership(private(directory))
        self._directory = directory
        # Unknown labels and properties are normal in an empty graph and not worth a log line each.
        kglite.set_query_warning_policy("silent")
        try:
            with opening(directory):
                self._graph = _open(directory / FILE)
        except BaseException:
            # On any exception, also Ctrl-C: a lock that is kept would refuse this process's own next attempt.
            self._owned.release()
            raise
        self._guard = CircuitBreaker("graph", timeout=timeout, errors=(kglite.KgError,), is_outage=_is_outage)
        self._writing = asyncio.Lock()
        self._erased = True  # as far as this process knows

    async def read(self, query: str, parameters: Properties) -> Sequence[Found]:
        """The rows of a query; on the loop, as it takes microseconds."""

        async def rows() -> Sequence[Found]:
            return _rows(self._graph, query, parameters)

        return await self._guard.run(rows)

    async def write(self, rows: RowBatch) -> None:
        """Merge nodes, then links, then names, statement by statement; other tasks run in between.

        A transaction of this engine copies its indexes: with a hundred thousand nodes, 30 ms for each. Rows lost by a
        death between two statements are merged when the record is redelivered, since it was not acknowledged.
        """
        statements = list(statements_of(rows))
        async with self._writing:
            await self._guard.run(partial(self._commit, statements), timeout=WRITE_TIMEOUT_S)

    async def erase(self, statement: str, parameters: Properties) -> None:
        """Delete the nodes or links of a statement."""

        async def erased() -> None:
            self._graph.cypher(statement, params=dict(parameters))

        async with self._writing:
            self._erased = True
            await self._guard.run(erased, timeout=WRITE_TIMEOUT_S)

    async def copied(self) -> Path:
        """Copy the graph's files beside its directory, as they are after the last write; reads go on, writes wait.

        To be read by another process, which deletes it: a listing here would hold the event loop for as long as it
        scans a label. Raises `FathomError` where the disk has no room.
        """
        async with self._writing:
            return await asyncio.to_thread(_copy, self._directory)

    async def checkpoint(self) -> None:
        """Write a checkpoint, unless nothing was deleted since the last one of this process."""

        async def saved() -> None:
            await asyncio.to_thread(self._graph.save)

        async with self._writing:
            if self._erased:
                await self._guard.run(saved, timeout=WRITE_TIMEOUT_S)
                self._erased = False

    async def close(self) -> None:
        """Write a checkpoint and release the directory."""
        async with self._writing:
            await asyncio.to_thread(self._graph.close)
            self._owned.release()

    async def _commit(self, statements: Sequence[Statement]) -> None:
        for text, rows in statements:
            for start in range(0, len(rows), CHUNK):
                self._graph.cypher(text, params={"rows": rows[start : start + CHUNK]})
                await asyncio.sleep(0)


def _open(path: Path) -> kglite.KnowledgeGraph:
    before = _left_out(path)
    try:
        graph = kglite.open(str(path), durable="normal")
    except kglite.WriterLeaseHeldError as error:
        raise DirectoryInUse(path.parent, f"pid {error.holder.get('pid')}") from error
    if _left_out(path) != before:
        # The write-ahead log was damaged in the middle: the engine keeps a copy, and goes on with what was before it.
        mark_unfilled(path.parent)
    for statement in INDEXES:
        graph.cypher(statement)
    return graph


def _left_out(path: Path) -> set[Path]:
    """The copies of write-ahead logs of which the engine has left a part out."""
    return {*path.parent.glob(f"{path.name}-wal.quarantine-*")}


class GraphCopy(Engine):
    """An engine over a copy of the graph's files, which are this process's alone; it only reads."""

    def __init__(self, directory: Path) -> None:
        kglite.set_query_warning_policy("silent")
        # Without durability, what was written since the last checkpoint and is in the log beside it would be refused.
        self._graph = kglite.open(str(directory / FILE), durable="normal", lock=False)

    async def read(self, query: str, parameters: Properties) -> Sequence[Found]:
        """The rows of a query."""
        return _rows(self._graph, query, parameters)

    async def write(self, rows: RowBatch) -> None:
        """Nothing is written to a copy."""
        raise NotImplementedError(rows)

    async def erase(self, statement: str, parameters: Properties) -> None:
        """Nothing is erased from a copy."""
        raise NotImplementedError(statement, parameters)


def _copy(directory: Path) -> Path:
    copy = directory.with_name(f"{directory.name}.copy")
    shutil.rmtree(copy, ignore_errors=True)  # of a process that was killed
    try:
        copy.mkdir(mode=0o700)
        for file in (FILE, f"{FILE}-wal"):
            if (directory / file).exists():
                shutil.copyfile(directory / file, copy / file)
    except OSError as error:
        shutil.rmtree(copy, ignore_errors=True)
        raise FathomError(
            f"the graph cannot be copied to {copy} to be looked at: {error.strerror}; free some of its disk, or stop "
            "`fathom up` and run this again"
        ) from error
    return copy


def _rows(graph: Any, query: str, parameters: Properties) -> Sequence[Found]:
    found = graph.cypher(query, params=dict(parameters)).to_list()
    if query in (queries.ALL_NODES, queries.ALL_LINKS):
        return [_without_own(row) for row in found]
    return list(found)


def _without_own(row: Found) -> Found:
    """The row without the properties that the engine adds to nodes and links: a type, and a title from a name or id."""
    own = {"type"} if row.get("label", "") in TITLED else {"type", "title"}
    return {**row, "props": {name: value for name, value in row["props"].items() if name not in own}}


def _is_outage(error: Exception) -> bool:
    """Whether a retry helps: after a conflict, a timeout or a disk error, not after an invalid statement."""
    return isinstance(
        error, (kglite.TransactionConflictError, kglite.CypherTimeoutError, kglite.FileError, kglite.FileIoError)
    )
