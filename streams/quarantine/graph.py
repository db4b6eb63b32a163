"""The memory graph without what is quarantined: rows that stem from it are left out where they are read."""

import copy
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from agents.core.quarantine.sources import HiddenSources, Quarantines
from agents.ports.graph import GraphReader
from streams.stores.graph import cognition_queries as queries
from streams.stores.graph.rows import Found, Properties, RowBatch
from streams.stores.graph.store import Engine, GraphStore
from streams.stores.tenant import natural_id

MORE, MOST = 4, 10_000
# Columns that hold the id of a node, and the prefixes of those that say where it comes from.
NODES = ("id", "new", "old")
PREFIXES = ("", "new_", "old_")
THEMES = (queries.THEMES, queries.NEAR_THEMES)


def hiding_graph(graph: GraphReader, quarantines: Quarantines) -> GraphReader:
    """The reads of a graph; a tenant with quarantines gets what there is without them, statuses of claims included."""
    return cast("GraphReader", _HidingGraph(graph, quarantines)) if isinstance(graph, GraphStore) else graph


class _HidingGraph:
    """The graph itself, or a copy of it that reads through `_HidingEngine`: every read names its tenant first."""

    def __init__(self, graph: GraphStore, quarantines: Quarantines) -> None:
        self._graph = graph
        self._quarantines = quarantines
        self._hiding = copy.copy(graph)
        self._hiding.engine = _HidingEngine(graph.engine, quarantines)

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        def read(tenant: str, *arguments: object, **named: object) -> Awaitable[Any]:
            graph = self._hiding if self._quarantines.hidden(tenant) else self._graph
            found: Awaitable[Any] = getattr(graph, name)(tenant, *arguments, **named)
            return found

        return read


class _HidingEngine(Engine):
    """Reads of an engine without hidden rows; more is read where they have taken the places of others."""

    def __init__(self, engine: Engine, quarantines: Quarantines) -> None:
        self._engine = engine
        self._quarantines = quarantines

    async def read(self, query: str, parameters: Properties) -> Sequence[Found]:
        """The rows of a query that are not hidden."""
        hidden = self._quarantines.hidden(str(parameters["tenant"]))
        wanted = cast("int", parameters.get("limit", MOST))
        limit = wanted
        while True:
            asked = {**parameters, "limit": limit} if "limit" in parameters else parameters
            rows = await self._engine.read(query, asked)
            kept = [row for row in rows if not is_hidden(hidden, row)]
            if query in THEMES:
                kept = await self._of_documents(hidden, kept, parameters)
            if len(kept) >= wanted or len(rows) < limit or limit >= MOST:
                return kept[:wanted] if "limit" in parameters else kept
            limit *= MORE

    async def _of_documents(
        self, hidden: HiddenSources, themes: Sequence[Found], parameters: Properties
    ) -> list[Found]:
        """The themes that a document has which is not hidden."""
        asked = {**parameters, "ids": [row["id"] for row in themes]}
        about = await self._engine.read(queries.DOCUMENTS_ABOUT, asked)
        seen = {row["id"] for row in about if not hidden.has_document(natural_id(row["document"]))}
        return [row for row in themes if row["id"] in seen]

    async def write(self, rows: RowBatch) -> None:
        """Write as the engine does: what is quarantined is stored."""
        await self._engine.write(rows)

    async def erase(self, statement: str, parameters: Properties) -> None:
        """Erase as the engine does."""
        await self._engine.erase(statement, parameters)


def is_hidden(hidden: HiddenSources, row: Found) -> bool:
    """Whether a row, or what it links, comes from a quarantined source, by its columns."""
    ids = [natural_id(row[name]) for name in NODES if row.get(name)]
    # A correction says nothing where the value that it gave was taken back.
    if any(map(hidden.has_id, (*ids, row.get("new_claim_id") or ""))):
        return True
    return any(_comes_from(hidden, row, prefix) for prefix in PREFIXES)


def _comes_from(hidden: HiddenSources, row: Found, prefix: str) -> bool:
    document, message = row.get(f"{prefix}document_id"), row.get(f"{prefix}message_id")
    if (document and hidden.has_document(document)) or (message and hidden.has_id(message)):
        return True
    user, conversation = row.get(f"{prefix}user_id"), row.get(f"{prefix}conversation_id")
    if user and hidden.has_user(user):
        return True
    if not conversation:
        return False
    client, to_seq = row.get(f"{prefix}client_id"), row.get("to_seq")
    # Another claim of the same turn is not the one that is hidden.
    if message and "subject" not in row and not prefix and hidden.has_turn(client, conversation, message):
        return True
    if hidden.has_conversation(client, conversation):
        return True
    return to_seq is not None and hidden.is_within(client, conversation, row["from_seq"], to_seq)
