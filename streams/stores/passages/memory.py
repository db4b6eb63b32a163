"""In-memory twin of the passage index: no server, no file, the same promises."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from functools import partial
from operator import itemgetter

from agents.core.retrieval.relevance import Rarity, inverse_document_frequency
from agents.core.retrieval.search_terms import question_terms
from agents.ports.models import Embedder
from agents.ports.passages import Hit, Page, Passage, PassageQuery
from schemas.items import ACCESS_ORDER
from streams.stores.passages.candidates import CANDIDATES, Candidates, Texts, hits_of
from streams.stores.passages.lexical import PassageTerms, asked, terms_of, weights_of
from streams.stores.passages.points import COLLECTIONS, embedded_text
from streams.stores.tenant import checked, readable, writable

# A tenant and the id of its passage.
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Indexed:
    passage: Passage
    vector: Sequence[float]
    terms: PassageTerms
    weights: Mapping[str, float]


class MemoryPassageIndex:
    """Exact cosine and BM25 over all passages of one process; only an administrator writes `_public`."""

    def __init__(self, embedder: Embedder, *, admin: bool = False) -> None:
        self._embedder = embedder
        self._admin = admin
        self._indexed: dict[tuple[str, str, str], _Indexed] = {}

    async def upsert(self, tenant: str, collection: str, passages: Sequence[Passage]) -> None:
        """Store passages by id; visible to the next search."""
        writable(tenant, admin=self._admin)
        vectors = self._embedder.encode([embedded_text(passage) for passage in passages])
        for passage, vector in zip(passages, vectors, strict=True):
            terms = terms_of(passage)
            weights = weights_of(terms, COLLECTIONS[collection])
            found = replace(passage, context="", lead="", recorded_at=passage.recorded_at.astimezone(UTC))
            self._indexed[collection, tenant, passage.stored_as] = _Indexed(found, vector, terms, weights)

    async def search(self, tenant: str, collection: str, query: PassageQuery) -> tuple[Hit, ...]:
        """The tenant's passages nearest to the question, by words and by meaning, best first."""
        return await hits_of(query, partial(self._find, readable(tenant), collection))

    async def _find(
        self, tenants: Sequence[str], collection: str, query: PassageQuery
    ) -> tuple[Candidates[Key], Texts[Key]]:
        corpus = {
            (tenant_id, passage_id): indexed
            for (kept_in, tenant_id, passage_id), indexed in self._indexed.items()
            if kept_in == collection and tenant_id in tenants
        }
        visible = {key: indexed for key, indexed in corpus.items() if _matches(indexed.passage, query)}
        question = question_terms(query.text, query.lang, query.context)
        terms = asked(question)
        rarity = _rarity(terms, [each.weights for each in corpus.values()])
        dense = {} if query.words_only else self._nearness(query.spoken, visible)
        lexical = {
            key: sum(terms[term] * rarity.of[term] * each.weights[term] for term in terms if term in each.weights)
            for key, each in visible.items()
            if not terms.keys().isdisjoint(each.weights)
        }
        most = max(CANDIDATES, query.limit)
        found = Candidates(question, rarity, dict(_best(dense)[:most]), dict(_best(lexical)[:most]))
        return found, {key: (visible[key].passage, visible[key].terms) for key in found.chosen(query.limit)}

    def _nearness(self, spoken: str, visible: Mapping[Key, _Indexed]) -> dict[Key, float]:
        [vector] = self._embedder.encode([spoken])
        return {key: sum(map(float.__mul__, vector, each.vector)) for key, each in visible.items()}

    async def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """The unit vector of each text; nothing is stored."""
        return self._embedder.encode(texts)

    async def listed(self, tenant: str, collection: str, *, after: str | None = None, limit: int = 1000) -> Page:
        """A page of ids of the tenant's own passages, each once; `after` is `following` of the page before."""
        checked(tenant)
        ids = sorted(key for kept_in, owner, key in self._indexed if (kept_in, owner) == (collection, tenant))
        left = ids if after is None else [each for each in ids if each >= after]
        return Page(tuple(left[:limit]), left[limit] if len(left) > limit else None)

    async def of_conversation(self, tenant: str, collection: str, conversation_id: str) -> tuple[Passage, ...]:
        """The tenant's passages of the conversations of this id."""
        checked(tenant)
        return tuple(
            indexed.passage
            for (kept_in, owner, _), indexed in self._indexed.items()
            if (kept_in, owner, indexed.passage.conversation_id) == (collection, tenant, conversation_id)
        )

    async def remove(self, tenant: str, collection: str, ids: Sequence[str]) -> None:
        """Remove passages of the tenant; unknown ids are ignored."""
        writable(tenant, admin=self._admin)
        for each in ids:
            self._indexed.pop((collection, tenant, each), None)


def _matches(passage: Passage, query: PassageQuery) -> bool:
    """Whether the asker may see the passage and asks for its kind and time."""
    return (
        passage.recorded_at <= query.newest
        and (passage.retired_at is None or passage.retired_at > query.as_of)
        and ACCESS_ORDER[passage.access_level] <= ACCESS_ORDER[query.access_level]
        and passage.user_id in (None, query.user_id)
        and (not query.kinds or passage.kind in query.kinds)
        and (not query.among or passage.stored_as in query.among)
        and (query.since is None or passage.recorded_at >= query.since)
        and query.document_id in (None, passage.fields.get("document_id"))
        and query.conversation_id in (None, passage.conversation_id)
    )


def _best(scores: Mapping[Key, float]) -> list[tuple[Key, float]]:
    ranked = sorted(scores.items(), key=itemgetter(0))
    return sorted(ranked, key=itemgetter(1), reverse=True)


def _rarity(terms: Mapping[str, float], corpus: Sequence[Mapping[str, float]]) -> Rarity:
    holding = Counter(term for weights in corpus for term in terms if term in weights)
    known = {term: inverse_document_frequency(count, len(corpus)) for term, count in holding.items()}
    return Rarity(known, inverse_document_frequency(0, len(corpus)))
