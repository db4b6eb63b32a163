"""The passage index of a Qdrant server: a collection per kind of memory for all tenants, dense and BM25.

The vectors are made here, as for the embedded index, so a worker has this too in a process of its own
(`index_process`). A search is one request: two lists, the whole filter in each; their fusion is ours, because the
server silently ignores weights.
A server below 1.19 counts how rare a word is over all tenants, whatever it is asked: that shows in the `bm25` part of
a score and can change an order, never what is found.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import chain
from json import JSONDecodeError
from typing import Any, TypeVar, cast

import httpx
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from agents.errors import FathomError, Unavailable
from agents.ports import Embedder, Hit, Page, Passage, PassageQuery
from schemas.items import ACCESS_ORDER
from streams.stores.at_once import AtOnce
from streams.stores.fusion import CANDIDATES, fuse
from streams.stores.guard import Guard
from streams.stores.points import (
    CHUNK,
    COLLECTIONS,
    VERSIONED,
    known_lang,
    micros,
    passage_of,
    payload_of,
    ranked,
    sparse_vectors,
    stemmers,
)
from streams.stores.qdrant_collections import MISSING, MOST_HITS, QdrantCollections, name_of
from streams.stores.tenant import checked, point_id, readable, writable
from streams.stores.vectors import Together

LOGGER = logging.getLogger("fathom.index")
# Below the limit of the process that asks, so that it hears what was wrong.
TIMEOUT_SECONDS = 4.0
# Two collections and their indexes, on a server that may be busy.
PREPARE_SECONDS = 30.0
CONNECTIONS = 16
# The server ends a connection that was silent for five seconds, also while a request is on its way.
IDLE_SECONDS = 2.0
AWAY = (ResponseHandlingException, QdrantException)
REFUSED, TOO_MANY = (401, 403), 429

T = TypeVar("T")


class AccessRefused(FathomError):
    """The server does not take our API key; the message names the setting."""


class QdrantServerIndex:
    """Hybrid search on a server; `_public` is written only by an administrator. To be made where a loop runs."""

    def __init__(
        self,
        url: str,
        embedder: Embedder,
        *,
        api_key: str | None = None,
        admin: bool = False,
        timeout: float = TIMEOUT_SECONDS,
    ) -> None:
        self._url = url
        self._vectors = Together(embedder)
        self._admin = admin
        self._client = _connect(url, api_key, timeout)
        self._collections = QdrantCollections(self._client, url, embedder)
        self._guard = Guard("index", timeout=timeout, errors=(FathomError,), probe=partial(self._told, self._prepare))
        self._stored = {name: AtOnce(partial(self._put, name), CHUNK, of_all=AWAY) for name in COLLECTIONS}
        self._lexical = {name: stemmers(words) for name, words in COLLECTIONS.items()}
        self._preparing = asyncio.Lock()
        self._prepared = False

    async def open(self) -> None:
        """Make the collections that are missing; a server that does not answer is left to the first call.

        Raises `IncompatibleIndex` and `AccessRefused`.
        """
        try:
            await self._guard.run(partial(self._told, self._prepare), timeout=PREPARE_SECONDS)
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
        """Dense and BM25 candidates of this tenant, fused by reciprocal rank, best first."""
        tenants = readable(tenant)
        return await self._run(partial(self._find, tenants, collection, query))

    async def listed(self, tenant: str, collection: str, *, after: str | None = None, limit: int = 1000) -> Page:
        """Ids of the tenant's own passages, each once; `after` is what the page before named as following."""
        checked(tenant)
        return await self._run(partial(self._page, tenant, collection, after, limit))

    async def remove(self, tenant: str, collection: str, ids: Sequence[str]) -> None:
        """Take passages of the tenant out; those that are not there do no harm."""
        writable(tenant, admin=self._admin)
        if ids:  # the server refuses to remove nothing
            await self._run(partial(self._erase, collection, [str(point_id(tenant, each)) for each in ids]))

    async def version(self) -> str:
        """Which server it is."""
        said = await self._guard.run(partial(self._told, self._client.info))
        return " ".join(("Qdrant", said.version))

    async def ping(self) -> None:
        """Raises `Unavailable` when the server does not answer, or not to us."""
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
                return await _on_a_living_connection(call)
            except UnexpectedResponse as error:
                if error.status_code != MISSING:
                    raise
            # Somebody removed a collection, to have the view rebuilt: it begins again empty.
            self._prepared = False
            await self._ready()
            return await call()

        return await self._guard.run(partial(self._told, prepared))

    async def _told(self, call: Callable[[], Awaitable[T]]) -> T:
        """What the call returns; its errors in our words."""
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
        lexical = self._lexical[collection]
        ids = [str(point_id(tenant, passage.id)) for passage in passages]
        known = await self._known(collection, ids) if collection == VERSIONED else {}
        vectors = await self._vectors.encode_but(known, [passage.text for passage in passages])
        points = [
            models.PointStruct(
                id=key,
                vector={
                    "dense": vector,
                    **{name: _words(words) for name, words in sparse_vectors(lexical, passage).items()},
                },
                payload=payload_of(tenant, passage),
            )
            for key, passage, vector in zip(ids, passages, vectors, strict=True)
        ]
        await self._stored[collection].add(points)

    async def _known(self, collection: str, ids: Sequence[str]) -> dict[str, list[float]]:
        """By their texts, the vectors of what is stored under these ids: to compute one takes ten times as long."""
        asked = models.PointRequest(ids=list(ids), with_payload=["text"], with_vector=["dense"])
        found = await self._client.http.points_api.get_points(name_of(collection), point_request=asked)
        vectors: dict[str, list[float]] = {}
        for record in found.result or ():
            assert record.payload is not None  # both were asked for
            assert isinstance(record.vector, dict)
            vectors[record.payload["text"]] = cast(list[float], record.vector["dense"])
        return vectors

    async def _put(self, collection: str, points: list[models.PointStruct]) -> None:
        stored = partial(
            self._client.http.points_api.upsert_points,
            name_of(collection),
            wait=True,
            point_insert_operations=models.PointsList(points=points),
        )
        await _on_a_living_connection(stored)

    async def _page(self, tenant: str, collection: str, after: str | None, limit: int) -> Page:
        own = models.FieldCondition(key="tenant_id", match=models.MatchValue(value=tenant))
        points, following = await self._client.scroll(
            name_of(collection),
            scroll_filter=models.Filter(must=[own]),
            limit=min(limit, MOST_HITS),
            offset=after,
            with_payload=["id"],
            with_vectors=False,
        )
        ids = tuple(str((point.payload or {})["id"]) for point in points)
        return Page(ids, None if following is None else str(following))

    async def _erase(self, collection: str, points: Sequence[str]) -> None:
        await self._client.delete(name_of(collection), points_selector=list(points), wait=True)

    async def _find(self, tenants: Sequence[str], collection: str, query: PassageQuery) -> tuple[Hit, ...]:
        [vector] = await self._vectors.encode([query.text], urgent=True)
        lang = known_lang(query.lang)
        words = self._lexical[collection][lang].embed_query(query.text)
        wanted = partial(
            models.QueryRequest,
            limit=min(max(CANDIDATES, query.limit), MOST_HITS),
            # At once: what is read by id later could meanwhile have been raised above the asker's rights.
            with_payload=True,
        )
        # In each list: a filter outside would let other tenants' passages use up the limit. Near ones are looked for
        # tenant by tenant, for each has a graph of its own, and no way leads from one to the other.
        asked = [wanted(query=vector, using="dense", filter=_visible([each], query)) for each in tenants]
        if words.indices:
            rarity = models.SearchParams(idf=models.IdfCorpusParams(corpus=models.Filter(must=[_of(tenants)])))
            lexical = partial(wanted, query=_words(words), using=f"bm25_{lang}", params=rarity)
            asked.append(lexical(filter=_visible(tenants, query)))
        # Past the client's own methods, which copy every number in search of texts it should embed: a millisecond.
        answers = await self._client.http.search_api.query_batch_points(
            name_of(collection), query_request_batch=models.QueryRequestBatch(searches=asked)
        )
        found = [answer.points for answer in answers.result or ()]
        near, named = found[: len(tenants)], found[len(tenants) :]
        return _hits(near, named, limit=query.limit, most=max(CANDIDATES, query.limit))


async def _on_a_living_connection(call: Callable[[], Awaitable[T]]) -> T:
    """Once more, if the server had given the connection up; all our calls can be made twice."""
    try:
        return await call()
    except ResponseHandlingException as error:
        if not isinstance(error.source, httpx.RemoteProtocolError | httpx.ReadError):
            raise
    return await call()


def _connect(url: str, api_key: str | None, timeout: float) -> AsyncQdrantClient:
    # Compressed answers come in pieces, the next of which waits 40 ms for our system to confirm the last.
    headers = {"Accept-Encoding": "identity"}
    if api_key:
        headers["api-key"] = api_key  # given by name, the client would warn of every server without TLS
    return AsyncQdrantClient(
        url=url,
        headers=headers,
        timeout=max(1, round(timeout)),
        check_compatibility=False,
        # Of its own, the client keeps no connection to this machine open.
        limits=httpx.Limits(
            max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS, keepalive_expiry=IDLE_SECONDS
        ),
    )


def _words(sparse: Any) -> models.SparseVector:
    return models.SparseVector(indices=list(sparse.indices), values=list(sparse.values))


def _of(tenants: Sequence[str]) -> models.FieldCondition:
    return models.FieldCondition(key="tenant_id", match=models.MatchAny(any=list(tenants)))


def _visible(tenants: Sequence[str], query: PassageQuery) -> models.Filter:
    """What these tenants' asker may see, and asked for."""
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
    must_not: list[Any] = [models.FieldCondition(key="retired_at", range=models.Range(lte=micros(query.as_of)))]
    if query.not_in_conversation is not None:
        own = models.MatchValue(value=query.not_in_conversation)
        must_not.append(models.FieldCondition(key="conversation_id", match=own))
    return models.Filter(must=must, must_not=must_not)


def _hits(
    near: Sequence[Sequence[models.ScoredPoint]],
    named: Sequence[Sequence[models.ScoredPoint]],
    *,
    limit: int,
    most: int,
) -> tuple[Hit, ...]:
    payloads: dict[Any, Any] = {point.id: point.payload for points in (*near, *named) for point in points}
    lists = {"dense": ranked(chain.from_iterable(near))[:most], "bm25": ranked(chain.from_iterable(named))}
    return tuple(Hit(passage_of(payloads[key]), score, parts) for key, score, parts in fuse(lists, limit))
