"""Fit the weights that tell whether a message needs the turns before it.

python -m bench.fit.follow_up DATA_FOLDER [ROWS]
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from agents.core.depth.follow_up import follow_up_features
from agents.core.depth.reading import read_message
from agents.core.depth.signals import found
from bench.fit.fitting import Fitted, Sample, fit, measures, write
from bench.fit.playing import items, played


def samples(data: Path, source: str) -> Iterator[Sample]:
    """The later turns of a set, each set against the turns before it as the depth agent would."""
    for item in items(data / "depth_followup.dev.jsonl.gz"):
        if item["source"] != source or item["first_turn"]:
            continue
        talk = played(item["history"])
        reading = read_message(item["text"], talk.history(), "en", talk.anchor)
        features = dict.fromkeys(follow_up_features(reading, found(reading)), 1.0)
        yield Sample(features, item["needs_context"], item["group"], item["text"])


def elsewhere(fitted: Fitted, others: list[Sample]) -> dict[str, float]:
    """What a table reaches on a set that it was not fitted on."""
    return measures(
        [(fitted.bias + sum(fitted.weights.get(name, 0.0) for name in one.features), one.positive) for one in others]
    )


def main() -> None:
    data = Path(sys.argv[1])
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 45
    strength = float(sys.argv[3]) if len(sys.argv) > 3 else 0.1
    fitted = fit(list(samples(data, "cast")), strength=strength, rows=rows)
    write(
        "follow_up",
        "that a message is only understood with the turns before it",
        fitted,
        sets={"cast": "MIT"},
        script="bench/fit/follow_up.py",
    )
    print("canard, not fitted on:", elsewhere(fitted, list(samples(data, "canard"))))


if __name__ == "__main__":
    main()
