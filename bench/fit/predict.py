"""Predictions of the depth rules for an evaluation set, one JSON object a line, as its scorer reads them.

python -m bench.fit.predict SET.jsonl.gz PREDICTIONS.jsonl
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from agents.core.depth.levels import classify, is_follow_up
from bench.fit.playing import WINDOW, Item, Playback, items, plain, played
from schemas.depth import DepthLevel

NEW = 0.5


def question_type(item: Item) -> Item:
    decision = Playback().judge(item["text"])
    explains = decision.level is DepthLevel.D2
    return {"label": decision.level.value, "score": decision.confidence if explains else 1 - decision.confidence}


def follow_up(item: Item) -> Item:
    return {"needs_context": is_follow_up(item["text"], played(item["history"]).history())}


def correction(item: Item) -> Item:
    decision = played(item["history"]).judge(item["text"])
    score = max((sign.weight for sign in decision.signals if sign.level is DepthLevel.D3), default=0.0)
    return {"correction": decision.level is DepthLevel.D3, "score": score}


def topic_shift(item: Item) -> Item:
    """Whoever says a turn, it is judged as a message after those before it: either side may begin something."""
    turns = plain(item["turns"])
    scores = [
        classify(turn.content, turns[max(0, at - WINDOW) : at], lang="en").segment for at, turn in enumerate(turns)
    ]
    return {"shifts": [at for at, score in enumerate(scores) if score >= NEW], "scores": scores}


TASKS: dict[str, Callable[[Item], Item]] = {
    "depth_question_type": question_type,
    "depth_followup": follow_up,
    "depth_correction": correction,
    "depth_topic_shift": topic_shift,
}


def main() -> None:
    gold, predictions = map(Path, sys.argv[1:3])
    task = TASKS[gold.name.split(".")[0]]
    with predictions.open("w") as out:
        for item in items(gold):
            out.write(json.dumps({"id": item["id"], **task(item)}) + "\n")


if __name__ == "__main__":
    main()
