"""Baselines without Fathom: the last turns, or a plain search for the message, within the same tokens."""

import math
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property

from agents.ports.models import Embedder
from bench.evaluation.held_packs import WORDING, Content
from bench.evaluation.questions import Material, PackQuestion
from bench.evaluation.words import tokens, trigrams
from streams.edges.cli.demo.plain_search import Bm25

RANK_OFFSET = 60
# The depth of a ranking down to which a passage counts as a candidate.
CANDIDATES = 20
BASELINES = ("last_turns", "bm25", "dense", "hybrid")
# The rankings that are asked how many tokens they need for the recall of the packs.
NEEDING = ("bm25", "bm25_with_turns")
TURNS = 2


class PlainSearch:
    """One tenant's units, ranked for a message; without an embedder only by words."""

    def __init__(self, material: Material, embedder: Embedder | None) -> None:
        self._material = material
        self._embedder = embedder
        self._words = Bm25(material.units)

    @cached_property
    def _vectors(self) -> list[list[float]]:
        assert self._embedder is not None
        return [vector for unit in self._material.units for vector in self._embedder.encode([unit])]

    def bm25(self, question: PackQuestion) -> list[str]:
        """Units that share a word with the message, by BM25 without stemming, best first."""
        return self._words.ranked(question.text)

    def bm25_with_turns(self, question: PackQuestion) -> list[str]:
        """The same for the message and the last two turns before it."""
        return self._words.ranked(" ".join([*(turn.text for turn in question.turns[-TURNS:]), question.text]))

    def dense(self, question: PackQuestion) -> list[str]:
        """All units by the cosine of the product's own encoder."""
        assert self._embedder is not None
        [asked] = self._embedder.encode([question.text])
        return self._best([sum(map(float.__mul__, asked, vector)) for vector in self._vectors])

    def hybrid(self, question: PackQuestion) -> list[str]:
        """BM25 and dense rankings, fused by reciprocal rank."""
        fused: defaultdict[str, float] = defaultdict(float)
        for ranked in (self.bm25(question), self.dense(question)):
            for rank, unit in enumerate(ranked, 1):
                fused[unit] += 1 / (RANK_OFFSET + rank)
        return [unit for unit, _ in sorted(fused.items(), key=lambda each: -each[1])]

    def last_turns(self, question: PackQuestion) -> list[str]:
        """The newest turns of this and earlier conversations."""
        return [*reversed([*self._material.said(), *(turn.text for turn in question.turns)])]

    def _best(self, scores: Sequence[float]) -> list[str]:
        return [self._material.units[at] for at in sorted(range(len(scores)), key=lambda at: -scores[at])]

    def ranked(self, name: str, question: PackQuestion) -> list[str]:
        """The ranking of a baseline by its name."""
        ranking: list[str] = getattr(self, name)(question)
        return ranking

    @cached_property
    def _contents(self) -> dict[str, Content]:
        return {unit: Content.of([unit]) for unit in self._material.units}

    def spent(self, name: str, question: PackQuestion) -> list[float]:
        """The tokens of a ranking down to the unit that completes each piece of evidence; infinite for never."""
        total, until = 0, [math.inf] * len(question.evidence)
        lacking = [trigrams(each.text) for each in question.evidence]
        allowed = [(1 - WORDING) * len(each) for each in lacking]
        for unit in self.ranked(name, question):
            total, held = total + tokens(unit), self._contents[unit]
            for at, evidence in enumerate(question.evidence):
                lacking[at] -= held.trigrams
                # A passage may be gathered from several units, a phrase stands in one.
                if total < until[at] and (
                    held.holds(evidence) or (evidence.passage and len(lacking[at]) <= allowed[at])
                ):
                    until[at] = total
            if math.inf not in until:
                break
        return until

    def was_given(self, question: PackQuestion) -> bool:
        """Whether evidence is in a document rather than in a turn."""
        return Content.of(text for _, text in self._material.documents).holds_any(question)

    def is_candidate(self, question: PackQuestion) -> bool:
        """Whether a plain search ranks evidence among its candidates."""
        lists = (self.bm25(question), self.dense(question))
        return any(Content.of(ranked[:CANDIDATES]).holds_any(question) for ranked in lists)
