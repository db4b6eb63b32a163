"""Fit the weights that tell whether a turn opens a new segment of a conversation.

python -m bench.fit.segments DATA_FOLDER [ROWS]
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from agents.core.conversation.memory import ConversationTurn
from agents.core.depth.follow_up import segment_features
from agents.core.depth.reading import Reading, read_message
from agents.core.depth.signals import detect
from bench.fit.fitting import Sample, fit, write
from bench.fit.follow_up import elsewhere
from bench.fit.playing import WINDOW, Item, items, plain

SETS = ("superdialseg", "tiage")


def samples(data: Path, source: str, most: int = 10**9) -> Iterator[Sample]:
    """Every turn but the first of each dialogue, whoever says it."""
    for number, item in enumerate(
        one for one in items(data / "depth_topic_shift.dev.jsonl.gz") if one["dataset"] == source
    ):
        if number >= most:
            return
        yield from of_dialogue(item)


def of_dialogue(item: Item) -> Iterator[Sample]:
    turns = plain(item["turns"])
    for at in range(1, len(turns)):
        reading = _read(turns, at)
        features = dict.fromkeys(segment_features(reading, detect(reading)), 1.0)
        yield Sample(features, at in item["shifts"], item["group"], turns[at].content)


def _read(turns: list[ConversationTurn], at: int) -> Reading:
    return read_message(turns[at].content, turns[max(0, at - WINDOW) : at], "en")


def main() -> None:
    data = Path(sys.argv[1])
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    strength = float(sys.argv[3]) if len(sys.argv) > 3 else 0.3
    sets = {source: list(samples(data, source)) for source in SETS}
    # Twice: a third of the size of the other, and of another kind of talk.
    fitted = fit([*sets["superdialseg"], *sets["tiage"], *sets["tiage"]], strength=strength, rows=rows)
    write(
        "segments",
        "that a turn opens a new segment of a conversation",
        fitted,
        sets=dict.fromkeys(SETS, "MIT"),
        script="bench/fit/segments.py",
    )
    for source, each in {**sets, "sgd": list(samples(data, "sgd", 500))}.items():
        print(source, elsewhere(fitted, each))


if __name__ == "__main__":
    main()
