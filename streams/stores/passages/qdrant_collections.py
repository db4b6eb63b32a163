"""Creation and check of the collections of a Qdrant server: one per kind of memory, for all tenants."""

from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from agents.ports.models import Embedder
from streams.stores.passages.points import COLLECTIONS, DENSE, TERMS, IncompatibleIndex

MAX_HITS = 1_000
MISSING, EXISTS = 404, 409

# No graph over everybody, whom nobody searches, but one for each tenant with many passages.
GRAPHS = models.HnswConfigDiff(m=0, payload_m=16)
KEYWORD = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, enable_hnsw=False)
OF_TENANT = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
ORDERED = models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=False, range=True, enable_hnsw=False)
INDEXES: dict[str, models.KeywordIndexParams | models.IntegerIndexParams] = {
    "tenant_id": OF_TENANT,
    **dict.fromkeys(("user_id", "conversation_id", "kind"), KEYWORD),
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


class QdrantCollections:
    """Creates missing collections and their payload indexes."""

    def __init__(self, client: AsyncQdrantClient, url: str, embedder: Embedder) -> None:
        self._client = client
        self._url = url
        self._embedder = f"{type(embedder).__name__} {embedder.size}"
        self._size = embedder.size

    async def prepare(self) -> None:
        """Create what is missing; raises `IncompatibleIndex` for a collection of another layout."""
        for name in COLLECTIONS:
            await self._prepare_one(name_of(name))

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
