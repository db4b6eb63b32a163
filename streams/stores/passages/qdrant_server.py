"""The passage index of a Qdrant server: a collection per kind of memory for all tenants, dense and BM25.

The vectors are made here, as for the embedded index, so a worker has this too in a process of its own
(`index_process`). A search is one request: two lists, the whole filter in each, and the rarity of each term; how they
make a score is ours (`candidates`).
A server below 1.19 counts how rare a word is over all tenants, whatever it is asked: that shows in the features of a
hit, and can change an order and what clears the floor, never what is found.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from json import JSONDecodeError
from typing import Any, TypeVar, cast

from qdrant_client import models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from agents.concurrency import MicroBatcher
from agents.core.retrieval.search_terms import question_terms
from agents.errors import FathomError, Unavailable
from agents.ports.models import Embedder
from agents.ports.passages import Hit, Page, Passage, PassageQuery
from schemas.items import ACCESS_ORDER
from streams.stores.guard import CircuitBreaker
from streams.stores.passages.candidates import CANDIDATES, Candidates, Texts, hits_of
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
from streams.stores.passages.qdrant_collections import MAX_HITS, MISSING, QdrantCollections, name_of
from streams.stores.passages.qdrant_connection import connect, on_a_living_connection
from streams.stores.passages.vectors import BatchingEmbedder
from streams.stores.tenant import checked, point_id, readable, writable

LOGGER = logging.getLogger("fathom.index")
# Below the limit of the process that asks, so that it hears what was wrong.
TIMEOUT_S = 4.0
# Two collections and their indexes, on a server that may be busy.
PREPARE_S = 30.0
AWAY = (ResponseHandlingException, QdrantException)
REFUSED, TOO_MANY = (401, 403), 429

T = TypeVar("T")


class AccessRefused(FathomError):
    """The server refuses our API key; the message names the setting."""


class QdrantServerIndex:
    """Hybrid search on a server; only an administrator writes `_public`. Construct it in a running loop."""

    def __init__(
        self,
        url: str,
        embedder: Embedder,
        *,
        api_key: str | None = None,
        admin: bool = False,
        timeout: float = TIMEOUT_S,
    ) -> None:
        self._url = url
        self._vectors = BatchingEmbedder(embedder)
        self._admin = admin
        self._client = connect(url, api_key, timeout)
        self._collections = QdrantCollections(self._client, url, embedder)
        self._guard = CircuitBreaker(
            "index", timeout=timeout, errors=(FathomError,), probe=partial(self._told, self._prepare)
        )
        self._stored: dict[str, MicroBatcher[models.PointStruct, None]] = {
            name: MicroBatcher(partial(self._put, name), CHUNK, shared_errors=AWAY) for name in COLLECTIONS
        }
        self._preparing = asyncio.Lock()
        self._prepared = False

    async def open(self) -> None:
        """Create missing collections; when the server does not answer, the first call does it.

        Raises `IncompatibleIndex` and `AccessRefused`.
        """
        try:
            await self._guard.run(partial(self._told, self._prepare), timeout=PREPARE_S)
        except Unavailable as unavailable:
            if isinstance(unavailable.__cause__, FathomError):
                raise unavailable.__cause__ from None
            LOGGER.warning("the index does not answer yet: %s", unavailable.detail)

    async def upsert(self, tenant: str, collection: str, passages: Sequence[Passage]) -> None:
        """Store passages by id; visible to the next search."""
        writable(tenant, admin=self._admin)
        latest = [*{passage.id: passage for passage in passages}.values()]
        for start in range(0, len(latest), CHUNK):
            await self._run(partial(self._store, tenant, collection, latest[start : start + CHUNK]))

    async def search(self, tenant: str, collection: str, query: PassageQuery) -> tuple[Hit, ...]:
        """The tenant's passages nearest to the question, by words and by meaning, best first."""
        tenants = readable(tenant)
        return await self._run(partial(hits_of, query, partial(self._find, tenants, collection)))

    async def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """The unit vector of each text; nothing is stored."""
        return await self._vectors.encode(texts)

    async def listed(self, tenant: str, collection: str, *, after: str | None = None, limit: int = 1000) -> Page:
        """A page of ids of the tenant's own passages, each once; `after` is `following` of the page before."""
        checked(tenant)
        return await self._run(partial(self._page, tenant, collection, after, limit))

    async def of_conversation(self, tenant: str, collection: str, conversation_id: str) -> tuple[Passage, ...]:
        """The tenant's passages of the conversations of this id."""
        checked(tenant)
        return await self._run(partial(self._said_in, tenant, collection, conversation_id))

    async def remove(self, tenant: str, collection: str, ids: Sequence[str]) -> None:
        """Remove passages of the tenant; unknown ids are ignored."""
        writable(tenant, admin=self._admin)
        if ids:  # the server refuses to remove nothing
            await self._run(partial(self._erase, collection, [str(point_id(tenant, each)) for each in ids]))

    async def version(self) -> str:
        """The server and its version."""
        said = await self._guard.run(partial(self._told, self._client.info))
        return " ".join(("Qdrant", said.version))

    async def ping(self) -> None:
        """Check that the server answers and accepts our key; raises `Unavailable`."""
        await self._guard.check(partial(self._told, self._prepare))

    async def close(self) -> None:
        """Close the connections."""
        await self._guard.close()
        for each in self._stored.values():
            await each.close()
        await self._client.close()

    async def _run(self, call: Callable[[], Awaitable[T]]) -> T:
        async def prepared() -> T:
            await self._ready()
            try:
                return await on_a_living_connection(call)
            except UnexpectedResponse as error:
                if error.status_code != MISSING:
                    raise
            # Somebody removed a collection, to have the view rebuilt: it begins again empty.
            self._prepared = False
            await self._ready()
            return await call()

        return await self._guard.run(partial(self._told, prepared))

    async def _told(self, call: Callable[[], Awaitable[T]]) -> T:
        """The result of a call; errors of the client become `ConnectionError` and `AccessRefused`."""
        try:
            return await call()
        except ResponseHandlingException as error:
            raise ConnectionError(f"{self._url}: {error.source!s:.200}" if str(error.source) else "") from error
        except (QdrantException, JSONDecodeError) as error:  # it asks for a pause; it is no Qdrant that answers
            raise ConnectionError(f"{self._url}: {error}") from error
        except UnexpectedResponse as error:
            said = f"{error.status_code} {error.content.decode(errors='replace'):.200}"
            if error.status_code in REFUSED:
                raise AccessRefused(
                    f"{self._url} refuses our API key ({said}): put one that may write collections into the file "
                    "that FATHOM_QDRANT_API_KEY_FILE names"
                ) from error
            if error.status_code is None or error.status_code == TOO_MANY or error.status_code >= 500:
                raise ConnectionError(f"{self._url}: {said}") from error
            raise

    async def _ready(self) -> None:
        if self._prepared:
            return
        async with self._preparing:  # the first calls come together
            if not self._prepared:
                await self._prepare()

    async def _prepare(self) -> None:
        await self._collections.prepare()
        self._prepared = True

    async def _store(self, tenant: str, collection: str, passages: Sequence[Passage]) -> None:
        ids = [str(point_id(tenant, passage.id)) for passage in passages]
        known = await self._known(collection, ids) if collection == VERSIONED else {}
        vectors = await self._vectors.encode_but(known, [embedded_text(passage) for passage in passages])
        points = [
            _point(tenant, key, passage, vector, COLLECTIONS[collection])
            for key, passage, vector in zip(ids, passages, vectors, strict=True)
        ]
        await self._stored[collection].add(points)

    async def _known(self, collection: str, ids: Sequence[str]) -> dict[str, list[float]]:
        """The stored vectors of these ids, by text: to compute one takes ten times as long."""
        asked = models.PointRequest(ids=list(ids), with_payload=True, with_vector=[DENSE])
        found = await self._client.http.points_api.get_points(name_of(collection), point_request=asked)
        vectors: dict[str, list[float]] = {}
        for record in found.result or ():
            assert record.payload is not None  # both were asked for
            assert isinstance(record.vector, dict)
            vectors[embedded_text(passage_of(record.payload))] = cast(list[float], record.vector[DENSE])
        return vectors

    async def _put(self, collection: str, points: list[models.PointStruct]) -> None:
        stored = partial(
            self._client.http.points_api.upsert_points,
            name_of(collection),
            wait=True,
            point_insert_operations=models.PointsList(points=points),
        )
        await on_a_living_connection(stored)

    async def _page(self, tenant: str, collection: str, after: str | None, limit: int) -> Page:
        own = models.FieldCondition(key="tenant_id", match=models.MatchValue(value=tenant))
        points, following = await self._client.scroll(
            name_of(collection),
            scroll_filter=models.Filter(must=[own]),
            limit=min(limit, MAX_HITS),
            offset=after,
            with_payload=["id"],
            with_vectors=False,
        )
        ids = tuple(str((point.payload or {})["id"]) for point in points)
        return Page(ids, None if following is None else str(following))

    async def _said_in(self, tenant: str, collection: str, conversation_id: str) -> tuple[Passage, ...]:
        own = models.FieldCondition(key="tenant_id", match=models.MatchValue(value=tenant))
        said = models.FieldCondition(key="conversation_id", match=models.MatchValue(value=conversation_id))
        found: list[Passage] = []
        following: Any = None
        while True:
            points, following = await self._client.scroll(
                name_of(collection),
                scroll_filter=models.Filter(must=[own, said]),
                limit=MAX_HITS,
                offset=following,
                with_payload=True,
                with_vectors=False,
            )
            found += [passage_of(point.payload or {}) for point in points]
            if following is None:
                return tuple(found)

    async def _erase(self, collection: str, points: Sequence[str]) -> None:
        await self._client.delete(name_of(collection), points_selector=list(points), wait=True)

    async def _find(
        self, tenants: Sequence[str], collection: str, query: PassageQuery
    ) -> tuple[Candidates[Any], Texts[Any]]:
        [vector] = await self._vectors.encode([query.spoken], urgent=True)
        question = question_terms(query.text, query.lang, query.context)
        terms = asked(question)
        limit = min(max(CANDIDATES, query.limit), MAX_HITS)
        # In each list: a filter outside would let other tenants' passages use up the limit. Near ones are looked for
        # tenant by tenant, for each has a graph of its own, and no way leads from one to the other.
        searches = [_search(vector, DENSE, limit, _visible([each], query)) for each in tenants]
        corpus = models.Filter(must=[_of(tenants)])
        if terms:
            searches += [_by_terms(terms, limit, _visible(tenants, query), corpus)]
            searches += [_by_terms({term: 1.0}, 1, corpus, corpus, whole=True) for term in terms]
        # Past the client's own methods, which copy every number in search of texts it should embed: a millisecond.
        answers, counted = await asyncio.gather(
            self._client.http.search_api.query_batch_points(
                name_of(collection), query_request_batch=models.QueryRequestBatch(searches=searches)
            ),
            self._client.count(name_of(collection), count_filter=corpus, exact=False),
        )
        found = [answer.points for answer in answers.result or ()]
        near, named, alone = found[: len(tenants)], found[len(tenants) :][:1], found[len(tenants) + 1 :]
        holders = {term: _holder(points) for term, points in zip(terms, alone, strict=True)}
        payloads: dict[Any, Any] = {point.id: point.payload for points in (*near, *named) for point in points}
        dense = dict(ranked(chain.from_iterable(near))[:limit])
        lexical = dict(ranked(chain.from_iterable(named)))
        candidates = Candidates(question, rarity_of(holders, counted.count), dense, lexical)
        chosen = {key: payloads[key] for key in candidates.chosen(query.limit)}
        return candidates, {key: (passage_of(each), terms_in(each)) for key, each in chosen.items()}


def _search(
    query: Any, using: str, limit: int, visible: models.Filter, params: Any = None, *, whole: bool = False
) -> models.QueryRequest:
    # The texts at once: what is read by id later could meanwhile have been raised above the asker's rights.
    return models.QueryRequest(
        query=query, using=using, limit=limit, filter=visible, params=params, with_payload=not whole,
        with_vector=[TERMS] if whole else False,
    )  # fmt: skip


def _by_terms(
    terms: Mapping[str, float], limit: int, visible: models.Filter, corpus: models.Filter, *, whole: bool = False
) -> models.QueryRequest:
    params = models.SearchParams(idf=models.IdfCorpusParams(corpus=corpus))
    return _search(_words(terms), TERMS, limit, visible, params, whole=whole)


def _holder(points: Sequence[models.ScoredPoint]) -> Holder | None:
    if not points:
        return None
    assert isinstance(points[0].vector, dict)  # it was asked for
    vector = cast(models.SparseVector, points[0].vector[TERMS])
    return Holder(points[0].score, vector.indices, vector.values)


def _point(tenant: str, key: str, passage: Passage, vector: list[float], average: float) -> models.PointStruct:
    terms = terms_of(passage)
    return models.PointStruct(
        id=key,
        vector={DENSE: vector, TERMS: _words(weights_of(terms, average))},
        payload=payload_of(tenant, passage, terms),
    )


def _words(weights: Mapping[str, float]) -> models.SparseVector:
    places, values = sparse(weights)
    return models.SparseVector(indices=places, values=values)


def _of(tenants: Sequence[str]) -> models.FieldCondition:
    return models.FieldCondition(key="tenant_id", match=models.MatchAny(any=list(tenants)))


def _visible(tenants: Sequence[str], query: PassageQuery) -> models.Filter:
    """The passages of these tenants that the asker may see and asks for."""
    since = None if query.since is None else micros(query.since)
    users = [""] if query.user_id is None else ["", query.user_id]
    must: list[Any] = [
        _of(tenants),
        models.FieldCondition(key="access", range=models.Range(lte=ACCESS_ORDER[query.access_level])),
        models.FieldCondition(key="recorded_at", range=models.Range(lte=micros(query.as_of), gte=since)),
        models.FieldCondition(key="user_id", match=models.MatchAny(any=users)),
    ]
    if query.kinds:
        must.append(models.FieldCondition(key="kind", match=models.MatchAny(any=list(query.kinds))))
    if query.among:
        must.append(models.HasIdCondition(has_id=[str(point_id(of, each)) for of in tenants for each in query.among]))
    retired = models.FieldCondition(key="retired_at", range=models.Range(lte=micros(query.as_of)))
    return models.Filter(must=must, must_not=[retired])
