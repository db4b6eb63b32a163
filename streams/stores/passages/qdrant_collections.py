"""Creation and check of the collections of a Qdrant server: one per kind of memory, for all tenants.

Over the server's own client, which knows every form of a configuration; what comes with each message goes past it
(`qdrant_connection`).
"""

from json import JSONDecodeError

from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from agents.ports.models import Embedder
from streams.stores.passages.points import COLLECTIONS, DENSE, OF_DOCUMENT, TERMS, IncompatibleIndex
from streams.stores.passages.qdrant_connection import QdrantRefusal, not_there, trusted_by

MAX_HITS = 1_000
MISSING, EXISTS = 404, 409

# No graph over everybody, whom nobody searches, but one for each tenant with many passages.
GRAPHS = models.HnswConfigDiff(m=0, payload_m=16)
KEYWORD = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, enable_hnsw=False)
OF_TENANT = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
ORDERED = models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=False, range=True, enable_hnsw=False)
INDEXES: dict[str, models.KeywordIndexParams | models.IntegerIndexParams] = {
    "tenant_id": OF_TENANT,
    **dict.fromkeys(("user_id", "conversation_id", "kind", OF_DOCUMENT), KEYWORD),
    **dict.fromkeys(("access", "recorded_at", "retired_at"), ORDERED),
}
# A filter without an index reads every tenant's payloads. A query without any filter is allowed all the same.
STRICT = models.StrictModeConfig(
    enabled=True,
    max_query_limit=MAX_HITS,
    unindexed_filtering_retrieve=False,
    unindexed_filtering_update=False,
)


def name_of(collection: str) -> str:
    """The name of a collection on the server; raises `KeyError` for an unknown one."""
    if collection not in COLLECTIONS:
        raise KeyError(collection)
    return f"fathom_{collection}"


def path_of(collection: str, call: str) -> str:
    """The path of a call to a collection."""
    return f"/collections/{name_of(collection)}/{call}"


class QdrantCollections:
    """Creates missing collections and their payload indexes, each call within `timeout` seconds."""

    def __init__(self, url: str, api_key: str | None, timeout: float, embedder: Embedder) -> None:
        self._url = url
        self._embedder = f"{type(embedder).__name__} {embedder.size}"
        self._size = embedder.size
        self._client = AsyncQdrantClient(
            url=url,
            headers={"api-key": api_key} if api_key else {},  # given by name, it would warn of every server without TLS
            timeout=max(1, round(timeout)),
            check_compatibility=False,
            verify=trusted_by(url),
        )

    async def prepare(self) -> None:
        """Create what is missing.

        Raises `IncompatibleIndex` for a collection of another layout, `ConnectionError` and `QdrantRefusal`.
        """
        try:
            for name in COLLECTIONS:
                await self._prepare_one(name_of(name))
        except ResponseHandlingException as error:
            raise not_there(self._url, error.source) from error
        except (QdrantException, JSONDecodeError) as error:  # it asks for a pause; it is no Qdrant that answers
            raise not_there(self._url, error) from error
        except UnexpectedResponse as error:
            raise QdrantRefusal(error.status_code or 500, error.content) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _prepare_one(self, name: str) -> None:
        try:
            found = await self._client.get_collection(name)
        except UnexpectedResponse as error:
            if error.status_code != MISSING:
                raise
            await self._create(name)
            found = await self._client.get_collection(name)
        self._check(name, found.config)
        if found.config.hnsw_config.m != GRAPHS.m:  # made by an earlier version
            await self._client.update_collection(name, hnsw_config=GRAPHS)
        # Another worker may have made the collection, and not yet its indexes, without which every search is refused.
        for field, schema in INDEXES.items():
            if field not in found.payload_schema:
                await self._client.create_payload_index(name, field, field_schema=schema, wait=True)

    async def _create(self, name: str) -> None:
        rarity = models.SparseVectorParams(modifier=models.Modifier.IDF)
        try:
            await self._client.create_collection(
                name,
                vectors_config={DENSE: models.VectorParams(size=self._size, distance=models.Distance.COSINE)},
                hnsw_config=GRAPHS,
                sparse_vectors_config={TERMS: rarity},
                strict_mode_config=STRICT,
                metadata={"embedder": self._embedder},
            )
        except UnexpectedResponse as error:
            if error.status_code != EXISTS:  # another worker was first
                raise

    def _check(self, name: str, config: models.CollectionConfig) -> None:
        dense = config.params.vectors.get(DENSE) if isinstance(config.params.vectors, dict) else None
        sparse = config.params.sparse_vectors or {}
        embedder = (config.metadata or {}).get("embedder", self._embedder)
        wrong = None
        if dense is None or dense.size != self._size or dense.distance != models.Distance.COSINE:
            wrong = f"has no vector `dense` of {self._size} numbers compared by cosine"
        elif embedder != self._embedder:
            wrong = f"was written with {embedder}, not {self._embedder}"
        elif getattr(sparse.get(TERMS), "modifier", None) != models.Modifier.IDF:
            wrong = (
                f"lacks the sparse vector `{TERMS}` with the IDF modifier: it is from an earlier version, or another's"
            )
        if wrong:
            raise IncompatibleIndex(
                f"the collection {name} of {self._url} {wrong}: remove it and rebuild the views, or use another server"
            )
