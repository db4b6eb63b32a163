"""The reads of the graph for the documents of a tenant, behind the agents' port."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from agents.ports.memories import DocumentFound
from streams.stores.graph.rows import Found
from streams.stores.tenant import natural_id

# A deleted document has no title, and a profile is a document without passages.
DOCUMENTS: Final = """
    MATCH (d:Document)
    WHERE d.tenant_id = $tenant AND d.recorded_at <= $as_of AND d.title <> ''
      AND EXISTS { (d)<-[:PART_OF]-(:Chunk) }
    RETURN d.id AS id, d.title AS title, d.uri AS uri, d.recorded_at AS recorded_at
    ORDER BY d.recorded_at DESC, d.id
    LIMIT $limit"""

PASSAGES: Final = """
    MATCH (c:Chunk)
    WHERE c.tenant_id = $tenant AND c.document_id IN $documents AND c.created_at <= $as_of
      AND (c.retired_at IS NULL OR c.retired_at > $as_of OR c.retired_at <= c.recorded_at AND c.recorded_at <= $as_of)
    RETURN c.document_id AS document_id, count(c) AS passages"""


class DocumentReads:
    """Documents and the numbers of their passages, over the read of a store."""

    async def documents(self, tenant: str, *, as_of: datetime, limit: int) -> tuple[DocumentFound, ...]:
        """The documents recorded by `as_of` and not deleted, the newest first."""
        found = await self._read(DOCUMENTS, tenant, {"as_of": as_of.astimezone(UTC), "limit": limit})
        return tuple(
            DocumentFound(natural_id(row["id"]), row["title"], row.get("uri"), row["recorded_at"]) for row in found
        )

    async def passages_of(self, tenant: str, document_ids: Sequence[str], as_of: datetime) -> Mapping[str, int]:
        """How many passages each of these documents has in its version of `as_of`; none: it is not there."""
        asked = {"documents": [*document_ids], "as_of": as_of.astimezone(UTC)}
        found = await self._read(PASSAGES, tenant, asked)
        return {row["document_id"]: row["passages"] for row in found}

    @abstractmethod
    async def _read(self, query: str, tenant: str, asked: Mapping[str, Any]) -> Sequence[Found]:
        """The rows of a query for a tenant."""
