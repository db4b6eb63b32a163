"""Creation and check of the collections of a Qdrant server: one per kind of memory, for all tenants."""

from typing import Any

from agents.ports.models import Embedder
from streams.stores.passages.points import COLLECTIONS, DENSE, TERMS, IncompatibleIndex
from streams.stores.passages.qdrant_connection import Json, QdrantConnection, QdrantRefusal

MAX_HITS = 1_000
MISSING, EXISTS = 404, 409

# No graph over everybody, whom nobody searches, but one for each tenant with many passages.
GRAPHS = {"m": 0, "payload_m": 16}
KEYWORD = {"type": "keyword", "enable_hnsw": False}
OF_TENANT = {"type": "keyword", "is_tenant": True}
ORDERED = {"type": "integer", "lookup": False, "range": True, "enable_hnsw": False}
INDEXES: dict[str, Json] = {
    "tenant_id": OF_TENANT,
    **dict.fromkeys(("user_id", "conversation_id", "kind"), KEYWORD),
    **dict.fromkeys(("access", "recorded_at", "retired_at"), ORDERED),
}
# A filter without an index reads every tenant's payloads. A query without any filter is allowed all the same.
STRICT = {
    "enabled": True,
    "max_query_limit": MAX_HITS,
    "unindexed_filtering_retrieve": False,
    "unindexed_filtering_update": False,
}
METRIC, RARITY = "Cosine", "idf"


def name_of(collection: str) -> str:
    """The name of a collection on the server; raises `KeyError` for an unknown one."""
    if collection not in COLLECTIONS:
        raise KeyError(collection)
    return f"fathom_{collection}"


def path_of(collection: str, call: str) -> str:
    """The path of a call to a collection."""
    return f"/collections/{name_of(collection)}/{call}"


class QdrantCollections:
    """Creates missing collections and their payload indexes."""

    def __init__(self, client: QdrantConnection, embedder: Embedder) -> None:
        self._client = client
        self._embedder = f"{type(embedder).__name__} {embedder.size}"
        self._size = embedder.size

    async def prepare(self) -> None:
        """Create what is missing; raises `IncompatibleIndex` for a collection of another layout."""
        for name in COLLECTIONS:
            await self._prepare_one(name_of(name))

    async def _prepare_one(self, name: str) -> None:
        path = f"/collections/{name}"
        try:
            found = await self._client.result("GET", path)
        except QdrantRefusal as error:
            if error.status != MISSING:
                raise
            await self._create(path)
            found = await self._client.result("GET", path)
        config = found["config"]
        self._check(name, config)
        if config["hnsw_config"]["m"] != GRAPHS["m"]:  # made by an earlier version
            await self._client.result("PATCH", path, {"hnsw_config": GRAPHS})
        # Another worker may have made the collection, and not yet its indexes, without which every search is refused.
        for field, schema in INDEXES.items():
            if field not in found["payload_schema"]:
                asked = {"field_name": field, "field_schema": schema}
                await self._client.result("PUT", f"{path}/index?wait=true", asked)

    async def _create(self, path: str) -> None:
        asked = {
            "vectors": {DENSE: {"size": self._size, "distance": METRIC}},
            "hnsw_config": GRAPHS,
            "sparse_vectors": {TERMS: {"modifier": RARITY}},
            "strict_mode_config": STRICT,
            "metadata": {"embedder": self._embedder},
        }
        try:
            await self._client.result("PUT", path, asked)
        except QdrantRefusal as error:
            if error.status != EXISTS:  # another worker was first
                raise

    def _check(self, name: str, config: dict[str, Any]) -> None:
        dense = config["params"].get("vectors", {}).get(DENSE)
        sparse = config["params"].get("sparse_vectors") or {}
        embedder = (config.get("metadata") or {}).get("embedder", self._embedder)
        wrong = None
        if dense is None or dense["size"] != self._size or dense["distance"] != METRIC:
            wrong = f"has no vector `dense` of {self._size} numbers compared by cosine"
        elif embedder != self._embedder:
            wrong = f"was written with {embedder}, not {self._embedder}"
        elif sparse.get(TERMS, {}).get("modifier") != RARITY:
            wrong = (
                f"lacks the sparse vector `{TERMS}` with the IDF modifier: it is from an earlier version, or another's"
            )
        if wrong:
            raise IncompatibleIndex(
                f"the collection {name} of {self._client.url} {wrong}: remove it and rebuild the views, "
                "or use another server"
            )
