"""Fit the weights that tell what a later statement does to a fact: end it, take it back, or nothing.

    python -m bench.fit.acts

The features are the numbers of a sentence's vector, V and N masked. Prints what a table fitted to one half says of the
verbs of the other; the one that is written is fitted to both.
"""

import os
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from agents.core.retrieval.acts import MASK, SURE, Act, plain
from bench.fit.fitting import Fitted, Sample, fit, measures, write
from streams.stores.passages.vectors import UseEmbedder

DATA = Path(__file__).parent / "data" / "acts.tsv"
ROWS = 512
STRENGTH = 50.0


@dataclass(frozen=True)
class Sentence:
    half: str
    act: str
    number: int
    text: str
    vector: list[float]


def read() -> list[Sentence]:
    """The sentences of both halves, their values and things masked as the product masks them."""
    rows = []
    for number, line in enumerate(DATA.read_text("utf-8").splitlines()):
        if not line.startswith("#"):
            lang, half, act, said = line.split("\t")
            words = (MASK[lang] if word.strip(",.!?") in ("V", "N") else word for word in said.split())
            rows.append((half, act, number, plain(" ".join(words), lang)))
    vectors = UseEmbedder().encode([row[-1] for row in rows])
    return [Sentence(*row, vector) for row, vector in zip(rows, vectors, strict=True)]


def table_of(said: list[Sentence], act: Act) -> Fitted:
    samples = [
        Sample({str(at): x for at, x in enumerate(each.vector)}, each.act == act, str(each.number), each.text)
        for each in said
    ]
    return fit(samples, strength=STRENGTH, rows=ROWS, balanced=False)


def main() -> None:
    said = read()
    for act, least in SURE.items():
        half = table_of([each for each in said if each.half == "fit"], act)
        judged = [
            (half.bias + sum(weight * each.vector[int(at)] for at, weight in half.weights.items()) - least, each)
            for each in said
            if each.half == "report"
        ]
        known = measures([(total, each.act == act) for total, each in judged])
        print(act, known, sorted({each.text for total, each in judged if total > 0 and each.act != act})[:12])
        fitted = table_of(said, act)
        write(
            act,
            f"that a statement {act} the fact that it is about, by the numbers of its vector",
            Fitted(fitted.bias, fitted.weights, known),
            sets={"acts": "Apache-2.0"},
            script="bench/fit/acts.py",
        )


if __name__ == "__main__":
    main()
