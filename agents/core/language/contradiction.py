"""Contradiction between two sentences, by their words and their sentence vectors. Portuguese and English.

Two kinds of evidence: a shallow negation or an opposite of the other sentence, and a small network over the pair of
vectors, whose weights (`weights/contradiction.json`) are made by `bench/fit/contradiction.py`. It is also fitted to
sentences beside unrelated premises, so that a hypothesis that merely sounds like a denial is not a contradiction, and
to denials beside premises of the same subject, as the denial of another thing is none.
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

from agents.core.caching.texts import text_cache
from agents.core.language import text
from agents.core.language.identification import identify_language
from agents.core.language.lexicons import lexicon
from schemas.base import JsonObject

Label = Literal["entailment", "neutral", "contradiction"]
Vector = Sequence[float]
LABELS: tuple[Label, ...] = ("contradiction", "entailment", "neutral")

# The network's threshold: at it, 3 of 100 neutral pairs outside the fitting data are called contradictions.
SURE = 0.65
# The minimum share of negated words found on the other side, and the minimum similarity of the sentences.
COVERED, NEAR = 0.5, 0.6
# The minimum share of their other words that sentences with opposites have in common.
SAME_OTHERWISE = 0.66
# These scale all inputs to a similar size, since a row of weights shares one 8-bit scale.
OF_DIFFERENCES, OF_PRODUCTS, OF_VECTORS, OF_WORDS = 8.0, 64.0, 8.0, 2.0
MAX_LEFT = 10
# The vector size the weights are for; vectors of another encoder cannot be judged.
SIZE = 512
# The share of contradictions among InferBR pairs whose denied words all occur on the other side.
DENIED = 0.95
# A capital inside a sentence, or a number; calendar words (small in Portuguese) come from the lexicon.
_NAME = re.compile(r"(?<=[^.!?\s] )[A-ZÀ-Ý]\w+|\b\d[\w.,:/-]*")


@dataclass(frozen=True, slots=True)
class EmbeddedSentence:
    """A text and its vector, of unit length."""

    text: str
    vector: Vector


@dataclass(frozen=True, slots=True)
class RelationProbabilities:
    """The probability of each relation of two sentences; `negated`: one denies the other by a negation or by an
    opposite."""

    contradiction: float
    entailment: float
    neutral: float
    negated: bool = False

    @property
    def label(self) -> Label:
        """The most probable relation; a contradiction only above the threshold."""
        if self.negated or self.contradiction > SURE:
            return "contradiction"
        return "entailment" if self.entailment > self.neutral else "neutral"

    @property
    def score(self) -> float:
        """The probability of a contradiction, by either kind of evidence."""
        return max(self.contradiction, DENIED * self.negated)


NOTHING = RelationProbabilities(0.0, 0.0, 1.0)
SAME = RelationProbabilities(0.0, 1.0, 0.0)


@dataclass(frozen=True, slots=True)
class SentenceFeatures:
    """The features of a sentence: its content words as stems, its numbers, and whether and how it denies."""

    words: tuple[str, ...]
    content: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    negated: bool
    denying: bool


@dataclass(frozen=True, slots=True)
class Network:
    """A network with one hidden layer: weights and bias of each unit, and of each label."""

    hidden: tuple[tuple[float, ...], ...]
    hidden_bias: tuple[float, ...]
    out: tuple[tuple[float, ...], ...]
    out_bias: tuple[float, ...]

    def probabilities(self, inputs: Sequence[float]) -> tuple[float, ...]:
        """The probability of each of `LABELS`."""
        units = [
            max(0.0, bias + sum(map(mul, row, inputs))) for row, bias in zip(self.hidden, self.hidden_bias, strict=True)
        ]
        totals = [bias + sum(map(mul, row, units)) for row, bias in zip(self.out, self.out_bias, strict=True)]
        most = max(totals)
        powers = [exp(total - most) for total in totals]
        return tuple(power / sum(powers) for power in powers)


def judged(premise: EmbeddedSentence, hypothesis: EmbeddedSentence, by: Network | None = None) -> RelationProbabilities:
    """The relation of a hypothesis to a premise, by the fitted network unless another one is given.

    Total and bounded in time. A text without words contradicts nothing.
    """
    one, other = readings(premise.text, hypothesis.text)
    if not one.words or not other.words:
        return NOTHING
    if one.words == other.words:
        return SAME
    against, follows, neither = (by or network()).probabilities(inputs(one, other, premise.vector, hypothesis.vector))
    near = cosine(premise.vector, hypothesis.vector) > NEAR
    denies = (near and denied(one, other) >= COVERED) or opposed(one, other) >= SAME_OTHERWISE
    return RelationProbabilities(against, follows, neither, denies)


def against(one: EmbeddedSentence, other: EmbeddedSentence) -> float:
    """The probability that two statements cannot both hold, symmetric; 0 in case of doubt.

    For display to people: stricter than `judged`, with fewer results, of which fewer are false. A denial must deny
    all of the other statement, and it is 0 where each has names or numbers that the other lacks.
    """
    first, second = readings(one.text, other.text)
    if cosine(one.vector, other.vector) <= NEAR or _of_others(first, second):
        return 0.0
    if first.negated != second.negated or opposed(first, second):
        return DENIED if max(denied(first, second), opposed(first, second)) == 1.0 else 0.0
    sure = min(judged(one, other).contradiction, judged(other, one).contradiction)
    return sure if sure > SURE else 0.0


def _of_others(one: SentenceFeatures, other: SentenceFeatures) -> bool:
    return bool(one.names - other.names) and bool(other.names - one.names)


def readings(premise: str, hypothesis: str) -> tuple[SentenceFeatures, SentenceFeatures]:
    """The features of both sentences, in their common language."""
    premise, hypothesis = text.clip(premise), text.clip(hypothesis)
    lang = identify_language(f"{premise} {hypothesis}", "pt")
    return _reading(premise, lang), _reading(hypothesis, lang)


@text_cache(1_024)
def _reading(sentence: str, lang: str) -> SentenceFeatures:
    words = text.words(sentence)
    # The Portuguese `no` means `in the`.
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
    """The share of the negated sentence's content that the other states, 0-1; 0 unless exactly one of them denies."""
    if one.negated == other.negated:
        return 0.0
    negated, plain = (one, other) if one.negated else (other, one)
    return 0.0 if plain.denying else _share(negated.content, plain.content)


def opposed(one: SentenceFeatures, other: SentenceFeatures) -> float:
    """The share of their other content that two sentences have in common, 0-1; 0 unless they say opposites."""
    if one.negated != other.negated:
        return 0.0
    first, second = frozenset(one.words), frozenset(other.words)
    sides = [(left & first, right & first, left & second, right & second) for left, right in _opposites()]
    if not any((a and not b and d and not c) or (b and not a and c and not d) for a, b, c, d in sides):
        return 0.0
    rest = min(len(one.content), len(other.content)) - 1
    return min(1.0, len(one.content & other.content) / rest) if rest > 0 else 0.0


@cache
def _opposites() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    rows = lexicon("contradiction").rows("opposites").items()
    return tuple((frozenset(left.split()), frozenset(right.split())) for left, right in rows)


def inputs(one: SentenceFeatures, other: SentenceFeatures, u: Vector, v: Vector) -> list[float]:
    """The network's inputs for a pair."""
    return [
        *(OF_DIFFERENCES * abs(a - b) for a, b in zip(u, v, strict=True)),
        *(OF_PRODUCTS * a * b for a, b in zip(u, v, strict=True)),
        *(OF_VECTORS * a for a in u),
        *(OF_VECTORS * b for b in v),
        *(OF_WORDS * each for each in of_words(one, other, cosine(u, v))),
    ]


def of_words(one: SentenceFeatures, other: SentenceFeatures, near: float) -> tuple[float, ...]:
    """The word features of a pair, each 0-1: negations, overlap, different numbers."""
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
    """The cosine similarity of two unit vectors."""
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
    """The network from its stored form: 8 bits per weight, one scale per unit."""
    return Network(
        tuple(_row(row, scale) for row, scale in zip(written["hidden"], written["scales"], strict=True)),
        tuple(written["hidden_bias"]),
        tuple(map(tuple, written["out"])),
        tuple(written["out_bias"]),
    )


def _row(packed: str, scale: float) -> tuple[float, ...]:
    return tuple(scale * weight for weight in array("b", base64.b64decode(packed)))
