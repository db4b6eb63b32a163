"""The embedded passage index: one qdrant-edge shard per collection for all tenants, dense and BM25.

The engine computes under Python's global lock: a thread would not keep the loop free, so its calls run where they are
asked, and a worker has it in a process of its own (`index_process`). A search compares the question with every passage
of the tenant, by codes of four bits a number, and the nearest again by their vectors; there is no graph to be built.
Other tenants' passages cost next to nothing.
A write is in the log of the shard before it returns and survives the death of the process; `flush` and `close` make it
survive a power cut. What is lost then comes back by a rebuild: the index is a view.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import cast
from uuid import UUID

import qdrant_edge as edge

from agents.core.retrieval.search_terms import question_terms
from agents.errors import Unavailable
from agents.ports.models import Embedder
from agents.ports.passages import Hit, Page, Passage, PassageQuery
from streams.stores.damage import mark_unfilled, opening
from streams.stores.guard import CircuitBreaker
from streams.stores.ownership import Ownership, private
from streams.stores.passages.candidates import CANDIDATES, Candidates, Texts, hits_of
from streams.stores.passages.edge_rewriting import recover, rewritten
from streams.stores.passages.edge_search import (
    corpus_of,
    key_of,
    named_by,
    nearest,
    owned_by,
    ranked,
    rarest,
    rarity_in,
    size_of,
    vector_of,
    visible_to,
)
from streams.stores.passages.index_layout import bound_log, check, lacks_points, note_points, unmap_what_opening_read
from streams.stores.passages.lexical import asked, rarity_of, sparse, terms_of, weights_of
from streams.stores.passages.points import (
    CHUNK,
    COLLECTIONS,
    DENSE,
    OF_DOCUMENT,
    TERMS,
    VERSIONED,
    embedded_text,
    passage_of,
    payload_of,
    stored_as,
    terms_in,
)
from streams.stores.passages.recent import RecentReads
from streams.stores.passages.vectors import BatchingEmbedder
from streams.stores.tenant import checked, point_id, readable, writable

TIMEOUT_S = 5.0
# The vectors of a batch, behind those that others asked for before.
WRITE_TIMEOUT_S = 60.0
FLUSH_S = 10.0
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
        self._owned = Ownership(private(directory), owner)
        self._guard = CircuitBreaker("index", timeout=timeout, errors=(Exception,), is_outage=_is_outage)
        try:
            check(directory, embedder)
            self._open = partial(_opened, size=embedder.size)
            with opening(directory):
                for name in COLLECTIONS:
                    recover(directory / name)
                self._shards = {name: self._open(directory / name) for name in COLLECTIONS}
                if lacks_points(directory, self._sizes()):
                    mark_unfilled(directory)
                unmap_what_opening_read(directory.resolve())
            self._recent = {name: RecentReads() for name in COLLECTIONS}
        except BaseException:
            # Also for Ctrl-C: a lock that stays would refuse the next attempt of this process.
            self._owned.release()
            raise
        self._flushed_at = time.monotonic()
        self._writing = asyncio.Lock()
        self._erased = set(COLLECTIONS)  # as far as this process knows

    async def upsert(self, tenant: str, collection: str, passages: Sequence[Passage]) -> None:
        """Store passages by id; visible to the next search."""
        writable(tenant, admin=self._admin)
        latest = [*{passage.stored_as: passage for passage in passages}.values()]
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

    async def compact(self) -> None:
        """Rewrite the collections from which something was removed; searches go on, writes wait."""
        async with self._writing:
            for name in sorted(self._erased):
                self._shards[name] = await rewritten(self._directory / name, self._shards[name], self._open)
                self._erased.discard(name)

    async def version(self) -> str:
        """The engine and its version."""
        return " ".join(("qdrant-edge", metadata.version("qdrant-edge-py"), "embedded"))

    async def ping(self) -> None:
        """Check that the directory is there; raises `Unavailable`."""
        await self._guard.run(self._check)

    async def close(self) -> None:
        """Flush the shards and release the directory."""
        try:
            note_points(self._directory, self._sizes())
        finally:
            for shard in self._shards.values():
                shard.close()
            self._owned.release()

    def _sizes(self) -> dict[str, int]:
        return {name: shard.count(edge.CountRequest(exact=True)) for name, shard in self._shards.items()}

    async def _check(self) -> None:
        # The engine goes on writing into deleted files without an error.
        if not self._directory.is_dir():
            raise Unavailable("index", f"the directory {self._directory} has vanished")

    async def _store(self, tenant: str, collection: str, passages: Sequence[Passage]) -> None:
        await self._check()
        shard = self._shards[collection]
        ids = [point_id(tenant, passage.stored_as) for passage in passages]
        known = self._known(shard, ids) if collection == VERSIONED else {}
        vectors = await self._vectors.encode_but(known, [embedded_text(passage) for passage in passages])
        points = [
            _point(tenant, key, passage, vector, COLLECTIONS[collection])
            for key, passage, vector in zip(ids, passages, vectors, strict=True)
        ]
        async with self._writing:
            self._write(collection, edge.UpdateOperation.upsert_points(points), ids)
        if time.monotonic() - self._flushed_at > FLUSH_S:
            self._shards[collection].flush()
            self._flushed_at = time.monotonic()

    @staticmethod
    def _known(shard: edge.EdgeShard, ids: Sequence[UUID]) -> dict[str, list[float]]:
        """The stored vectors of these ids, by text: to compute one takes ten times as long."""
        records = shard.retrieve(list(ids), True, True)
        return {
            embedded_text(passage_of(_payload(record))): cast(list[float], vector_of(record, DENSE))
            for record in records
        }

    async def _page(self, tenant: str, collection: str, after: str | None, limit: int) -> Page:
        own = owned_by(tenant)
        records, following = self._shards[collection].scroll(
            edge.ScrollRequest(
                offset=None if after is None else UUID(after),
                limit=limit,
                filter=edge.Filter(must=[own]),
                with_payload=["id", "key"],
                with_vector=False,
            )
        )
        ids = tuple(stored_as(_payload(record)) for record in records)
        return Page(ids, None if following is None else str(following))

    async def _said_in(self, tenant: str, collection: str, conversation_id: str) -> tuple[Passage, ...]:
        own = owned_by(tenant)
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
        async with self._writing:
            self._erased.add(collection)
            self._write(collection, edge.UpdateOperation.delete_points(list(points)), points)

    def _write(self, collection: str, operation: edge.UpdateOperation, points: Sequence[UUID]) -> None:
        try:
            self._shards[collection].update(operation)
        finally:
            self._recent[collection].written(point.int for point in points)

    async def _find(
        self, tenants: tuple[str, ...], collection: str, query: PassageQuery
    ) -> tuple[Candidates[int], Texts[int]]:
        question = question_terms(query.text, query.lang, query.context)
        terms = asked(question)
        limit = max(CANDIDATES, query.limit)
        shard, known = self._shards[collection], self._recent[collection].rarities(tenants)
        visible, corpus = visible_to(tenants, query), corpus_of(tenants)
        dense = {}
        if not query.words_only:
            [vector] = await self._vectors.encode([query.spoken], urgent=True)
            dense = nearest(shard, vector, limit, tenants, query, visible)
        named = [named_by(terms, limit, visible, corpus)] if terms else []
        unknown = [term for term in terms if term not in known]
        found = shard.query_batch(edge.QueryBatchRequest([*named, *(rarest(term, corpus) for term in unknown)]))
        lexical = ranked(found[0]) if named else {}
        for term, points in zip(unknown, found[len(named) :], strict=True):
            known[term] = rarity_in(points, term)
        candidates = Candidates(question, rarity_of(terms, known, size_of(shard, corpus)), dense, lexical)
        # Only what is likely to be shown is read: the payloads of all candidates take as long as both searches.
        return candidates, self._texts(collection, candidates.chosen(query.limit))

    def _texts(self, collection: str, chosen: Sequence[int]) -> Texts[int]:
        recent = self._recent[collection]
        texts = recent.texts(chosen)
        missing: list[int | UUID | str] = [UUID(int=key) for key in chosen if key not in texts]
        for record in self._shards[collection].retrieve(missing, True, False) if missing else ():
            payload = _payload(record)
            texts[key_of(record)] = passage_of(payload), terms_in(payload)
        recent.keep(texts)
        return texts


def _opened(path: Path, size: int) -> edge.EdgeShard:
    codes = edge.TurboQuantQuantizationConfig(bits=edge.TurboQuantBitSize.Bits4)
    # Else opening takes every page of files that are mostly holes, 64 MB a collection; what is read stays in memory.
    held = edge.Memory.Cold
    dense = edge.EdgeVectorParams(size=size, distance=edge.Distance.Cosine, quantization_config=codes, memory=held)
    words = edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)
    config = edge.EdgeConfig(vectors={DENSE: dense}, sparse_vectors={TERMS: words})
    bound_log(path)
    shard = edge.EdgeShard.load(str(path), config)
    # A shard of an earlier version lacks some: a filter without an index reads every text.
    known = shard.info().payload_schema
    keywords = {"tenant_id": edge.KeywordIndexParams(is_tenant=True)}
    keywords |= dict.fromkeys(("user_id", "conversation_id", "kind", OF_DOCUMENT), edge.KeywordIndexParams())
    ordered = edge.IntegerIndexParams(lookup=False, range=True)
    indexes: dict[str, edge.KeywordIndexParams | edge.IntegerIndexParams] = {
        **keywords,
        **dict.fromkeys(("access", "recorded_at", "retired_at"), ordered),
    }
    for name, index in indexes.items():
        if name not in known:
            shard.update(edge.UpdateOperation.create_field_index(name, index))
    return shard


def _payload(record: edge.Record) -> Mapping[str, object]:
    assert record.payload is not None  # it was asked for
    return record.payload


def _point(tenant: str, key: UUID, passage: Passage, vector: list[float], average: float) -> edge.Point:
    terms = terms_of(passage)
    words = edge.SparseVector(*sparse(weights_of(terms, average)))
    return edge.Point(id=key, vector={DENSE: vector, TERMS: words}, payload=payload_of(tenant, passage, terms))


def _is_outage(error: Exception) -> bool:
    # The engine raises bare exceptions; what has a class of its own is a bug of ours.
    return type(error) is Exception
