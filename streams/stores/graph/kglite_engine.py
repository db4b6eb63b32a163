"""The embedded graph: kglite in this process, a file with a write-ahead log, one owner."""

import asyncio
from collections.abc import Sequence
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import kglite

from streams.stores.graph import queries
from streams.stores.graph.cypher import Statement, statements_of
from streams.stores.graph.rows import Found, Properties, RowBatch
from streams.stores.graph.store import GraphStore
from streams.stores.guard import CircuitBreaker
from streams.stores.ownership import DirectoryInUse, Ownership

FILE = "graph.kgl"
TIMEOUT_S = 5.0
# Some thousand rows, each statement behind everything else the loop has to do.
WRITE_TIMEOUT_S = 60.0
# Rows of one statement: about a millisecond. It holds Python's lock, so that a thread would not keep the loop free.
CHUNK = 12

# The labels whose nodes have a title of ours.
TITLED = frozenset({"Chunk", "Document", "Knowledge", "Objective"})

# What the embedded engine looks things up by; a server has the constraints and indexes of `deploy/neo4j`. An index
# serves a read only when it has every property that the read wants equal, so each is of one read's. One of several
# properties is kept up by looking through its values, 18 microseconds for each thousand: what is different in almost
# every node has an index of its own alone, and the tenant is looked at in what it finds. Not so conversations: many a
# tenant numbers them alike.
INDEXES = (
    "CREATE INDEX summary_talk IF NOT EXISTS"
    " FOR (n:ConversationSummary) ON (n.tenant_id, n.conversation_id, n.user_id)",
    "CREATE INDEX summary_user IF NOT EXISTS FOR (n:ConversationSummary) ON (n.tenant_id, n.user_id)",
    "CREATE INDEX claim_talk IF NOT EXISTS FOR (n:Claim) ON (n.tenant_id, n.conversation_id, n.client_id)",
    "CREATE INDEX claim_by_subject IF NOT EXISTS FOR (n:Claim) ON (n.subject_key)",
    "CREATE INDEX audit_by_subject IF NOT EXISTS FOR (n:AuditEvent) ON (n.subject_id)",
    "CREATE INDEX knowledge_by_name IF NOT EXISTS FOR (n:Knowledge) ON (n.name_key)",
    "CREATE INDEX chunk_by_document IF NOT EXISTS FOR (n:Chunk) ON (n.document_id)",
    "CREATE INDEX knowledge_by_document IF NOT EXISTS FOR (n:Knowledge) ON (n.document_id)",
    "CREATE INDEX concept_by_document IF NOT EXISTS FOR (n:Concept) ON (n.document_id)",
    "CREATE INDEX process_by_document IF NOT EXISTS FOR (n:Process) ON (n.document_id)",
    "CREATE INDEX concept_by_name IF NOT EXISTS FOR (n:Concept) ON (n.name_key)",
)


class KgliteGraph(GraphStore):
    """The graph in a directory of this process; `close` writes a checkpoint."""

    def __init__(self, directory: Path, *, admin: bool = False, timeout: float = TIMEOUT_S) -> None:
        self.engine = KgliteEngine(directory, timeout)
        super().__init__(self.engine, admin=admin)

    async def ping(self) -> None:
        """Raises `Unavailable` when there is no answer."""
        await self.engine.read("RETURN 1 AS one", {})

    async def version(self) -> str:
        """The name and version of the engine."""
        return f"kglite {metadata.version('kglite')}, embedded"

    async def close(self) -> None:
        """Write a checkpoint and let others in."""
        await self.engine.close()


class KgliteEngine:
    """Runs the Cypher texts; raises `DirectoryInUse` when another process has the directory.

    A committed write survives the death of the process; a power cut may cost what the system had not yet written.
    """

    def __init__(self, directory: Path, timeout: float = TIMEOUT_S) -> None:
        self._owned = Ownership(directory)
        # An unknown label or property is what an empty graph consists of, not worth a line each.
        kglite.set_query_warning_policy("silent")
        try:
            self._graph = _open(directory / FILE)
        except BaseException:
            # Whatever it was, also Ctrl-C: a lock that is kept would refuse this process's own next attempt.
            self._owned.release()
            raise
        self._guard = CircuitBreaker("graph", timeout=timeout, errors=(kglite.KgError,), is_outage=_is_outage)
        self._writing = asyncio.Lock()

    async def read(self, query: str, parameters: Properties) -> Sequence[Found]:
        """The rows of a query; on the loop, as it takes microseconds."""

        async def rows() -> Sequence[Found]:
            return _rows(self._graph, query, parameters)

        return await self._guard.run(rows)

    async def write(self, rows: RowBatch) -> None:
        """Merge nodes, then links, then names, statement by statement, between which others have their turn.

        A transaction of this engine copies its indexes: with a hundred thousand nodes, 30 ms for each. What a death
        between two statements leaves out is merged when the record comes again, for it was not acknowledged.
        """
        statements = list(statements_of(rows))
        async with self._writing:
            await self._guard.run(partial(self._commit, statements), timeout=WRITE_TIMEOUT_S)

    async def erase(self, statement: str, parameters: Properties) -> None:
        """Delete what a statement names."""

        async def erased() -> None:
            self._graph.cypher(statement, params=dict(parameters))

        async with self._writing:
            await self._guard.run(erased, timeout=WRITE_TIMEOUT_S)

    async def close(self) -> None:
        """Write a checkpoint and let others in."""
        async with self._writing:
            await asyncio.to_thread(self._graph.close)
            self._owned.release()

    async def _commit(self, statements: Sequence[Statement]) -> None:
        for text, rows in statements:
            for start in range(0, len(rows), CHUNK):
                self._graph.cypher(text, params={"rows": rows[start : start + CHUNK]})
                await asyncio.sleep(0)


def _open(path: Path) -> kglite.KnowledgeGraph:
    try:
        graph = kglite.open(str(path), durable="normal")
    except kglite.WriterLeaseHeldError as error:
        raise DirectoryInUse(path.parent, f"pid {error.holder.get('pid')}") from error
    for statement in INDEXES:
        graph.cypher(statement)
    return graph


def _rows(graph: Any, query: str, parameters: Properties) -> Sequence[Found]:
    found = graph.cypher(query, params=dict(parameters)).to_list()
    if query in (queries.ALL_NODES, queries.ALL_LINKS):
        return [_without_own(row) for row in found]
    return list(found)


def _without_own(row: Found) -> Found:
    """The row without the properties the engine adds to nodes and links: a type, and a title made of a name or id."""
    own = {"type"} if row.get("label", "") in TITLED else {"type", "title"}
    return {**row, "props": {name: value for name, value in row["props"].items() if name not in own}}


def _is_outage(error: Exception) -> bool:
    """Whether a retry helps: after a conflict, a timeout or a disk error, not after a wrong statement."""
    return isinstance(
        error, (kglite.TransactionConflictError, kglite.CypherTimeoutError, kglite.FileError, kglite.FileIoError)
    )
