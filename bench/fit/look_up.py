"""Fit the weights that tell a question to look up (D0) from one to explain (D2).

python -m bench.fit.look_up DATA_FOLDER
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from agents.core.depth.lookup import look_up_features
from agents.core.depth.reading import read_message
from agents.core.depth.signals import found
from bench.fit.fitting import Sample, fit, write
from bench.fit.playing import items


def samples(data: Path) -> Iterator[Sample]:
    for item in items(data / "depth_question_type.dev.jsonl.gz"):
        reading = read_message(item["text"], (), "en")
        features = dict.fromkeys(look_up_features(reading, found(reading)), 1.0)
        yield Sample(features, item["label"] == "D2", item["group"], item["text"])


def main() -> None:
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    write(
        "look_up",
        "that a question wants an explanation, a rule or a way (D2) rather than a look-up (D0)",
        fit(list(samples(Path(sys.argv[1]))), penalty="l1", strength=0.3, rows=rows),
        sets={"nfcats": "MIT"},
        script="bench/fit/look_up.py",
    )


if __name__ == "__main__":
    main()
