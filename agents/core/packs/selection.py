"""Selection of a pack's evidence within its budget: one rule for documents, turns, claims, events and processes.

What comes and goes together is a unit: a correction and what it corrects, a process and its steps. Its gain is the
probability that it brings what those chosen before it do not. Units are chosen by gain until the next one is worth
less than its tokens, and taken within the budget by gain per token. A short correct answer is better than a full
budget.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from agents.core.language.question_parts import question_parts
from agents.core.retrieval.search_terms import question_terms
from schemas.items import Item
from schemas.retrieval import MemoryClass

Kind = Literal["document", "turn", "claim", "event", "process"]
Why = Literal["duplicate", "little_worth", "budget"]


class GainWeights(NamedTuple):
    """The log odds of a gain: by the odds that a unit helps, its place among those of its kind, the share of the
    question's words that it adds, and the words that it states.

    Acknowledgements and questions state little, and seldom answer, however near they are.
    """

    trust: float
    place: float
    words: float
    stated: float
    bias: float


# Fitted to the evidence of recorded packs: of one half of the questions, tried on the other.
DOCUMENTS = GainWeights(trust=0.6, place=-1.5, words=0.8, stated=0.0, bias=2.0)
TURNS = GainWeights(trust=0.15, place=-1.4, words=0.7, stated=0.8, bias=-1.35)
WEIGHTS: Mapping[Kind, GainWeights] = {
    "document": DOCUMENTS, "claim": DOCUMENTS, "process": DOCUMENTS, "turn": TURNS, "event": TURNS,
}  # fmt: skip
# The gain that a token has to bring, and the tokens of a source's name.
MIN_GAIN_PER_TOKEN = 5e-4
SOURCE_TOKENS = 6
# What is less likely beside the likeliest of its kind has nothing to do with the question.
MIN_SHARE: Mapping[Kind, float] = {"document": 0.005, "claim": 0.005, "process": 0.005, "turn": 0.0, "event": 0.0}
# How much less a unit brings where likelier ones of its kind are probably enough.
REDUNDANCY = 0.35
# What is less likely is about something else, however little there is.
MIN_PROBABILITY = 0.001
# The score of a turn: how many words it states. Where it is not counted, about every third token is one.
STATED = "stated"


@dataclass(frozen=True, slots=True)
class AskedWords:
    """The words of a question with their shares of it, and the words of each of its parts."""

    shares: Mapping[str, float]
    parts: Sequence[frozenset[str]]

    @classmethod
    def of(cls, question: str, lang: str) -> "AskedWords":
        terms = question_terms(question, lang)
        total = sum(term.weight for term in terms) or 1.0
        parts = [frozenset(term.word for term in question_terms(part, lang)) for part in question_parts(question, lang)]
        return cls({term.word: term.weight / total for term in terms}, parts)

    def share(self, words: Iterable[str]) -> float:
        """The share of the question that some of its words are."""
        return sum(self.shares.get(word, 0.0) for word in words)

    def part(self, words: frozenset[str]) -> int:
        """The number of the part to which most of the words belong; 0 where there is one question."""
        shared = [self.share(words & part) for part in self.parts]
        return shared.index(max(shared)) if shared else 0


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """An item that may be in a pack: what it comes and goes with (`unit`), and what says the same (`twin`)."""

    memory: MemoryClass
    item: Item
    kind: Kind
    probability: float
    unit: str
    twin: str


@dataclass(slots=True, eq=False)
class _Unit:
    """Candidates that come and go together, as likely to help as the likeliest of them.

    `place`: how many of its kind are likelier; `open`: the probability that none of those helps; `share`: of the
    probability of the likeliest.
    """

    of: list[Candidate]
    best: Candidate
    covers: frozenset[str]
    tokens: int
    place: int = 0
    share: float = 1.0
    open: float = 1.0
    gain: float = 0.0


@dataclass(slots=True)
class SelectedEvidence:
    """The units that a pack keeps, the best first, and the candidates that it leaves out, each with the reason."""

    kept: list[list[Candidate]] = field(default_factory=list)
    left_out: list[tuple[Candidate, Why]] = field(default_factory=list)


def select(asked: AskedWords, candidates: Sequence[Candidate], budget: int | None = None) -> SelectedEvidence:
    """The candidates worth their tokens, within a budget; the best unit is kept even where it is larger."""
    found = SelectedEvidence()
    paying = _paying(asked, _units(asked, _without_twins(candidates, found)), found)
    left = budget
    for unit in [*paying[:1], *sorted(paying[1:], key=lambda unit: -unit.gain)]:
        if left is None or not found.kept or unit.tokens <= left:
            found.kept.append(unit.of)
            left = None if left is None else left - unit.tokens
        else:
            found.left_out += [(each, "budget") for each in unit.of]
    return found


def _without_twins(candidates: Sequence[Candidate], found: SelectedEvidence) -> list[Candidate]:
    """The candidates with one for each twin: the one that holds, the newest, the likeliest; as likely as any."""
    groups: dict[str, list[Candidate]] = {}
    for each in candidates:
        groups.setdefault(each.twin, []).append(each)
    distinct = []
    for group in groups.values():
        first = max(group, key=lambda each: (_holds(each.item), each.item.recorded_at, each.probability))
        found.left_out += [(each, "duplicate") for each in group if each is not first]
        distinct.append(replace(first, probability=max(each.probability for each in group)))
    return distinct


def _holds(item: Item) -> bool:
    return getattr(item, "holds", None) is not False


def _units(asked: AskedWords, candidates: Iterable[Candidate]) -> list[_Unit]:
    units: dict[str, _Unit] = {}
    for each in candidates:
        covered = frozenset(each.item.covers or ())
        unit = units.get(each.unit)
        if unit is None:
            units[each.unit] = _Unit([each], each, covered, each.item.tokens)
            continue
        unit.of.append(each)
        unit.covers |= covered
        unit.tokens += each.item.tokens
        if each.probability > unit.best.probability:
            unit.best = each
    likelier: dict[tuple[Kind, int], list[float]] = {}
    ordered = sorted(units.values(), key=lambda unit: (unit.best.item.recorded_at, unit.best.item.id), reverse=True)
    for unit in sorted(ordered, key=lambda unit: -unit.best.probability):
        part = asked.part(unit.covers)
        before = likelier.get((unit.best.kind, part), [])
        unit.place = len(before)
        unit.open = math.prod(1 - min(probability, 1.0) for probability in before)
        unit.share = unit.best.probability / (max(before, default=0.0) or unit.best.probability or 1.0)
        # A conflict between a claim and a passage is of both kinds.
        for kind in {each.kind for each in unit.of}:
            most = max(each.probability for each in unit.of if each.kind == kind)
            likelier.setdefault((kind, part), []).append(most)
    return list(units.values())


def _paying(asked: AskedWords, units: list[_Unit], found: SelectedEvidence) -> list[_Unit]:
    """The units worth their tokens, with the gain of each beside those before it; the best first."""
    paying: list[_Unit] = []
    covered: frozenset[str] = frozenset()
    while units:
        for unit in units:
            unit.gain = _gain(unit, asked.share(unit.covers - covered))
        unit = max(units, key=lambda each: (each.gain, each.best.item.recorded_at, each.best.item.id))
        units.remove(unit)
        if not paying or unit.gain >= MIN_GAIN_PER_TOKEN * (unit.tokens + SOURCE_TOKENS):
            paying.append(unit)
            covered |= unit.covers
        else:
            found.left_out += [(each, "little_worth") for each in unit.of]
    return paying


def _gain(unit: _Unit, words: float) -> float:
    weights = WEIGHTS[unit.best.kind]
    if unit.best.probability < MIN_PROBABILITY or unit.share < MIN_SHARE[unit.best.kind]:
        return 0.0
    probability = min(unit.best.probability, 1 - MIN_PROBABILITY)
    odds = weights.trust * math.log(probability / (1 - probability)) + weights.place * math.log1p(unit.place)
    stated = unit.best.item.scores.get(STATED, unit.tokens / 3)
    odds += weights.words * words + weights.stated * math.log1p(stated) + weights.bias
    return math.pow(unit.open, REDUNDANCY) / (1 + math.exp(-odds))
