"""Sparse vectors of terms: the BM25 weights of a passage, the weights of a question.

The engine adds the rarity of a term. Terms are ours, not the engine's: by the passage's own language, codes whole,
names of the other language found, and alike on every engine.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

from agents.core.caching.texts import text_cache
from agents.core.retrieval.relevance import Rarity, inverse_document_frequency
from agents.core.retrieval.search_terms import QuestionTerm, document_terms
from agents.ports.passages import Passage

K1, B = 1.2, 0.75
# A text's own words count twice beside those around it (memory: the neighbour idea).
OWN, AROUND = 2.0, 1.0


@dataclass(frozen=True, slots=True)
class PassageTerms:
    """The terms of a passage, of its title and text (`own`) and of what surrounds it."""

    own: tuple[str, ...]
    around: tuple[str, ...]


def terms_of(passage: Passage) -> PassageTerms:
    """The terms that a passage is searched by."""
    title = str(passage.fields.get("title", ""))
    own = (*document_terms(title, passage.lang), *document_terms(passage.text, passage.lang))
    return PassageTerms(own, document_terms(passage.context, passage.lang))


def heading_of(passage: Passage) -> frozenset[str]:
    """The terms of a passage's title and of the headings above it."""
    return _heading(str(passage.fields.get("title", "")), passage.lang)


# A section's passages have one, and a question meets dozens of them.
@text_cache(4_096)
def _heading(title: str, lang: str) -> frozenset[str]:
    return frozenset(document_terms(title, lang))


def weights_of(terms: PassageTerms, average: float) -> dict[str, float]:
    """BM25's weight of each term in the passage, without its rarity; `average` is the mean length, own terms twice."""
    counts: Counter[str] = Counter()
    for term in terms.own:
        counts[term] += OWN  # type: ignore[assignment]
    for term in terms.around:
        counts[term] += AROUND  # type: ignore[assignment]
    # What only writes a date or an amount in another way makes a text no longer.
    length = sum(count for term, count in counts.items() if ":" not in term)
    damp = K1 * (1 - B + B * length / average)
    return {term: count * (K1 + 1) / (count + damp) for term, count in counts.items()}


def place_of(term: str) -> int:
    """The index of a term in a sparse vector."""
    return crc32(term.encode(errors="replace"))


def sparse(weights: Mapping[str, float]) -> tuple[list[int], list[float]]:
    """Places and values, each place once: of two terms that meet in one, the heavier stands."""
    found: dict[int, float] = {}
    for term, weight in weights.items():
        place = place_of(term)
        found[place] = max(found.get(place, 0.0), weight)
    return list(found), list(found.values())


def asked(question: Sequence[QuestionTerm]) -> dict[str, float]:
    """The question's terms with their weights, all stems of each."""
    return {key: term.weight for term in reversed(question) for key in term.keys}


@dataclass(frozen=True, slots=True)
class Holder:
    """The best point for one term alone: its score, and the places and values of its vector."""

    score: float
    places: Sequence[int]
    values: Sequence[float]

    def rarity(self, term: str) -> float | None:
        """The term's rarity (IDF) in the engine: the score by the weight of the term in the point.

        None where the point has the term no more: it was written again between its scoring and its reading.
        """
        place = place_of(term)
        weight = next((value for at, value in zip(self.places, self.values, strict=True) if at == place), None)
        return None if weight is None else self.score / weight


def rarity_of(terms: Iterable[str], found: Mapping[str, float | None], texts: int) -> Rarity:
    """The rarity of each of these terms that occurs in at least one of `texts` texts; the others have None."""
    known = {term: rarity for term in terms if (rarity := found[term]) is not None}
    return Rarity(known, inverse_document_frequency(0, texts))
