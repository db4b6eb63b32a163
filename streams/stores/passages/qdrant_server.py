"""The passage index of a Qdrant server: a collection per kind of memory for all tenants, dense and BM25.

The vectors are made here, as for the embedded index, so a worker has this too in a process of its own
(`index_process`). A search is one request: two lists, the whole filter in each, and the rarity of each term; how they
make a score is ours (`candidates`).
A server below 1.19 counts how rare a word is over all tenants, whatever it is asked: that shows in the features of a
hit, and can change an order and what clears the floor, never what is found.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from agents.concurrency import MicroBatcher, beside_loop
from agents.core.retrieval.search_terms import question_terms
from agents.errors import FathomError, Unavailable
from agents.ports.models import Embedder
from agents.ports.passages import Hit, Page, Passage, PassageQuery
from streams.stores.guard import CircuitBreaker
from streams.stores.passages.candidates import CANDIDATES, Candidates, Texts, hits_of
from streams.stores.passages.lexical import Holder, asked, rarity_of
from streams.stores.passages.points import (
    CHUNK,
    COLLECTIONS,
    DENSE,
    TERMS,
    VERSIONED,
    embedded_text,
    passage_of,
    ranked,
    stored_as,
    terms_in,
)
from streams.stores.passages.qdrant_collections import MAX_HITS, MISSING, QdrantCollections, path_of
from streams.stores.passages.qdrant_connection import QdrantConnection, QdrantRefusal
from streams.stores.passages.qdrant_requests import Part, corpus_of, equals, point_of, searches_of
from streams.stores.passages.vectors import BatchingEmbedder
from streams.stores.tenant import checked, point_id, readable, writable

LOGGER = logging.getLogger("fathom.index")
# Below the limit of the process that asks, so that it hears what was wrong.
TIMEOUT_S = 4.0
# Two collections and their indexes, on a server that may be busy.
PREPARE_S = 30.0
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
        self._client = QdrantConnection(url, api_key, timeout)
        self._collections = QdrantCollections(url, api_key, timeout, embedder)
        self._guard = CircuitBreaker(
            "index", timeout=timeout, errors=(FathomError,), probe=partial(self._told, self._prepare)
        )
        self._stored: dict[str, MicroBatcher[Part, None]] = {
            name: MicroBatcher(partial(self._put, name), CHUNK, shared_errors=(ConnectionError,))
            for name in COLLECTIONS
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
        latest = [*{passage.stored_as: passage for passage in passages}.values()]
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
        said = await self._guard.run(partial(self._told, partial(self._client.answer, "GET", "/")))
        return " ".join(("Qdrant", said["version"]))

    async def ping(self) -> None:
        """Check that the server answers and accepts our key; raises `Unavailable`."""
        await self._guard.check(partial(self._told, self._prepare))

    async def close(self) -> None:
        """Close the connections."""
        await self._guard.close()
        for each in self._stored.values():
            await each.close()
        await self._client.close()
        await self._collections.close()

    async def _run(self, call: Callable[[], Awaitable[T]]) -> T:
        async def prepared() -> T:
            await self._ready()
            try:
                return await call()
            except QdrantRefusal as error:
                if error.status != MISSING:
                    raise
            # Somebody removed a collection, to have the view rebuilt: it begins again empty.
            self._prepared = False
            await self._ready()
            return await call()

        return await self._guard.run(partial(self._told, prepared))

    async def _told(self, call: Callable[[], Awaitable[T]]) -> T:
        """The result of a call; refusals that may pass become `ConnectionError` and `AccessRefused`."""
        try:
            return await call()
        except QdrantRefusal as error:
            if error.status in REFUSED:
                raise AccessRefused(
                    f"{self._url} refuses our API key ({error}): put one that may write collections into the file "
                    "that FATHOM_QDRANT_API_KEY_FILE names"
                ) from error
            if error.status == TOO_MANY or error.status >= 500:
                raise ConnectionError(f"{self._url}: {error}") from error
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
        ids = [str(point_id(tenant, passage.stored_as)) for passage in passages]
        known = await self._known(collection, ids) if collection == VERSIONED else {}
        vectors = await self._vectors.encode_but(known, [embedded_text(passage) for passage in passages])
        points = await beside_loop(
            sum(len(passage.text) for passage in passages),
            lambda: [
                point_of(tenant, key, passage, vector, COLLECTIONS[collection])
                for key, passage, vector in zip(ids, passages, vectors, strict=True)
            ],
        )
        await self._stored[collection].add(points)

    async def _known(self, collection: str, ids: Sequence[str]) -> dict[str, list[float]]:
        """The stored vectors of these ids, by text: to compute one takes ten times as long."""
        asked = {"ids": list(ids), "with_payload": True, "with_vector": [DENSE]}
        found = await self._client.result("POST", path_of(collection, "points"), asked)
        return {embedded_text(passage_of(each["payload"])): each["vector"][DENSE] for each in found}

    async def _put(self, collection: str, points: list[Part]) -> None:
        await self._client.result("PUT", path_of(collection, "points?wait=true"), {"points": points})

    async def _page(self, tenant: str, collection: str, after: str | None, limit: int) -> Page:
        points, following = await self._scrolled(
            collection, [equals("tenant_id", tenant)], after, limit=min(limit, MAX_HITS), payload=["id", "key"]
        )
        ids = tuple(stored_as(point["payload"]) for point in points)
        return Page(ids, following)

    async def _said_in(self, tenant: str, collection: str, conversation_id: str) -> tuple[Passage, ...]:
        own = [equals("tenant_id", tenant), equals("conversation_id", conversation_id)]
        found: list[Passage] = []
        following: str | None = None
        while True:
            points, following = await self._scrolled(collection, own, following, limit=MAX_HITS, payload=True)
            found += [passage_of(point["payload"]) for point in points]
            if following is None:
                return tuple(found)

    async def _scrolled(
        self, collection: str, own: Sequence[Part], after: str | None, *, limit: int, payload: bool | list[str]
    ) -> tuple[list[Part], str | None]:
        asked = {"filter": {"must": own}, "limit": limit, "offset": after, "with_payload": payload}
        found = await self._client.result("POST", path_of(collection, "points/scroll"), asked)
        return found["points"], found["next_page_offset"]

    async def _erase(self, collection: str, points: Sequence[str]) -> None:
        await self._client.result("POST", path_of(collection, "points/delete?wait=true"), {"points": list(points)})

    async def _find(
        self, tenants: Sequence[str], collection: str, query: PassageQuery
    ) -> tuple[Candidates[Any], Texts[Any]]:
        vectors = [] if query.words_only else await self._vectors.encode([query.spoken], urgent=True)
        question = question_terms(query.text, query.lang, query.context)
        terms = asked(question)
        limit = min(max(CANDIDATES, query.limit), MAX_HITS)
        searches = searches_of(vectors, terms, limit, tenants, query)
        if not searches:
            return Candidates(question, rarity_of(terms, {}, 0), {}, {}), {}
        answers, counted = await asyncio.gather(
            self._client.result("POST", path_of(collection, "points/query/batch"), {"searches": searches}),
            self._client.result(
                "POST", path_of(collection, "points/count"), {"filter": corpus_of(tenants), "exact": False}
            ),
        )
        found = [answer["points"] for answer in answers]
        of_meaning = len(vectors) * len(tenants)
        near, named, alone = found[:of_meaning], found[of_meaning:][:1], found[of_meaning + 1 :]
        rarities = {term: _rarity(points, term) for term, points in zip(terms, alone, strict=True)}
        payloads: dict[str, Any] = {point["id"]: point["payload"] for points in (*near, *named) for point in points}
        dense = dict(_ranked(chain.from_iterable(near))[:limit])
        lexical = dict(_ranked(chain.from_iterable(named)))
        candidates = Candidates(question, rarity_of(terms, rarities, counted["count"]), dense, lexical)
        chosen = {key: payloads[key] for key in candidates.chosen(query.limit)}
        return candidates, {key: (passage_of(each), terms_in(each)) for key, each in chosen.items()}


def _ranked(points: Iterable[Part]) -> list[tuple[str, float]]:
    return ranked((point["id"], point["score"]) for point in points)


def _rarity(points: Sequence[Part], term: str) -> float | None:
    if not points:
        return None
    vector = points[0]["vector"][TERMS]
    return Holder(points[0]["score"], vector["indices"], vector["values"]).rarity(term)
