"""The memory graph without what is quarantined: rows that stem from it are left out where they are read."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from agents.core.cognition.recalled import ThemeFound
from agents.core.quarantine.sources import HiddenSources, Quarantines
from schemas.items import ACCESS_ORDER, AccessLevel
from streams.stores.graph import cognition_queries as queries
from streams.stores.graph.rows import Found
from streams.stores.graph.store import GraphStore
from streams.stores.tenant import natural_id, node_id, readable

MORE, MOST = 4, 10_000
# Columns that hold the id of a node, and the prefixes of those that say where it comes from.
NODES = ("id", "new", "old")
PREFIXES = ("", "new_", "old_")


class HidingGraph(GraphStore):
    """Reads of a graph in which nothing is quarantined; its status, too, is that without it."""

    def __init__(self, graph: GraphStore, quarantines: Quarantines) -> None:
        super().__init__(graph.engine)
        self._quarantines = quarantines

    async def themes(
        self, tenant: str, *, terms: Sequence[str], access_level: AccessLevel, as_of: datetime, limit: int
    ) -> tuple[ThemeFound, ...]:
        """Themes named by the question's terms, of at least one document that is not hidden."""
        found = await super().themes(tenant, terms=terms, access_level=access_level, as_of=as_of, limit=limit)
        return await self._visible(tenant, found, access_level, as_of)

    async def near_themes(
        self, tenant: str, *, ids: Sequence[str], access_level: AccessLevel, as_of: datetime, limit: int
    ) -> tuple[ThemeFound, ...]:
        """The themes above and below the given ones, of at least one document that is not hidden."""
        found = await super().near_themes(tenant, ids=ids, access_level=access_level, as_of=as_of, limit=limit)
        return await self._visible(tenant, found, access_level, as_of)

    async def _visible(
        self, tenant: str, themes: tuple[ThemeFound, ...], access_level: AccessLevel, as_of: datetime
    ) -> tuple[ThemeFound, ...]:
        hidden = self._quarantines.hidden(tenant)
        if not (hidden.documents or hidden.feeds) or not themes:
            return themes
        asked = {
            "ids": [node_id(each, theme.id) for each in readable(tenant) for theme in themes],
            "access": ACCESS_ORDER[access_level],
            "as_of": as_of.astimezone(UTC),
        }
        rows = await self._read(queries.DOCUMENTS_ABOUT, tenant, asked)
        kept = {natural_id(row["id"]) for row in rows if not hidden.has_document(natural_id(row["document"]))}
        return tuple(theme for theme in themes if theme.id in kept)

    async def _read(self, query: str, tenant: str, asked: Mapping[str, Any]) -> Sequence[Found]:
        hidden = self._quarantines.hidden(tenant)
        if not hidden:
            return await super()._read(query, tenant, asked)
        if "limit" not in asked:
            return [row for row in await super()._read(query, tenant, asked) if not is_hidden(hidden, row)]
        wanted: int = asked["limit"]
        limit = wanted
        while True:
            rows = await super()._read(query, tenant, {**asked, "limit": limit})
            kept = [row for row in rows if not is_hidden(hidden, row)]
            if len(kept) >= wanted or len(rows) < limit or limit >= MOST:
                return kept[:wanted]
            limit *= MORE


def is_hidden(hidden: HiddenSources, row: Found) -> bool:
    """Whether a row, or what it links, comes from a quarantined source, by its columns."""
    ids = [natural_id(row[name]) for name in NODES if row.get(name)]
    if any(map(hidden.has_id, ids)):
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
    if hidden.has_conversation(client, conversation):
        return True
    return to_seq is not None and hidden.is_within(client, conversation, row["from_seq"], to_seq)
