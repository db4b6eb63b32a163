"""Fit the weights that tell whether a turn opens a new segment of a conversation.

python -m bench.fit.segments DATA_FOLDER [ROWS]
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from agents.core.depth.follow_up import segment_features
from agents.core.depth.reading import kind_of_talk, read_message
from agents.core.depth.signals import detect
from agents.core.language.identification import identify_language
from bench.fit.fitting import Sample, fit, write
from bench.fit.follow_up import elsewhere
from bench.fit.playing import WINDOW, Item, items, plain

SETS = ("superdialseg", "tiage")
# A line a turn: the talk, `a` for the assistant or `u` and `+` for the user, `+` where a segment opens, and the text.
ERRANDS = Path(__file__).parent / "data" / "errands.tsv"
ERRANDS_COUNT = 12


def samples(data: Path, source: str, most: int = 10**9) -> Iterator[Sample]:
    """Every turn but the first of each dialogue that is classified, whoever says it."""
    for number, item in enumerate(
        one for one in items(data / "depth_topic_shift.dev.jsonl.gz") if one["dataset"] == source
    ):
        if number >= most:
            return
        yield from of_dialogue(item)


def of_dialogue(item: Item) -> Iterator[Sample]:
    turns = plain(item["turns"])
    for at in range(1, len(turns)):
        before = turns[max(0, at - WINDOW) : at]
        # What is not classified is not fitted to.
        if turns[at].role == "assistant" and kind_of_talk(before, turns[at].content) != "chat":
            continue
        reading = read_message(turns[at].content, before, item.get("lang", "en"))
        features = dict.fromkeys(segment_features(reading, detect(reading)), 1.0)
        yield Sample(features, at in item["shifts"], item["group"], turns[at].content)


def errands() -> Iterator[Sample]:
    """Every turn of the user but the first, of our own talks."""
    lines = [line.split("\t") for line in ERRANDS.read_text("utf-8").splitlines()]
    for name in dict.fromkeys(line[0] for line in lines):
        said = [(mark, text) for talk, mark, text in lines if talk == name]
        turns = [{"role": "assistant" if mark == "a" else "user", "text": text} for mark, text in said]
        shifts = {at for at, (mark, _) in enumerate(said) if mark == "+"}
        lang = identify_language(" ".join(text for _, text in said), "en")
        yield from of_dialogue({"turns": turns, "shifts": shifts, "group": name, "lang": lang})


def main() -> None:
    data = Path(sys.argv[1])
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 150
    strength = float(sys.argv[3]) if len(sys.argv) > 3 else 0.1
    sets = {source: list(samples(data, source)) for source in SETS}
    # Twice: a third of the size of the other, and of another kind of talk.
    talks = [*sets["superdialseg"], *sets["tiage"], *sets["tiage"], *ERRANDS_COUNT * [*errands()]]
    fitted = fit(talks, strength=strength, rows=rows)
    write(
        "segments",
        "that a turn opens a new segment of a conversation",
        fitted,
        sets={**dict.fromkeys(SETS, "MIT"), "bench/fit/data/errands.tsv": "Apache-2.0"},
        script="bench/fit/segments.py",
    )
    for source, each in {**sets, "sgd": list(samples(data, "sgd", 500))}.items():
        print(source, elsewhere(fitted, each))


if __name__ == "__main__":
    main()
