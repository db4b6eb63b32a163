"""Whether one sentence contradicts another, by their words and their sentence vectors. Portuguese and English.

Two signs: a shallow negation of what the other sentence says, and a small network over the pair of vectors whose
weights (`weights/contradiction.json`) are made by `bench/fit/contradiction.py`. It is fitted to sentences beside
premises that are not theirs, too, so that a hypothesis which sounds like a denial is none by itself.
"""

import base64
import json
import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from math import exp
from operator import mul
from typing import Literal

from agents.core.language import text
from agents.core.language.lexicons import lexicon
from schemas.base import JsonObject

Label = Literal["entailment", "neutral", "contradiction"]
Vector = Sequence[float]
LABELS: tuple[Label, ...] = ("contradiction", "entailment", "neutral")

# How sure the network must be: of a hundred neutral pairs it was not fitted to it calls three contradictions.
SURE = 0.65
# What is negated must stand on the other side by half, and the sentences must be near.
COVERED, NEAR = 0.5, 0.6
# These bring every input to a like size, as one scale of eight bits is to serve a whole row of weights.
OF_DIFFERENCES, OF_PRODUCTS, OF_VECTORS, OF_WORDS = 8.0, 64.0, 8.0, 2.0
MAX_LEFT = 10
# The numbers of a vector that the weights are for; those of another encoder say nothing here.
SIZE = 512
# The share of the pairs of InferBR that are contradictions where all that is denied stands on the other side.
DENIED = 0.95
# A capital inside a sentence, a number, or what Portuguese writes small and English does not.
_NAME = re.compile(r"(?<=[^.!?\s] )[A-ZÀ-Ý]\w+|\b\d[\w.,:/-]*")


@dataclass(frozen=True, slots=True)
class EmbeddedSentence:
    """A text and its vector, of unit length."""

    text: str
    vector: Vector


@dataclass(frozen=True, slots=True)
class RelationProbabilities:
    """How likely each relation of two sentences is; `negated`: one denies by a negation word what the other says."""

    contradiction: float
    entailment: float
    neutral: float
    negated: bool = False

    @property
    def label(self) -> Label:
        """The relation; a contradiction only where it is sure."""
        if self.negated or self.contradiction > SURE:
            return "contradiction"
        return "entailment" if self.entailment > self.neutral else "neutral"

    @property
    def score(self) -> float:
        """How likely a contradiction is, by either sign."""
        return max(self.contradiction, DENIED * self.negated)


NOTHING = RelationProbabilities(0.0, 0.0, 1.0)
SAME = RelationProbabilities(0.0, 1.0, 0.0)


@dataclass(frozen=True, slots=True)
class SentenceFeatures:
    """What a sentence says: its content words as stems, its numbers, and whether and how it denies."""

    words: tuple[str, ...]
    content: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    negated: bool
    denying: bool


@dataclass(frozen=True, slots=True)
class Network:
    """One hidden layer: a row of weights and a bias for each unit, and of each label for each unit."""

    hidden: tuple[tuple[float, ...], ...]
    hidden_bias: tuple[float, ...]
    out: tuple[tuple[float, ...], ...]
    out_bias: tuple[float, ...]

    def probabilities(self, inputs: Sequence[float]) -> tuple[float, ...]:
        """How likely each of `LABELS` is."""
        units = [
            max(0.0, bias + sum(map(mul, row, inputs))) for row, bias in zip(self.hidden, self.hidden_bias, strict=True)
        ]
        totals = [bias + sum(map(mul, row, units)) for row, bias in zip(self.out, self.out_bias, strict=True)]
        most = max(totals)
        powers = [exp(total - most) for total in totals]
        return tuple(power / sum(powers) for power in powers)


def judged(premise: EmbeddedSentence, hypothesis: EmbeddedSentence, by: Network | None = None) -> RelationProbabilities:
    """How two sentences relate, the first being taken as said; by the fitted network, unless another one is given.

    Total and bounded in time. A text without words contradicts nothing.
    """
    one, other = readings(premise.text, hypothesis.text)
    if not one.words or not other.words:
        return NOTHING
    if one.words == other.words:
        return SAME
    against, follows, neither = (by or network()).probabilities(inputs(one, other, premise.vector, hypothesis.vector))
    near = cosine(premise.vector, hypothesis.vector) > NEAR
    return RelationProbabilities(against, follows, neither, near and denied(one, other) >= COVERED)


def against(one: EmbeddedSentence, other: EmbeddedSentence) -> float:
    """How likely it is that two statements cannot both hold, whichever was made first; 0 wherever there is a doubt.

    For what is shown to people: far fewer than `judged` finds, and fewer of them wrong. A denial must deny all that it
    says of the other, and a name or a number that only one of them has must not stand against another one.
    """
    first, second = readings(one.text, other.text)
    if cosine(one.vector, other.vector) <= NEAR or _of_others(first, second):
        return 0.0
    if first.negated != second.negated:
        return DENIED if denied(first, second) == 1.0 else 0.0
    sure = min(judged(one, other).contradiction, judged(other, one).contradiction)
    return sure if sure > SURE else 0.0


def _of_others(one: SentenceFeatures, other: SentenceFeatures) -> bool:
    return bool(one.names - other.names) and bool(other.names - one.names)


def readings(premise: str, hypothesis: str) -> tuple[SentenceFeatures, SentenceFeatures]:
    """Both sentences, read in the language of the two together."""
    premise, hypothesis = text.clip(premise), text.clip(hypothesis)
    lang = text.identify_language(f"{premise} {hypothesis}", "pt")
    return _reading(premise, lang), _reading(hypothesis, lang)


@lru_cache(maxsize=1_024)
def _reading(sentence: str, lang: str) -> SentenceFeatures:
    words = text.words(sentence)
    # The Portuguese `no` is `in the`.
    negations = {
        word for word in words if word in _words("negations") or word.endswith("n't") or (lang, word) == ("en", "no")
    }
    bare, denying = _words("there_is") | _words("without"), tuple(_words("denying"))
    content = [word for word in text.surface_terms(sentence, lang) if text.fold(word) not in bare]
    numbers = _numbers()
    return SentenceFeatures(
        words,
        frozenset(text.stem(word, lang) for word in content if text.fold(word) not in negations),
        frozenset(numbers.get(word, word) for word in words if word in numbers or word.isdigit()),
        frozenset(map(text.fold, _NAME.findall(sentence))) | _words("calendar").intersection(words),
        bool(negations),
        any(word in _words("without") or word.startswith(denying) for word in words),
    )


@cache
def _words(section: str) -> frozenset[str]:
    return lexicon("contradiction").words(section)


@cache
def _numbers() -> Mapping[str, str]:
    return lexicon("contradiction").rows("numbers")


def denied(one: SentenceFeatures, other: SentenceFeatures) -> float:
    """The share of what the negated one of two sentences says that the other says too; 0 where not just one denies."""
    if one.negated == other.negated:
        return 0.0
    negated, plain = (one, other) if one.negated else (other, one)
    return 0.0 if plain.denying else _share(negated.content, plain.content)


def inputs(one: SentenceFeatures, other: SentenceFeatures, u: Vector, v: Vector) -> list[float]:
    """What the network sees of a pair."""
    return [
        *(OF_DIFFERENCES * abs(a - b) for a, b in zip(u, v, strict=True)),
        *(OF_PRODUCTS * a * b for a, b in zip(u, v, strict=True)),
        *(OF_VECTORS * a for a in u),
        *(OF_VECTORS * b for b in v),
        *(OF_WORDS * each for each in of_words(one, other, cosine(u, v))),
    ]


def of_words(one: SentenceFeatures, other: SentenceFeatures, near: float) -> tuple[float, ...]:
    """What the words of a pair tell, each 0-1: who denies, how much is shared, which numbers differ."""
    alone = one.negated != other.negated
    covered = _share(other.content, one.content)
    return (
        near,
        near * covered,
        near * alone,
        covered,
        covered * alone,
        _share(one.content, other.content),
        denied(one, other),
        float(alone),
        float(one.negated),
        float(other.negated),
        float(one.negated and other.negated),
        float(one.denying),
        float(other.denying),
        float(bool(one.numbers and other.numbers and one.numbers != other.numbers)),
        min(len(one.content - other.content), MAX_LEFT) / MAX_LEFT,
        min(len(other.content - one.content), MAX_LEFT) / MAX_LEFT,
    )


def cosine(u: Vector, v: Vector) -> float:
    """How near two unit vectors are."""
    return float(sum(map(mul, u, v)))


def _share(some: frozenset[str], of: frozenset[str]) -> float:
    return len(some & of) / len(some) if some else 0.0


@lru_cache(maxsize=1)
def network() -> Network:
    """The fitted weights, read once."""
    return unpacked(
        json.loads(resources.files("agents.core").joinpath("weights/contradiction.json").read_text("utf-8"))
    )


def unpacked(written: JsonObject) -> Network:
    """The network of a table as it is written: eight bits a weight, a scale for each unit."""
    return Network(
        tuple(_row(row, scale) for row, scale in zip(written["hidden"], written["scales"], strict=True)),
        tuple(written["hidden_bias"]),
        tuple(map(tuple, written["out"])),
        tuple(written["out_bias"]),
    )


def _row(packed: str, scale: float) -> tuple[float, ...]:
    return tuple(scale * weight for weight in array("b", base64.b64decode(packed)))
