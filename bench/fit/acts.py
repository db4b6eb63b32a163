"""Fit the network that tells what a later statement does to a fact: end it, take it back, or nothing.

    python -m bench.fit.acts

It sees the vector of a sentence, V and N masked. Prints what a network fitted to one half says of the verbs of the
other; the one that is written is fitted to both.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np

from agents.core.language.contradiction import OF_VECTORS, Network, unpacked
from agents.core.retrieval.acts import LABELS, MASK, SURE, plain, probabilities
from bench.fit.contradiction import SEED, packed, trained
from bench.fit.fitting import WEIGHTS, measures
from streams.stores.passages.vectors import UseEmbedder

DATA = Path(__file__).parent / "data" / "acts.tsv"
EPOCHS = 200


@dataclass(frozen=True)
class Sentence:
    half: str
    act: str | None
    text: str
    vector: list[float]


def read() -> list[Sentence]:
    """The sentences of both halves, their values and things masked as the product masks them."""
    rows = []
    for line in DATA.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            lang, half, act, said = line.split("\t")
            words = (MASK[lang] if word.strip(",.!?") in ("V", "N") else word for word in said.split())
            rows.append((half, None if act == "none" else act, plain(" ".join(words), lang)))
    vectors = UseEmbedder().encode([row[-1] for row in rows])
    return [Sentence(*row, vector) for row, vector in zip(rows, vectors, strict=True)]


def fit(said: Sequence[Sentence]) -> dict[str, Any]:
    """The network fitted to some sentences, as it is written."""
    seen = np.array([each.vector for each in said], "f4") * np.float32(OF_VECTORS)
    wanted = np.eye(len(LABELS), dtype="f4")[[LABELS.index(each.act) for each in said]]
    return packed(trained(seen, wanted, np.random.default_rng(SEED), EPOCHS))


def held_out(said: Sequence[Sentence], by: Network) -> dict[str, dict[str, float]]:
    """What a network says of sentences that it was not fitted to, by act."""
    judged = [(probabilities(each.vector, by), each.act) for each in said]
    return {
        str(act): measures([(probability[place] - SURE, wanted == act) for probability, wanted in judged])
        for place, act in enumerate(LABELS)
        if act is not None
    }


def main() -> None:
    said = read()
    half = unpacked(fit([each for each in said if each.half == "fit"]))
    measured = held_out([each for each in said if each.half == "report"], half)
    print(json.dumps(measured))
    written = {
        "says": "what a statement does to the fact that it is about, by its vector",
        "fitted_on": {"acts": "Apache-2.0"},
        "script": "bench/fit/acts.py",
        "date": datetime.now(UTC).date().isoformat(),
        "held_out": measured,
        **fit(said),
    }
    (WEIGHTS / "acts.json").write_text(f"{json.dumps(written, indent=1)}\n", "utf-8")


if __name__ == "__main__":
    main()
