"""Fusion of the dense and the BM25 candidates into hits with features, best first."""

from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Generic, TypeVar

from agents.core.retrieval import relevance, spelling
from agents.core.retrieval.relevance import Rarity
from agents.core.retrieval.search_terms import QuestionTerm
from agents.ports.passages import Hit, Passage, PassageQuery
from streams.stores.passages.lexical import PassageTerms, heading_of

K = TypeVar("K", bound=Hashable)

# Of each list. What is further down in both is not shown.
CANDIDATES = 50
FIRST = 10
# Of those the likeliest are read: what their vectors weigh beside their words, before the texts are known.
DENSE_WEIGHT = 1.0


Texts = Mapping[K, tuple[Passage, PassageTerms]]


@dataclass(frozen=True, slots=True)
class Candidates(Generic[K]):
    """The two lists of a search, scores by key, best first; the terms of the question and their rarity."""

    question: tuple[QuestionTerm, ...]
    rarity: Rarity
    dense: Mapping[K, float]
    bm25: Mapping[K, float]

    def chosen(self, limit: int) -> list[K]:
        """Distinct keys whose texts are to be read, the likeliest first."""
        best = max(self.bm25.values(), default=0.0) or 1.0
        # Whatever the other list says: the only passage that has a rare word may be like none of those it is full of.
        first = {*islice(self.bm25, FIRST), *islice(self.dense, FIRST)}
        # Beyond the list lies what is no nearer than its last.
        low = min(self.dense.values(), default=0.0)
        likely = {
            key: self.bm25.get(key, 0.0) / best + DENSE_WEIGHT * self.dense.get(key, low)
            for key in (*self.bm25, *self.dense)
        }
        # A sort is stable: of equals the one found first stays first.
        return sorted(likely, key=lambda key: (key in first, likely[key]), reverse=True)[:limit]

    def hits(self, texts: Texts[K], limit: int) -> tuple[Hit, ...]:
        """The best `limit` of the texts read, each with its features."""
        best = max(self.bm25.values(), default=0.0)
        low = min(self.dense.values(), default=0.0)
        scored: list[Hit] = []
        asked = relevance.AskedTerms(self.question, self.rarity)
        for key, (passage, terms) in texts.items():
            parts = asked.features(
                own=frozenset(terms.own),
                around=frozenset(terms.around),
                heading=heading_of(passage),
                bm25=self.bm25.get(key, 0.0),
                dense=self.dense.get(key, low),
            )
            scored.append(Hit(passage, relevance.rank(parts, best), parts))
        scored.sort(key=lambda hit: (-hit.score, hit.passage.id))
        return tuple(scored[:limit])


async def hits_of(
    query: PassageQuery, search: Callable[[PassageQuery], Awaitable[tuple[Candidates[K], Texts[K]]]]
) -> tuple[Hit, ...]:
    """The best hits of a search; it is repeated with the corrected text when a word of the question is mistyped."""
    found, texts = await search(query)
    if query.words_only:
        return found.hits(texts, query.limit)
    unknown = [term.word for term in found.question if not found.rarity.knows(term)]
    corrected = spelling.corrected(query.text, unknown, (passage.text for passage, _ in texts.values()))
    if corrected is not None:
        found, texts = await search(replace(query, text=corrected))
    return found.hits(texts, query.limit)
