"""Weights of the messages that need no memory, fitted and written; what they reach in folds not fitted on, printed.

python -m bench.fit.needs_nothing DATA_FOLDER [--write]

Of the folder (the evaluation kit's dev side): context_needs (CLINC150, CC BY 3.0; NF-CATS, MIT), depth_question_type
(NF-CATS, MIT), contradiction (InferBR, MIT). Beside it `data/needs_nothing.tsv`, phrases written for this table, and
`data/needs_nothing_held_out.tsv`, written before the first fit and never fitted on.
"""

import gzip
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.core.assessment import needs_nothing
from agents.core.assessment.needs_nothing import Piece, Vocabulary
from agents.core.language.lexicons import lexicon

HERE = Path(__file__).parent / "data"
TABLE = Path(needs_nothing.__file__).parents[1] / "weights" / "needs_nothing.json"
ROWS, FOLDS = 300, 5
PENALTY, STRENGTH = 0.6, 2.0
# A message of memory taken for none costs an answer; the other way round it costs a look.
OWN, OWN_ASKED, MIXED = 4.0, 12.0, 1.0
NOTHING = {"courtesy": "courtesy", "ability": "abilities", "repeat": "repeat", "assent": "talk", "chat": "talk"}
OF_INTENT = {
    "greeting": "courtesy",
    "goodbye": "courtesy",
    "thank_you": "courtesy",
    "repeat": "repeat",
    "what_can_i_ask_you": "abilities",
    "yes": "talk",
    **dict.fromkeys(
        """tell_joke are_you_a_bot who_do_you_work_for what_is_your_name how_old_are_you where_are_you_from
        what_are_your_hobbies do_you_have_pets who_made_you cancel maybe""".split(),  # noqa: SIM905 - words
        "talk",
    ),
}
# Sums and translations are for the rules; a coin that is tossed needs a tool.
LEFT_OUT = {"translate", "calculator", "flip_coin", "roll_dice"}


@dataclass(frozen=True)
class Phrase:
    """A message, the kind of nothing that it needs (None: it is looked up), and where it is from."""

    text: str
    kind: str | None
    source: str


def phrases(folder: Path) -> list[Phrase]:
    """All that the table is fitted on."""
    found = [*own("needs_nothing.tsv")]
    for item in _items(folder, "context_needs"):
        if item["intent"] not in LEFT_OUT:
            source = "nfcats" if item["intent"] == "FACTOID" else "clinc"
            found.append(Phrase(item["text"], OF_INTENT.get(item["intent"]), source))
    found += [
        Phrase(item["text"], None, "nfcats") for item in _items(folder, "depth_question_type") if item["label"] == "D2"
    ]
    found += [Phrase(item["hypothesis"], None, "inferbr") for item in [*_items(folder, "contradiction")][::6]]
    random.Random(0).shuffle(found)
    return found


def own(name: str) -> Iterator[Phrase]:
    """The phrases of one of the files beside this script."""
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        label, _, text = line.split("\t")
        yield Phrase(text, NOTHING.get(label), "own")


def _items(folder: Path, task: str) -> Iterator[Mapping[str, Any]]:
    with gzip.open(folder / f"{task}.dev.jsonl.gz", "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def mixed(told: Sequence[Phrase], seed: int = 1) -> list[Phrase]:
    """A courtesy with a question behind it, run together, is looked up; two courtesies are one."""
    chance = random.Random(seed)
    polite = [each for each in told if each.kind == "courtesy" and each.source == "own"]
    asking = [each for each in told if each.kind is None and each.source == "own"]
    bare = str.maketrans("", "", ".!?,;:")
    return [
        Phrase(f"{chance.choice(polite).text} {chance.choice(behind).text}".translate(bare), kind, "mixed")
        for behind, kind, times in ((asking, None, 500), (polite, "courtesy", 300))
        for _ in range(times)
    ]


def known_words(told: Sequence[Phrase]) -> tuple[list[str], frozenset[str]]:
    """The words of what needs nothing, and those that one phrase alone has."""
    seen: Counter[str] = Counter()
    ours: set[str] = set()
    nothing = Vocabulary(frozenset(), {})
    for each in told:
        if each.kind is None:
            continue
        # A name is no word that training knows: `obrigada, Bia`.
        words = {
            needs_nothing.plain(word)
            for at, piece in enumerate(needs_nothing.pieces(each.text, nothing))
            for place, word in enumerate(piece.written)
            if word.islower() or at + place == 0 or word == "I"
        }
        seen.update(words)
        ours |= words if each.source == "own" else set()
    common = {word for word, count in seen.items() if count > 1} | ours | set(lexicon("words").words("stopwords"))
    return (
        sorted(word for word in common - {*needs_nothing.class_of()} if not any(map(str.isdigit, word))),
        frozenset(word for word in ours if seen[word] == 1),
    )


def featured(told: Sequence[Phrase], words: Vocabulary, rare: frozenset[str]) -> list[tuple[frozenset[str], Phrase]]:
    """The features of each phrase and of each piece of what needs nothing; without what no weight can decide.

    What one phrase alone says is also seen as somebody's own word, which it is when another one says it.
    """
    found = []
    for each in told:
        cut = [*needs_nothing.pieces(each.text, words)]
        wholes = [_joined(cut)] if cut else []
        if each.kind is not None and len(cut) > 1:
            wholes += cut
        if each.kind is not None:
            wholes += [seen for piece in wholes if (seen := _as_new(piece, rare)) != piece]
        found += [(held, each) for piece in wholes if (held := needs_nothing.features(piece)) is not None]
    return found


def _as_new(piece: Piece, rare: frozenset[str]) -> Piece:
    words = tuple(needs_nothing.UNKNOWN if word in rare else word for word in piece.words)
    return Piece(piece.written, words, piece.mark)


def _joined(cut: Sequence[Piece]) -> Piece:
    return Piece(
        tuple(word for piece in cut for word in piece.written),
        tuple(word for piece in cut for word in piece.words),
        "".join(piece.mark for piece in cut),
    )


def fit(told: Sequence[Phrase]) -> dict[str, Any]:
    """The table of the phrases, as it is written: the rows that sparse fits keep, fitted again."""
    words, rare = known_words(told)
    rows = featured([*told, *mixed(told)], needs_nothing.vocabulary(words), rare)
    weighed = [(held, each.kind is not None, _weight(each)) for held, each in rows]
    _, sparse = _model(weighed, "l1")
    kept = {name for name in sorted(sparse, key=lambda name: -abs(sparse[name]))[:ROWS] if sparse[name]}
    bias, weights = _model([(held & kept, y, w) for held, y, w in weighed], "l2")
    return {
        "bias": round(bias, 2),
        "words": words,
        "weights": {name: round(weight, 2) for name, weight in weights.items()},
    }


def _weight(each: Phrase) -> float:
    if each.source == "own":
        return OWN if each.kind else OWN_ASKED
    return MIXED if each.source == "mixed" else 1.0


def _model(rows: Sequence[tuple[frozenset[str], bool, float]], penalty: str) -> tuple[float, dict[str, float]]:
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    reader = DictVectorizer()
    matrix = _narrow(reader.fit_transform([dict.fromkeys(held, 1.0) for held, _, _ in rows]))
    sparse = penalty == "l1"
    strength = PENALTY if sparse else STRENGTH
    model = LogisticRegression(
        l1_ratio=1.0 if sparse else 0.0, C=strength, solver="liblinear", max_iter=500, random_state=0
    )
    model.fit(matrix, [y for _, y, _ in rows], sample_weight=[w for _, _, w in rows])
    return float(model.intercept_[0]), dict(zip(reader.feature_names_, map(float, model.coef_[0]), strict=True))


def _narrow(matrix: Any) -> Any:
    # The solver takes no wider indices.
    matrix.indices, matrix.indptr = matrix.indices.astype("int32"), matrix.indptr.astype("int32")
    return matrix


def table_of(made: Mapping[str, Any]) -> needs_nothing.NeedsNothingWeights:
    """What the rules read of it."""
    return needs_nothing.NeedsNothingWeights(
        needs_nothing.vocabulary(made["words"]),
        made["bias"],
        made["weights"],
    )


def judged(made: Mapping[str, Any], told: Sequence[Phrase]) -> list[tuple[Phrase, str | None]]:
    """What the rules say with this table."""
    table_of_made = table_of(made)
    held, needs_nothing.table = needs_nothing.table, lambda: table_of_made  # type: ignore[assignment]
    try:
        return [(each, needs_nothing.kind_of(each.text)) for each in told]
    finally:
        needs_nothing.table = held


def report(found: Sequence[tuple[Phrase, str | None]]) -> dict[str, str]:
    """By source and kind, the share taken for needing nothing."""
    groups: dict[str, list[tuple[Phrase, str | None]]] = {}
    for each, kind in found:
        groups.setdefault(f"{each.source} {each.kind or 'lookup'}", []).append((each, kind))
    return {
        name: f"{sum(kind is not None for _, kind in some) / len(some):.4f} of {len(some)}"
        for name, some in sorted(groups.items())
    }


def main(arguments: Sequence[str]) -> None:
    told = phrases(Path(arguments[0]))
    out: list[tuple[Phrase, str | None]] = []
    for fold in range(FOLDS):
        made = fit([each for at, each in enumerate(told) if at % FOLDS != fold])
        out += judged(made, [each for at, each in enumerate(told) if at % FOLDS == fold])
    print(json.dumps({"folds": report(out)}, indent=1))
    if "--misses" in arguments:
        for each, kind in out:
            if (each.kind is None) != (kind is None) and (each.source != "clinc" or each.kind != "talk"):
                print(each.source, each.kind, kind, each.text, sep="\t")
    made = fit(told)
    print(len(made["weights"]), "rows,", len(made["words"]), "words")
    print(json.dumps({"fitted": report(judged(made, told))}, indent=1))
    if "--write" in arguments:
        write(made)


def write(made: Mapping[str, Any]) -> None:
    """The table as JSON that can be reviewed: a row a line."""
    origin = json.dumps({"script": "bench/fit/needs_nothing.py", "data": DATA}, ensure_ascii=False, indent=1)
    lines = ",\n".join(
        f" {json.dumps(name, ensure_ascii=False)}: {weight}"
        for name, weight in sorted(made["weights"].items(), key=lambda row: (-row[1], row[0]))
    )
    words = [
        " ".join(word for word in made["words"] if word[0] == letter)
        for letter in sorted({w[0] for w in made["words"]})
    ]
    TABLE.write_text(
        f'{{"provenance": {origin},\n"bias": {made["bias"]},\n'
        f'"words": {json.dumps(words, ensure_ascii=False, indent=1)},\n"weights": {{\n{lines}\n}}}}\n',
        encoding="utf-8",
    )


DATA = [
    "CLINC150, Larson et al., EMNLP 2019, github.com/clinc/oos-eval, CC BY 3.0; changed: intents mapped to kinds",
    "NF-CATS, Bolotova et al., SIGIR 2022, github.com/Lurunchik/NF-CATS, MIT",
    "InferBR, Bencke et al., LREC-COLING 2024, github.com/lbencke/InferBR, MIT",
    "bench/fit/data/needs_nothing.tsv, phrases written for this table, Apache-2.0",
]

if __name__ == "__main__":
    main(sys.argv[1:])
