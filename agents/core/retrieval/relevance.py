"""Relevance of retrieved texts: features of a candidate, a calibrated probability, and a threshold.

The features are ratios and cosines, so that they are comparable between a tenant with five passages and one with a
hundred thousand. Their weights are a reviewed table (`weights/relevance.json`), fitted by `bench/fit/relevance.py`.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Literal, Protocol, TypeVar

from agents.core.retrieval.search_terms import QuestionTerm

Kind = Literal["documents", "turns"]

# The weights of the rank score: BM25 relative to the best, scaled by coverage of the question; cosine; words of the
# text itself. Chosen among some dozens on FaQuAD, oab-exams and our own texts (bench/fit).
LEXICAL_LEAST, DENSE, OWN = 0.3, 1.5, 0.6
BEST = 3
# Smaller memories count as twenty texts: the weights were not fitted to them, and the nearest text is no likelier.
LEAST_SIZE = 3.7


class Scored(Protocol):
    """A candidate with its rank score and its features by name."""

    @property
    def score(self) -> float: ...

    @property
    def scores(self) -> Mapping[str, float]: ...


H = TypeVar("H", bound=Scored)


@dataclass(frozen=True, slots=True)
class Rarity:
    """Inverse document frequencies of a question's terms in its tenant's texts; `unseen` is that of other terms."""

    of: Mapping[str, float]
    unseen: float

    def weight(self, term: QuestionTerm) -> float:
        """The weight of a term: its rarity; of several stems that of the most frequent."""
        return term.weight * min((self.of[key] for key in term.keys if key in self.of), default=self.unseen)

    def knows(self, term: QuestionTerm) -> bool:
        """Whether any text of the tenant contains the term."""
        return any(key in self.of for key in term.keys)


def inverse_document_frequency(holding: int, texts: int) -> float:
    """The Robertson-Spärck Jones weight, never negative: ln(1 + (N - n + 0.5) / (n + 0.5))."""
    return math.log(1 + (texts - holding + 0.5) / (holding + 0.5))


class AskedTerms:
    """A question's terms with their weights, computed once for many candidates."""

    def __init__(self, question: Sequence[QuestionTerm], rarity: Rarity) -> None:
        masses = [rarity.weight(term) for term in question]
        self._masses = masses
        self._places: dict[str, list[int]] = {}
        for place, term in enumerate(question):
            for key in term.keys:
                self._places.setdefault(key, []).append(place)
        self._keys = frozenset(self._places)
        # What the conversation adds counts for a text that has it, and never against one.
        own = sum(mass for mass, term in zip(masses, question, strict=True) if not term.added)
        self._total = own or sum(masses) or 1.0
        self._unseen = rarity.unseen
        self._unknown = float(any(term.name and not rarity.knows(term) for term in question))
        # What the conversation adds, and what only spells a date, makes no question harder to answer.
        self._terms = math.log1p(sum(term.counts for term in question) or len(question))
        self._exact = [place for place, term in enumerate(question) if term.exact and term.counts]

    def features(
        self, *, own: frozenset[str], around: frozenset[str], heading: frozenset[str], bm25: float, dense: float
    ) -> dict[str, float]:
        """The features of a candidate.

        `cover`, `own`: the share of the question's terms, by rarity, in the text with its surroundings, and in the
        text itself. `reach`: how many wholly unknown words the covered ones are worth, as ln(1 + n); `heading`: those
        of its title and headings. `dense`: the cosine. `unknown`: 1 where the question has a name that no text of the
        tenant has. `terms`: how many the question has of its own, as ln(1 + n). `exact`: the share of its dates,
        amounts and codes that the text itself has. `size`: the logarithm of how many texts there are. `bm25`: as the
        engine gave it.
        """
        inside = self._in(own)
        covered = inside | self._in(around)
        mass = sum(self._masses[place] for place in covered)
        return {
            "bm25": bm25,
            "dense": dense,
            "cover": min(1.0, mass / self._total),
            "own": min(1.0, sum(self._masses[place] for place in inside) / self._total),
            "reach": math.log1p(mass / self._unseen),
            "heading": math.log1p(sum(self._masses[place] for place in self._in(heading)) / self._unseen),
            "unknown": self._unknown,
            "terms": self._terms,
            "exact": len(inside.intersection(self._exact)) / len(self._exact) if self._exact else 0.0,
            "size": self._unseen,
        }

    def _in(self, words: frozenset[str]) -> set[int]:
        return {place for key in self._keys & words for place in self._places[key]}


@dataclass(frozen=True, slots=True)
class RelevanceWeights:
    """The weights of one kind of text.

    `best` weighs the maximum of each feature over the best candidates, `mean` their average, into the log odds that the
    answer is among them, minus `growth` per e-fold of texts: among many texts without the answer the best one scores
    higher. `floor` is the threshold. `place` converts a candidate's distance from the best one into its own log odds.
    """

    best: Mapping[str, float]
    mean: Mapping[str, float]
    bias: float
    growth: float
    floor: float
    place: float
    trust: float
    prior: float


@lru_cache(maxsize=1)
def tables() -> Mapping[str, RelevanceWeights]:
    """The reviewed weights, loaded once."""
    raw = json.loads(resources.files("agents.core").joinpath("weights/relevance.json").read_text("utf-8"))
    return {kind: RelevanceWeights(**raw[kind]) for kind in ("documents", "turns")}


def rank(scores: Mapping[str, float], best_bm25: float) -> float:
    """The rank score of a question's candidate; `best_bm25` is the highest BM25 among them."""
    lexical = scores["bm25"] / best_bm25 * (LEXICAL_LEAST + scores["cover"]) if best_bm25 > 0 else 0.0
    return lexical + DENSE * scores["dense"] + OWN * scores["own"]


def answered(found: Sequence[Scored], table: RelevanceWeights) -> float:
    """The log odds that the answer is among the candidates (best first); minus infinity without candidates."""
    if not found:
        return -math.inf
    first = [hit.scores for hit in found[:BEST]]
    odds = table.bias - table.growth * max(first[0]["size"], LEAST_SIZE)
    odds += sum(weight * max(scores[name] for scores in first) for name, weight in table.best.items())
    odds += sum(weight * sum(scores[name] for scores in first) / len(first) for name, weight in table.mean.items())
    return odds


def answerable(found: Sequence[Scored], kind: Kind) -> float:
    """The probability that the answer is among the candidates (best first), 0-1; 0 below the threshold."""
    table = tables()[kind]
    odds = answered(found, table)
    return _logistic(odds) if odds >= table.floor else 0.0


def judged(found: Sequence[H], kind: Kind) -> tuple[list[tuple[H, float]], list[tuple[H, float]]]:
    """The candidates above and below the threshold, each with the probability that it helps.

    `found` is ordered by `score`. The threshold accepts all or none: where the best does not answer, the next will not.
    """
    table = tables()[kind]
    odds = answered(found, table)
    scored = [
        (hit, _logistic(table.prior + table.trust * odds + table.place * (hit.score - found[0].score))) for hit in found
    ]
    return (scored, []) if odds >= table.floor else ([], scored)


def _logistic(odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(min(odds, 50.0), -50.0)))
