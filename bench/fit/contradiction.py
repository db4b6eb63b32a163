"""Fit `agents/core/weights/contradiction.json`: a small network over the vectors of two sentences.

    python -m bench.fit.contradiction DATA_FOLDER [--write]

Prints what folds not fitted on come to, and with the table as it is what our own pairs of `bench/contradiction` do.

Fitted to the contradiction set of the evaluation kit's dev side (InferBR, MIT). The hypotheses of that set give their
label away, as people write a denial like a denial; so a quarter as many pairs as there are stand beside the premise of
another group, and are neutral; so are as many as a twentieth, denials beside a premise that shares a word with them and
is of something else. What is reported is what the product's own code says with the eight-bit weights, each fold judged
by a network fitted to the others; premises and hypotheses of a group are in one fold.
"""

import base64
import gzip
import json
import os
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np

from agents.core.language import contradiction
from agents.core.language.contradiction import LABELS, EmbeddedSentence, RelationProbabilities
from streams.stores.passages.vectors import UseEmbedder

TABLE = Path(contradiction.__file__).parents[1] / "weights" / "contradiction.json"
OWN = Path(__file__).parents[1] / "contradiction" / "pairs.tsv"
FOLDS, SEED = 5, 0
HIDDEN, EPOCHS, BATCH, RATE = 24, 40, 128, 1e-3
LEFT_OUT_OF_INPUTS, LEFT_OUT_OF_UNITS = 0.3, 0.3
STRANGERS, OF_OTHER_THINGS = 0.25, 0.05
TOGETHER = 32
STEPS = 127

Item = dict[str, Any]
Weights = list[Any]


class Pairs:
    """The items with the vectors of their sentences."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        texts = list(dict.fromkeys(item[side] for item in items for side in ("premise", "hypothesis")))
        embedder = UseEmbedder()
        self._sentences: dict[str, EmbeddedSentence] = {}
        for at in range(0, len(texts), TOGETHER):
            some = texts[at : at + TOGETHER]
            self._sentences.update(zip(some, map(EmbeddedSentence, some, embedder.encode(some)), strict=True))

    def pair(self, premise_of: int, hypothesis_of: int) -> tuple[EmbeddedSentence, EmbeddedSentence]:
        """The premise of one item beside the hypothesis of another."""
        items = self.items
        return self._sentences[items[premise_of]["premise"]], self._sentences[items[hypothesis_of]["hypothesis"]]

    def inputs(self, pairs: Sequence[tuple[int, int]]) -> Any:
        """What the network sees of each pair, a row a pair."""
        # Row by row: as lists of numbers all of them would take a gigabyte.
        return np.stack([np.array(_seen(*self.pair(*each)), "f4") for each in pairs])


def _seen(premise: EmbeddedSentence, hypothesis: EmbeddedSentence) -> list[float]:
    read = contradiction.readings(premise.text, hypothesis.text)
    return contradiction.inputs(*read, premise.vector, hypothesis.vector)


def read(folder: Path) -> Iterator[Item]:
    with gzip.open(folder / "contradiction.dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def fit(pairs: Pairs, known: Sequence[int]) -> dict[str, Any]:
    """The network fitted to some of the items, as it is written."""
    chance = np.random.default_rng(SEED)
    items = pairs.items
    drawn = chance.choice(known, (int(STRANGERS * len(known)), 2)).tolist()
    strangers = [(a, b) for a, b in drawn if items[a]["group"] != items[b]["group"]]
    strangers += islice(of_other_things(pairs, known, chance), int(OF_OTHER_THINGS * len(known)))
    labels = [LABELS.index(items[each]["label"]) for each in known] + [LABELS.index("neutral")] * len(strangers)
    seen = pairs.inputs([*((each, each) for each in known), *strangers])
    return packed(trained(seen, np.eye(len(LABELS), dtype="f4")[labels], chance))


def of_other_things(pairs: Pairs, known: Sequence[int], chance: Any) -> Iterator[tuple[int, int]]:
    """Premises beside denials of another group that share a word with them and at most half: of something else."""
    read = {each: contradiction.readings(*(one.text for one in pairs.pair(each, each))) for each in known}
    premises: dict[str, list[int]] = {}
    for each, (premise, _) in read.items():
        for word in () if premise.negated else premise.content:
            premises.setdefault(word, []).append(each)
    denials = [each for each, (premise, denial) in read.items() if denial.negated and not premise.negated]
    while denials:
        denial = denials[chance.integers(len(denials))]
        content = read[denial][1].content
        beside = [each for word in sorted(content) for each in premises.get(word, ())]
        if not beside:
            continue
        premise = beside[chance.integers(len(beside))]
        is_other = pairs.items[premise]["group"] != pairs.items[denial]["group"]
        if is_other and 2 * len(content & read[premise][0].content) <= len(content):
            yield premise, denial


def trained(seen: Any, wanted: Any, chance: Any, epochs: int = EPOCHS) -> Weights:
    """Weights and biases of both layers: Adam, dropout, a rate that falls to nothing."""
    many, inputs = seen.shape
    shapes = ((inputs, HIDDEN), (HIDDEN,), (HIDDEN, len(LABELS)), (len(LABELS),))
    weights = [
        (chance.standard_normal(shape) * (2 / shape[0]) ** 0.5 if len(shape) > 1 else np.zeros(shape)).astype("f4")
        for shape in shapes
    ]
    first, second = ([np.zeros_like(each) for each in weights] for _ in range(2))
    steps = epochs * (many // BATCH)
    for step in range(1, steps + 1):
        place = (step - 1) % (many // BATCH)
        if place == 0:
            order = chance.permutation(many)
        batch = order[place * BATCH : (place + 1) * BATCH]
        slopes = _slopes(weights, seen[batch], wanted[batch], chance)
        for each, slope, mean, square in zip(weights, slopes, first, second, strict=True):
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope**2 - square)
            size = np.sqrt(square / (1 - 0.999**step)) + 1e-8
            each -= (RATE * (1 - step / steps) * mean / (1 - 0.9**step) / size).astype("f4")
    return weights


def _slopes(weights: Weights, seen: Any, wanted: Any, chance: Any) -> Weights:
    into, into_bias, out, out_bias = weights
    seen = seen * _kept(seen.shape, LEFT_OUT_OF_INPUTS, chance)
    sums = seen @ into + into_bias
    kept = _kept(sums.shape, LEFT_OUT_OF_UNITS, chance)
    units = np.maximum(sums, 0) * kept
    totals = units @ out + out_bias
    powers = np.exp(totals - totals.max(1, keepdims=True))
    wrong = (powers / powers.sum(1, keepdims=True) - wanted) / len(seen)
    back = (wrong @ out.T) * kept * (sums > 0)
    return [seen.T @ back, back.sum(0), units.T @ wrong, wrong.sum(0)]


def _kept(shape: tuple[int, ...], left_out: float, chance: Any) -> Any:
    return (chance.random(shape, dtype="f4") > left_out) / np.float32(1 - left_out)


def packed(weights: Weights) -> dict[str, Any]:
    """The network as it is written: eight bits a weight, a scale for each unit."""
    into, into_bias, out, out_bias = weights
    scales = np.abs(into).max(0) / STEPS
    return {
        "scales": [float(f"{scale:.5g}") for scale in scales],
        "hidden_bias": _rounded(into_bias),
        "out": [_rounded(row) for row in out.T],
        "out_bias": _rounded(out_bias),
        "hidden": [
            base64.b64encode(np.rint(row / scale).astype("i1").tobytes()).decode()
            for row, scale in zip(into.T, scales, strict=True)
        ],
    }


def _rounded(row: Any) -> list[float]:
    return [round(float(each), 4) for each in row]


def cross_validated(pairs: Pairs) -> tuple[list[RelationProbabilities], list[RelationProbabilities]]:
    """Each item judged by a network fitted to the other folds, with its own premise and with that of another item."""
    items = pairs.items
    fold_of = {group: at % FOLDS for at, group in enumerate(sorted({item["group"] for item in items}))}
    own: list[RelationProbabilities] = [contradiction.NOTHING] * len(items)
    others = list(own)
    for fold in range(FOLDS):
        held = [at for at, item in enumerate(items) if fold_of[item["group"]] == fold]
        network = contradiction.unpacked(
            fit(pairs, [at for at in range(len(items)) if fold_of[items[at]["group"]] != fold])
        )
        shuffled = np.random.default_rng(SEED).permutation(held).tolist()
        for at, other in zip(held, shuffled, strict=True):
            own[at] = contradiction.judged(*pairs.pair(at, at), network)
            others[at] = contradiction.judged(*pairs.pair(other, at), network)
    return own, others


def report(
    items: Sequence[Item], own: Sequence[RelationProbabilities], others: Sequence[RelationProbabilities]
) -> dict[str, float]:
    """What the labels are worth, and what those of shuffled premises come to."""
    gold = [item["label"] for item in items]
    said, strange = [each.label for each in own], [each.label for each in others]
    return {
        "f1": _f1(gold, said, "contradiction"),
        "macro_f1": round(sum(_f1(gold, said, label) for label in LABELS) / len(LABELS), 3),
        "f1_shuffled_premises": _f1(gold, strange, "contradiction"),
        "false_on_neutral": _share(gold, said, "neutral"),
        "false_on_entailment": _share(gold, said, "entailment"),
    }


def own_pairs() -> dict[str, dict[str, float]]:
    """Of each set of our own pairs, what `judged` and what `against` find, and what they call falsely."""
    lines = [line.split("\t") for line in OWN.read_text("utf-8").splitlines()]
    embedder = UseEmbedder()
    found: dict[tuple[str, str, str], list[bool]] = {}
    for name, _, label, *texts in lines:
        one, other = map(EmbeddedSentence, texts, embedder.encode(texts))
        judged = contradiction.judged(one, other).label == "contradiction"
        found.setdefault((name, "judged", label), []).append(judged)
        found.setdefault((name, "against", label), []).append(contradiction.against(one, other) > 0)
    shares = {key: round(sum(each) / len(each), 3) for key, each in found.items()}
    return {
        f"{name}, {how}": {
            "recall": shares[name, how, "contradiction"],
            "false_on_neutral": shares[name, how, "neutral"],
        }
        for name, how, label in shares
        if label == "neutral"
    }


def _f1(gold: Sequence[str], said: Sequence[str], label: str) -> float:
    right = sum(one == other == label for one, other in zip(gold, said, strict=True))
    return round(2 * right / (gold.count(label) + said.count(label) or 1), 3)


def _share(gold: Sequence[str], said: Sequence[str], label: str) -> float:
    found = [other == "contradiction" for one, other in zip(gold, said, strict=True) if one == label]
    return round(sum(found) / len(found), 3)


def main(arguments: Sequence[str]) -> None:
    pairs = Pairs([*read(Path(arguments[0]))])
    measured = report(pairs.items, *cross_validated(pairs))
    print(json.dumps(measured))
    if "--write" in arguments:
        made = {**ORIGIN, "cross_validated": measured, **fit(pairs, range(len(pairs.items)))}
        TABLE.write_text(json.dumps(made, indent=1) + "\n", "utf-8")
    print(json.dumps(own_pairs(), indent=1))


ORIGIN = {
    "says": "that a sentence contradicts another, follows from it, or neither",
    "fitted_on": {"inferbr": "MIT"},
    "data": "InferBR, Bencke et al., LREC-COLING 2024, github.com/lbencke/InferBR",
    "script": "bench/fit/contradiction.py",
    "inputs": "contradiction.inputs: differences, products, both vectors, of_words",
}

if __name__ == "__main__":
    main(sys.argv[1:])
