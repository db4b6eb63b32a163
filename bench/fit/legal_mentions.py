"""Fit the linear chain that finds mentions of law and case law in Brazilian texts.

python -m bench.fit.legal_mentions DATA_FOLDER

Measured over documents: each is labelled by a table fitted without any of its sentences. Nothing is drawn at random.
"""

import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agents.legal.legal_tokens import LegalToken, tokens
from agents.legal.mention_features import features
from agents.legal.mentions import spans
from agents.legal.sequence_models import OUTSIDE, SequenceTable
from bench.evaluation.scoring_texts import legal_entities
from bench.fit.fitting import FOLDS, WEIGHTS
from bench.fit.playing import Item, items

LABELS = (OUTSIDE, "B-L", "I-L", "B-J", "I-J")
KINDS = {"LEGISLACAO": "L", "JURISPRUDENCIA": "J"}
TYPES = {"legislacao": "LEGISLACAO", "jurisprudencia": "JURISPRUDENCIA"}
# As the folds told: spans are missed more often than invented.
AGAINST_OUTSIDE = 0.15
SETTINGS = {"c1": 0.3, "c2": 0.3, "max_iterations": 100}
# A feature of fewer documents is of those documents.
MIN_DOCUMENTS = 3
SMALLEST = 0.02
OWN = Path(__file__).with_name("data")


@dataclass(frozen=True)
class Labelled:
    """A sentence with its features and labels; `item` is empty for our own texts, which mention nothing."""

    item: Item
    read: tuple[LegalToken, ...]
    features: list[tuple[str, ...]]
    labels: list[str]
    group: str


def labelled(data: Path) -> Iterator[Labelled]:
    """The annotated sentences, and everyday texts of our own."""
    for item in items(data / "legal_entities.dev.jsonl.gz"):
        read = tokens(item["text"])
        yield Labelled(item, read, list(features(item["text"], read)), _labels(item, read), item["group"])
    for number, text in enumerate(everyday()):
        read = tokens(text)
        yield Labelled({}, read, list(features(text, read)), [OUTSIDE] * len(read), f"own-{number}")


def everyday() -> Iterator[str]:
    """Lines of invented manuals, talks and messages in both languages, and of what only looks like a mention."""
    for line in (OWN / "relevance.jsonl").read_text("utf-8").splitlines():
        corpus = json.loads(line)
        for text in (each["text"] for each in corpus.get("documents", corpus.get("turns", ()))):
            yield from (part for part in text.splitlines() if part.strip())
    for line in (OWN / "needs_nothing.tsv").read_text("utf-8").splitlines():
        yield line.rpartition("\t")[2]
    yield from (OWN / "legal_lookalikes.txt").read_text("utf-8").splitlines()


def _labels(item: Item, read: Sequence[LegalToken]) -> list[str]:
    labels = [OUTSIDE] * len(read)
    for span in item["spans"]:
        begun = False
        for place, token in enumerate(read):
            if span["type"] in KINDS and token.start < span["end"] and token.end > span["start"]:
                labels[place] = ("I-" if begun else "B-") + KINDS[span["type"]]
                begun = True
    return labels


def people(sample: Iterable[Labelled]) -> frozenset[str]:
    """Words that stand in names of people more than elsewhere: no feature may hold one."""
    named: Counter[str] = Counter()
    every: Counter[str] = Counter()
    for one in sample:
        inside = [(each["start"], each["end"]) for each in one.item.get("spans", ()) if each["type"] == "PESSOA"]
        for token in one.read:
            every[token.word] += 1
            named[token.word] += any(start <= token.start < end for start, end in inside)
    return frozenset(word for word, count in named.items() if count * 3 > every[word] and len(word) > 1)


def known(sample: Sequence[Labelled], names: frozenset[str]) -> frozenset[str]:
    """The features of at least `MIN_DOCUMENTS` documents that hold no name of a person."""
    seen: dict[str, set[str]] = defaultdict(set)
    for one in sample:
        for token in one.features:
            for name in token:
                if len(seen[name]) < MIN_DOCUMENTS:
                    seen[name].add(one.group if one.item else "own")
    return frozenset(
        name for name, groups in seen.items() if len(groups) >= MIN_DOCUMENTS and not names.intersection(_parts(name))
    )


def _parts(name: str) -> set[str]:
    """What in a feature may be a word: behind its letter, between its bars, before a class and a distance."""
    bare = name[1:].split("|")
    longest = 14 if name[0] in "HIU" else 1
    return {*bare, *(part[:-cut] for part in bare for cut in range(1, min(len(part), longest)))}


def fitted(sample: Sequence[Labelled]) -> SequenceTable:
    """A table for a sample."""
    import pycrfsuite

    kept = known(sample, people(sample))
    trainer = pycrfsuite.Trainer(verbose=False, params=SETTINGS)
    for one in sample:
        if one.read:
            trainer.append([[name for name in token if name in kept] for token in one.features], one.labels)
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(f"{folder}/model")
        tagger = pycrfsuite.Tagger()
        tagger.open(f"{folder}/model")
        return _table(tagger.info())


def _table(model: Any) -> SequenceTable:
    rows: dict[str, list[float]] = defaultdict(lambda: [0.0] * len(LABELS))
    for (name, label), weight in model.state_features.items():
        rows[name][LABELS.index(label)] = round(weight, 2)
    rows["bias"][0] = round(rows["bias"][0] - AGAINST_OUTSIDE, 2)
    steps = tuple(tuple(round(model.transitions.get((before, after), 0.0), 2) for after in LABELS) for before in LABELS)
    return SequenceTable(LABELS, steps, {k: v for k, v in sorted(rows.items()) if max(map(abs, v)) > SMALLEST})


def folds(sample: Sequence[Labelled]) -> Mapping[str, int]:
    """The fold of each document, so that folds have about as many sentences."""
    sizes, filled = Counter(one.group for one in sample if one.item), [0] * FOLDS
    fold_of = {}
    for group in sorted(sizes, key=lambda name: (-sizes[name], name)):
        fold_of[group] = filled.index(min(filled))
        filled[fold_of[group]] += sizes[group]
    return fold_of


def judged(sample: Iterable[Labelled], table: SequenceTable) -> list[tuple[Item, Item]]:
    """Sentences with the spans that a table finds in them."""
    return [
        (
            {**one.item, "spans": [span for span in one.item["spans"] if span["type"] in KINDS]},
            {
                "spans": [
                    {"start": each.start, "end": each.end, "type": TYPES[each.kind]}
                    for each in spans(one.read, table.best(one.features))
                ]
            },
        )
        for one in sample
    ]


def figures(pairs: list[tuple[Item, Item]], draws: int = 0) -> dict[str, dict[str, float]]:
    """Strict and relaxed F1 of each type."""
    made: dict[str, dict[str, float]] = defaultdict(dict)
    for score in legal_entities(pairs, draws):
        if score.part in KINDS and score.value is not None and score.measure in ("strict_f1", "relaxed_f1"):
            made[score.part][score.measure] = round(score.value, 3)
    return dict(made)


def main() -> None:
    sample = list(labelled(Path(sys.argv[1])))
    fold_of = folds(sample)
    out: list[tuple[Item, Item]] = []
    by_fold = []
    for fold_number in range(FOLDS):
        table = fitted([one for one in sample if fold_of.get(one.group) != fold_number])
        made = judged((one for one in sample if fold_of.get(one.group) == fold_number), table)
        by_fold.append(figures(made))
        print("fold", fold_number, by_fold[-1], flush=True)
        out += made
    table = fitted(sample)
    inside = figures(judged((one for one in sample if one.item), table))
    print("all folds", figures(out), "fitted on", inside, len(table.weights))
    write(table, {"cross_validated": figures(out), "folds": by_fold, "in_sample": inside})


def write(table: SequenceTable, measured: Mapping[str, object]) -> None:
    """The table as a file of the product, a feature a line, with where it comes from."""
    head = {
        "says": "where a text mentions law or case law",
        "fitted_on": {"lener_br": "MIT", "own everyday texts (bench/fit/data)": "Apache-2.0"},
        "script": "bench/fit/legal_mentions.py",
        "settings": {**SETTINGS, "min_documents": MIN_DOCUMENTS, "against_outside": AGAINST_OUTSIDE},
        "date": datetime.now(UTC).date().isoformat(),
        **measured,
        "labels": table.labels,
        "transitions": table.transitions,
    }
    rows = ",\n".join(
        f"  {json.dumps(name, ensure_ascii=False)}: {json.dumps([w or 0 for w in row], separators=(',', ':'))}"
        for name, row in table.weights.items()
    )
    text = json.dumps(head, indent=1, ensure_ascii=False).removesuffix("\n}") + f',\n "weights": {{\n{rows}\n }}\n}}\n'
    (WEIGHTS.parents[1] / "legal" / "weights" / "legal_mentions.json").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
