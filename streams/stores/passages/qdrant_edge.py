"""The embedded passage index: one qdrant-edge shard per collection for all tenants, dense and BM25.

The engine computes under Python's global lock: a thread would not keep the loop free, so its calls run where they are
asked, and a worker has it in a process of its own (`index_process`). A search compares the question with every passage
of the tenant, by codes of four bits a number, and the nearest again by their vectors; there is no graph to be built.
Other tenants' passages cost next to nothing.
A write is in the log of the shard before it returns and survives the death of the process; `flush` and `close` make it
survive a power cut. What is lost then comes back by a rebuild: the index is a view.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from importlib import metadata
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import qdrant_edge as edge

from agents.core.retrieval.search_terms import question_terms
from agents.errors import Unavailable
from agents.ports.models import Embedder
from agents.ports.passages import Hit, Page, Passage, PassageQuery
from schemas.items import ACCESS_ORDER
from streams.stores.guard import CircuitBreaker
from streams.stores.ownership import Ownership
from streams.stores.passages.candidates import CANDIDATES, Candidates, Texts, hits_of
from streams.stores.passages.index_layout import check
from streams.stores.passages.lexical import Holder, asked, rarity_of, sparse, terms_of, weights_of
from streams.stores.passages.points import (
    CHUNK,
    COLLECTIONS,
    DENSE,
    TERMS,
    VERSIONED,
    embedded_text,
    micros,
    passage_of,
    payload_of,
    ranked,
    terms_in,
)
from streams.stores.passages.vectors import BatchingEmbedder
from streams.stores.tenant import checked, point_id, readable, writable

TIMEOUT_S = 5.0
# The vectors of a batch, behind those that others asked for before.
WRITE_TIMEOUT_S = 60.0
FLUSH_S = 10.0
# By codes alone 90 % of the nearest fifty are found; among four times as many are all of them.
BY_CODES = edge.SearchParams(quantization=edge.QuantizationSearchParams(rescore=False))
BY_VECTORS = edge.SearchParams(exact=True, quantization=edge.QuantizationSearchParams(ignore=True))
REACH = 4
PAGE = 1000


class QdrantEdgeIndex:
    """Hybrid search in a directory of this process; only an administrator writes `_public`.

    Raises `DirectoryInUse` when another process owns the directory, `IncompatibleIndex` when another embedder or an
    earlier version wrote it.
    """

    def __init__(
        self,
        directory: Path,
        embedder: Embedder,
        *,
        admin: bool = False,
        timeout: float = TIMEOUT_S,
        owner: int | None = None,
    ) -> None:
        self._directory = directory
        self._vectors = BatchingEmbedder(embedder)
        self._admin = admin
        self._owned = Ownership(directory, owner)
        self._guard = CircuitBreaker("index", timeout=timeout, errors=(Exception,), is_outage=_is_outage)
        try:
            check(directory, embedder)
            self._shards = {name: _opened(directory / name, embedder.size) for name in COLLECTIONS}
        except BaseException:
            # Also for Ctrl-C: a lock that stays would refuse the next attempt of this process.
            self._owned.release()
            raise
        self._flushed_at = time.monotonic()

    async def upsert(self, tenant: str, collection: str, passages: Sequence[Passage]) -> None:
        """Store passages by id; visible to the next search."""
        writable(tenant, admin=self._admin)
        latest = [*{passage.id: passage for passage in passages}.values()]
        for start in range(0, len(latest), CHUNK):
            store = partial(self._store, tenant, collection, latest[start : start + CHUNK])
            await self._guard.run(store, timeout=WRITE_TIMEOUT_S)

    async def search(self, tenant: str, collection: str, query: PassageQuery) -> tuple[Hit, ...]:
        """The tenant's passages nearest to the question, by words and by meaning, best first."""
        tenants = readable(tenant)
        return await self._guard.run(partial(hits_of, query, partial(self._find, tenants, collection)))

    async def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """The unit vector of each text; nothing is stored."""
        return await self._vectors.encode(texts)

    async def listed(self, tenant: str, collection: str, *, after: str | None = None, limit: int = 1000) -> Page:
        """A page of ids of the tenant's own passages, each once; `after` is `following` of the page before."""
        checked(tenant)
        return await self._guard.run(partial(self._page, tenant, collection, after, limit))

    async def of_conversation(self, tenant: str, collection: str, conversation_id: str) -> tuple[Passage, ...]:
        """The tenant's passages of the conversations of this id."""
        checked(tenant)
        return await self._guard.run(partial(self._said_in, tenant, collection, conversation_id))

    async def remove(self, tenant: str, collection: str, ids: Sequence[str]) -> None:
        """Remove passages of the tenant; unknown ids are ignored."""
        writable(tenant, admin=self._admin)
        await self._guard.run(partial(self._erase, collection, [point_id(tenant, each) for each in ids]))

    async def version(self) -> str:
        """The engine and its version."""
        return " ".join(("qdrant-edge", metadata.version("qdrant-edge-py"), "embedded"))

    async def ping(self) -> None:
        """Check that the directory is there; raises `Unavailable`."""
        await self._guard.run(self._check)

    async def close(self) -> None:
        """Flush the shards and release the directory."""
        for shard in self._shards.values():
            shard.close()
        self._owned.release()

    async def _check(self) -> None:
        # The engine goes on writing into deleted files without an error.
        if not self._directory.is_dir():
            raise Unavailable("index", f"the directory {self._directory} has vanished")

    async def _store(self, tenant: str, collection: str, passages: Sequence[Passage]) -> None:
        await self._check()
        shard = self._shards[collection]
        ids = [point_id(tenant, passage.id) for passage in passages]
        known = self._known(shard, ids) if collection == VERSIONED else {}
        vectors = await self._vectors.encode_but(known, [embedded_text(passage) for passage in passages])
        points = [
            _point(tenant, key, passage, vector, COLLECTIONS[collection])
            for key, passage, vector in zip(ids, passages, vectors, strict=True)
        ]
        shard.update(edge.UpdateOperation.upsert_points(points))
        if time.monotonic() - self._flushed_at > FLUSH_S:
            shard.flush()
            self._flushed_at = time.monotonic()

    @staticmethod
    def _known(shard: edge.EdgeShard, ids: Sequence[UUID]) -> dict[str, list[float]]:
        """The stored vectors of these ids, by text: to compute one takes ten times as long."""
        records = shard.retrieve(list(ids), True, True)
        return {
            embedded_text(passage_of(_payload(record))): cast(list[float], _vector(record, DENSE)) for record in records
        }

    async def _page(self, tenant: str, collection: str, after: str | None, limit: int) -> Page:
        own = edge.FieldCondition("tenant_id", match=edge.MatchValue(tenant))
        records, following = self._shards[collection].scroll(
            edge.ScrollRequest(
                offset=None if after is None else UUID(after),
                limit=limit,
                filter=edge.Filter(must=[own]),
                with_payload=["id"],
                with_vector=False,
            )
        )
        ids = tuple(str(_payload(record)["id"]) for record in records)
        return Page(ids, None if following is None else str(following))

    async def _said_in(self, tenant: str, collection: str, conversation_id: str) -> tuple[Passage, ...]:
        own = edge.FieldCondition("tenant_id", match=edge.MatchValue(tenant))
        said = edge.FieldCondition("conversation_id", match=edge.MatchValue(conversation_id))
        found: list[Passage] = []
        following: int | UUID | str | None = None
        while True:
            records, following = self._shards[collection].scroll(
                edge.ScrollRequest(
                    offset=following,
                    limit=PAGE,
                    filter=edge.Filter(must=[own, said]),
                    with_payload=True,
                    with_vector=False,
                )
            )
            found += [passage_of(_payload(record)) for record in records]
            if following is None:
                return tuple(found)

    async def _erase(self, collection: str, points: Sequence[UUID]) -> None:
        await self._check()
        self._shards[collection].update(edge.UpdateOperation.delete_points(list(points)))

    async def _find(
        self, tenants: Sequence[str], collection: str, query: PassageQuery
    ) -> tuple[Candidates[UUID], Texts[UUID]]:
        [vector] = await self._vectors.encode([query.spoken], urgent=True)
        question = question_terms(query.text, query.lang, query.context)
        terms = asked(question)
        limit = max(CANDIDATES, query.limit)
        # In each list: a filter outside would let other tenants' passages use up the limit.
        visible = _visible([_of(tenants), *_among(tenants, query)], query)
        # How rare a word is, is counted in what this tenant may read: others' texts must not show in scores.
        corpus = edge.Filter(must=[_of(tenants)])
        named = [_by_terms(terms, limit, visible, corpus)] if terms else []
        alone = [_by_terms({term: 1.0}, 1, corpus, corpus, whole=True) for term in terms]
        shard = self._shards[collection]
        dense = None if query.among else _nearest(shard, vector, limit, tenants, query)
        if dense is None:
            dense = _near(shard, vector, limit, visible, BY_VECTORS)
        found = iter(shard.query_batch(edge.QueryBatchRequest([*named, *alone])))
        lexical = _ranked(chain.from_iterable(islice(found, len(named))))
        holders = {term: _holder(points) for term, points in zip(terms, found, strict=True)}
        rarity = rarity_of(holders, shard.count(edge.CountRequest(exact=False, filter=corpus)))
        candidates = Candidates(question, rarity, dict(dense), dict(lexical))
        # Only what is likely to be shown is read: the payloads of all candidates take as long as both searches.
        records = {
            cast(UUID, each.id): _payload(each)
            for each in shard.retrieve([*candidates.chosen(query.limit)], True, False)
        }
        return candidates, {key: (passage_of(each), terms_in(each)) for key, each in records.items()}


def _opened(path: Path, size: int) -> edge.EdgeShard:
    codes = edge.TurboQuantQuantizationConfig(bits=edge.TurboQuantBitSize.Bits4)
    dense = edge.EdgeVectorParams(size=size, distance=edge.Distance.Cosine, quantization_config=codes)
    words = edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)
    config = edge.EdgeConfig(vectors={DENSE: dense}, sparse_vectors={TERMS: words})
    if path.exists():
        return edge.EdgeShard.load(str(path), config)
    shard = edge.EdgeShard.create(str(path), config)
    keywords = {"tenant_id": edge.KeywordIndexParams(is_tenant=True)}
    keywords |= dict.fromkeys(("user_id", "conversation_id", "kind"), edge.KeywordIndexParams())
    for name, index in keywords.items():
        shard.update(edge.UpdateOperation.create_field_index(name, index))
    for name in ("access", "recorded_at", "retired_at"):
        ordered = edge.IntegerIndexParams(lookup=False, range=True)
        shard.update(edge.UpdateOperation.create_field_index(name, ordered))
    return shard


def _nearest(
    shard: edge.EdgeShard, vector: list[float], limit: int, tenants: Sequence[str], query: PassageQuery
) -> list[tuple[UUID, float]] | None:
    """The nearest passages that the asker may see; None when the nearest of the tenants do not include all of them.

    To check the rights to a passage takes three times as long as to compare it: only the nearest are checked.
    """
    reach = REACH * limit
    own = [edge.Filter(must=[edge.FieldCondition("tenant_id", match=edge.MatchValue(tenant))]) for tenant in tenants]
    lists = [_near(shard, vector, reach, each, BY_CODES) for each in own]
    ids: set[int | UUID | str] = {point for found in lists for point, _ in found}
    nearest = _near(shard, vector, len(ids), _visible([edge.HasIdCondition(ids)], query), BY_VECTORS)
    complete = len(nearest) >= limit or all(len(found) < reach for found in lists)
    return nearest[:limit] if complete else None


def _near(
    shard: edge.EdgeShard, vector: list[float], limit: int, wanted: edge.Filter, params: edge.SearchParams
) -> list[tuple[UUID, float]]:
    near = _search(edge.Query.Nearest(vector, using=DENSE), limit, wanted, params)
    return _ranked(shard.query(near))


def _ranked(points: Iterable[Any]) -> list[tuple[UUID, float]]:
    return ranked((point.id, point.score) for point in points)


def _search(
    query: edge.Query, limit: int, visible: edge.Filter, params: edge.SearchParams, *, whole: bool = False
) -> edge.QueryRequest:
    return edge.QueryRequest(
        query=query,
        limit=limit,
        filter=visible,
        params=params,
        with_payload=False,
        with_vector=[TERMS] if whole else False,
    )


def _by_terms(
    terms: Mapping[str, float], limit: int, visible: edge.Filter, corpus: edge.Filter, *, whole: bool = False
) -> edge.QueryRequest:
    near = edge.Query.Nearest(edge.SparseVector(*sparse(terms)), using=TERMS)
    params = edge.SearchParams(idf=edge.IdfParams(corpus=corpus))
    return _search(near, limit, visible, params, whole=whole)


def _payload(record: edge.Record) -> Mapping[str, object]:
    assert record.payload is not None  # it was asked for
    return record.payload


def _vector(point: edge.Record | edge.ScoredPoint, name: str) -> object:
    assert isinstance(point.vector, dict)  # it was asked for
    return point.vector[name]


def _holder(points: Sequence[edge.ScoredPoint]) -> Holder | None:
    if not points:
        return None
    vector = cast(edge.SparseVector, _vector(points[0], TERMS))
    return Holder(points[0].score, vector.indices, vector.values)


def _point(tenant: str, key: UUID, passage: Passage, vector: list[float], average: float) -> edge.Point:
    terms = terms_of(passage)
    words = edge.SparseVector(*sparse(weights_of(terms, average)))
    return edge.Point(id=key, vector={DENSE: vector, TERMS: words}, payload=payload_of(tenant, passage, terms))


def _of(tenants: Sequence[str]) -> edge.FieldCondition:
    return edge.FieldCondition("tenant_id", match=edge.MatchAny(list(tenants)))


def _among(tenants: Sequence[str], query: PassageQuery) -> list[edge.HasIdCondition]:
    """The condition on the ids that alone are asked for, where some are."""
    ids: set[int | UUID | str] = {point_id(tenant, each) for tenant in tenants for each in query.among}
    return [edge.HasIdCondition(ids)] if ids else []


def _visible(among: Sequence[edge.FieldCondition | edge.HasIdCondition], query: PassageQuery) -> edge.Filter:
    """Those of `among` that the asker may see and asks for."""
    since = None if query.since is None else micros(query.since)
    users = [""] if query.user_id is None else ["", query.user_id]
    must: list[edge.ConditionType] = [
        *among,
        edge.FieldCondition("access", range=edge.RangeFloat(lte=ACCESS_ORDER[query.access_level])),
        edge.FieldCondition("recorded_at", range=edge.RangeFloat(lte=micros(query.as_of), gte=since)),
        edge.FieldCondition("user_id", match=edge.MatchAny(users)),
    ]
    if query.kinds:
        must.append(edge.FieldCondition("kind", match=edge.MatchAny(list(query.kinds))))
    retired = edge.FieldCondition("retired_at", range=edge.RangeFloat(lte=micros(query.as_of)))
    return edge.Filter(must=must, must_not=[retired])


def _is_outage(error: Exception) -> bool:
    # The engine raises bare exceptions; what has a class of its own is a bug of ours.
    return type(error) is Exception
