"""Fit `agents/core/weights/relevance.json`: which features of a passage found tell that it answers the question.

    python -m bench.fit.relevance KIT [--look DATASET]

KIT is a file of JSON lines as `fathom eval packs` reads it. Fitted to are FaQuAD (CC BY 4.0) and oab-exams (MIT) of it,
and our own texts of `bench/fit/data/relevance.jsonl`; every corpus weighs the same. `--look` names another data set of
the file to be measured with the fitted table; it never goes into it. Negatives are what was found for a question and
does not answer it, for questions of other corpora, and for those that nothing answers. For turns, each sentence of
FaQuAD stands for a turn between its neighbours too, and the one that holds the answer is the one looked for.
"""

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from agents.core.retrieval import relevance
from agents.core.retrieval.relevance import Kind, RelevanceWeights
from agents.ports.passages import Hit, PassageQuery
from bench.fit.relevance_corpora import FITTED, NOW, Corpus, Question, read
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.stores.passages.vectors import UseEmbedder

# Of the best candidates the highest of each, and the average; the others are the same for all of them.
_HIGHEST = ("cover", "own", "dense", "reach", "unknown", "terms")
HIGHEST: dict[Kind, tuple[str, ...]] = {"documents": (*_HIGHEST, "heading"), "turns": _HIGHEST}
AVERAGE = ("cover", "own", "dense", "reach")
# Features go together and corpora are few: weights are held near nought.
STRENGTH = 0.1
# The share of questions of other corpora that may still bring something. Those put to talks are of other talks, and as
# much small talk as these.
BROUGHT: dict[Kind, float] = {"documents": 0.1, "turns": 0.15}
SHOWN, STRANGERS = 20, 60
# Exams tell a case before they ask.
LONG_CHARS = 200
TABLE = Path(__file__).parents[2] / "agents/core/weights/relevance.json"
COLLECTION: dict[Kind, str] = {"documents": "semantic", "turns": "episodic"}


@dataclass(frozen=True)
class Case:
    """A question put to a corpus: what was found, and which of it answers; `stranger` where it is another corpus's."""

    corpus: str
    kind: Kind
    stranger: bool
    hits: Sequence[Hit]
    right: Sequence[bool]


async def cases(index: QdrantEdgeIndex, known: Sequence[Corpus]) -> list[Case]:
    """Every corpus asked its own questions, and some of every other corpus of its kind."""
    for corpus in known:
        for start in range(0, len(corpus.passages), 40):
            await index.upsert(corpus.name, COLLECTION[corpus.kind], corpus.passages[start : start + 40])
    found = []
    for corpus in known:
        found += [await ask(index, corpus, question, stranger=False) for question in corpus.questions]
        others = [each for each in known if each is not corpus and each.name.split("-s")[0] not in corpus.name]
        same = strangers([each for each in others if each.kind == corpus.kind], corpus.passages[0].lang)
        found += [await ask(index, corpus, replace(question, right=frozenset()), stranger=True) for question in same]
    return found


def strangers(others: Sequence[Corpus], lang: str) -> list[Question]:
    """Questions of other corpora in a language, as many long ones as short ones where there are both."""
    asked = [question for corpus in others for question in corpus.questions if question.right and question.lang == lang]
    random.Random(2).shuffle(asked)
    pairs = zip_longest(*([q for q in asked if (len(q.text) > LONG_CHARS) is long] for long in (False, True)))
    return [question for pair in pairs for question in pair if question is not None][:STRANGERS]


async def ask(index: QdrantEdgeIndex, corpus: Corpus, question: Question, *, stranger: bool) -> Case:
    query = PassageQuery(question.text, question.lang, SHOWN, NOW, context=question.context)
    hits = await index.search(corpus.name, COLLECTION[corpus.kind], query)
    return Case(corpus.name, corpus.kind, stranger, hits, [hit.passage.id in question.right for hit in hits])


def evenly(names: Sequence[Any]) -> np.ndarray:
    """A weight for each name by which every name counts the same."""
    share = {name: 1 / count for name, count in Counter(names).items()}
    weights = np.array([share[name] for name in names])
    return np.asarray(weights * len(names) / weights.sum())


def data_set(corpus: str) -> str:
    """What counts as one: our own corpora together."""
    return "own" if corpus.startswith("own") else corpus


def telling(found: Iterable[Case]) -> list[Case]:
    """The questions that are answered among the first, and those of other corpora."""
    return [case for case in found if case.hits and (case.stranger or any(case.right[:10]))]


def weights_of(found: Sequence[Case], growth: float) -> RelevanceWeights:
    """The weights that tell where an answer is among the candidates; the rest of the table is still to be found."""
    told, names = telling(found), HIGHEST[found[0].kind]
    best = [[hit.scores for hit in case.hits[: relevance.BEST]] for case in told]
    values = np.array(
        [
            [max(scores[name] for scores in first) for name in names]
            + [sum(scores[name] for scores in first) / len(first) for name in AVERAGE]
            for first in best
        ]
    )
    answers = np.array([not case.stranger for case in told])
    grown = growth * np.array([max(first[0]["size"], relevance.LEAST_SIZE) for first in best])
    counts = evenly([(data_set(case.corpus), case.stranger) for case in told])
    weights, bias = logistic(values, answers, counts, grown)
    made = [round(float(weight), 2) for weight in weights]
    highest = dict(zip(names, made, strict=False))
    average = dict(zip(AVERAGE, made[len(names) :], strict=True))
    return RelevanceWeights(highest, average, round(float(bias), 2), growth, 0.0, 1.0, 1.0, 0.0)


def logistic(values: np.ndarray, answers: np.ndarray, counts: np.ndarray, less: np.ndarray) -> tuple[np.ndarray, float]:
    """Logistic regression, where what each case is known to come to `less` is given; weights and bias."""
    middle, spread = values.mean(0), values.std(0) + 1e-9
    scaled = (values - middle) / spread

    def loss(sought: np.ndarray) -> tuple[float, np.ndarray]:
        odds = scaled @ sought[1:] + sought[0] - less
        wrong = np.where(answers, np.logaddexp(0, -odds), np.logaddexp(0, odds))
        slope = counts * (1 / (1 + np.exp(-odds)) - answers)
        held = (sought[1:] ** 2).sum() / (2 * STRENGTH)
        return float((counts * wrong).sum() + held), np.concatenate(
            [[slope.sum()], scaled.T @ slope + sought[1:] / STRENGTH]
        )

    found = minimize(loss, np.zeros(values.shape[1] + 1), jac=True, method="L-BFGS-B").x
    weights = found[1:] / spread
    return weights, float(found[0] - (weights * middle).sum())


def growth_of(found: Sequence[Case], table: RelevanceWeights) -> float:
    """How much better the best of e times as many texts is that do not answer."""
    told = telling(found)
    best = [[relevance.answered(case.hits, table), case.hits[0].scores["size"]] for case in told]
    answers = [not case.stranger for case in told]
    counts = evenly([(case.corpus, case.stranger) for case in told])
    known = LogisticRegression(C=10.0, max_iter=5000).fit(np.array(best), answers, counts)
    return round(float(-known.coef_[0][1] / known.coef_[0][0]), 2)


def fitted(found: Sequence[Case], draft: RelevanceWeights, brought: float) -> RelevanceWeights:
    """The table with its floor, and each candidate's share of what the best come to."""
    strangers: dict[str, list[float]] = {}
    for case in found:
        if case.stranger and case.hits:
            strangers.setdefault(data_set(case.corpus), []).append(relevance.answered(case.hits, draft))
    floor = float(np.mean([np.quantile(each, 1 - brought) for each in strangers.values()]))
    places: list[list[float]] = []
    helps: list[Any] = []
    for case in found:
        odds = relevance.answered(case.hits, draft)
        places += [[odds, hit.score - case.hits[0].score] for hit in case.hits]
        helps += case.right
    counts = evenly([case.corpus for case in found for _ in case.hits])
    shares = LogisticRegression(C=1.0, max_iter=5000).fit(np.array(places), helps, counts)
    trust, place = (round(float(each), 2) for each in shares.coef_[0])
    prior = round(float(shares.intercept_[0]), 2)
    return replace(draft, floor=round(floor, 2), place=place, trust=trust, prior=prior)


def figures(name: str, found: Sequence[Case], table: RelevanceWeights) -> dict[str, Any]:
    """Of one corpus: where the right one stands, what the floor keeps, and what it lets in."""
    come_to = {id(case): relevance.answered(case.hits, table) for case in found}
    own_ = [case for case in found if any(case.right)]
    good = [come_to[id(case)] for case in own_ if any(case.right[:10])]
    strangers = [come_to[id(case)] for case in found if case.stranger]
    near = [come_to[id(case)] for case in found if not case.stranger and not any(case.right)]
    places = {f"in {most}": round(float(np.mean([any(case.right[:most]) for case in own_])), 3) for most in (1, 3, 10)}
    auc = roc_auc_score([1] * len(good) + [0] * len(strangers), good + strangers) if strangers else 0.0
    return {
        "corpus": name, "answerable": len(good), **places, "auc": round(auc, 3), "kept": above(good, table.floor),
        "strangers": above(strangers, table.floor), "near": above(near, table.floor),
    }  # fmt: skip


def above(odds: Sequence[float], floor: float) -> float:
    return round(float(np.mean(np.array(odds) >= floor)), 3) if odds else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit the weights of relevance.")
    parser.add_argument("kit", type=Path)
    parser.add_argument("--look", action="append", default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(run(Path(folder), read(options.kit, options.look)))
    tables: dict[str, Any] = {}
    growth = 0.0
    for kind in COLLECTION:
        mine = [case for case in found if case.kind == kind]
        known = [case for case in mine if case.corpus.startswith(FITTED)]
        # Of turns there is too little of every size: they grow as documents do.
        growth = growth or growth_of(known, weights_of(known, 0.0))
        table = fitted(known, weights_of(known, growth), BROUGHT[kind])
        tables[kind] = asdict(table)
        for name in dict.fromkeys(case.corpus for case in mine):
            sys.stdout.write(json.dumps(figures(name, [case for case in mine if case.corpus == name], table)) + "\n")
    provenance = {
        "script": "bench/fit/relevance.py",
        "fitted to": "FaQuAD dev paragraphs (CC BY 4.0, Sayama et al., BRACIS 2019), oab-exams (MIT, Delfino et al.), "
        "our own bench/fit/data/relevance.jsonl",
        "floor": "what a tenth of other corpora's questions come to; of turns three in twenty",
    }
    TABLE.write_text(json.dumps({"provenance": provenance, **tables}, indent=2) + "\n")


async def run(folder: Path, known: Sequence[Corpus]) -> list[Case]:
    """The cases, on the index that the product has."""
    index = QdrantEdgeIndex(folder, UseEmbedder())
    try:
        return await cases(index, known)
    finally:
        await index.close()


if __name__ == "__main__":
    main()
