"""Events made up, and real ones damaged, on every topic: an event or a reason comes out, each within a second.

python -m tests.proofs.decodes                          10,000 of either on each topic
python -m tests.proofs.decodes --minutes 30 --seed 7    thousands after thousands, of seeds 7, 8, 9 …
"""

import argparse
import json
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from deploy.docs.examples import Example, load
from schemas.topics import TOPICS, Topic
from tests import counters
from tests.unit.schemas.test_codec import changed, damaged, event_or_reason, odd_value

EACH, BATCH = 10_000, 1_000
HANG_S = 1.0
Raw = tuple[bytes, list[tuple[str, bytes]]]


class Inputs:
    """What is decoded on a topic, drawn from its golden examples."""

    def __init__(self, topic: Topic, examples: Sequence[Example]) -> None:
        self._examples = [example for example in examples if example.topic == topic]
        self._values: dict[str, list[Any]] = defaultdict(list)
        for example in self._examples:
            for name, value in json.loads(example.raw).items():
                self._values[name].append(value)

    def generated(self, rng: random.Random) -> Raw:
        """Some fields of the topic, each with a value that it has somewhere, or an odd one; or mere bytes."""
        headers = rng.choice(self._examples).raw_headers
        if rng.random() < 0.1:
            return rng.randbytes(rng.randrange(60)), headers
        fields = {
            name: rng.choice(values) if rng.random() < 0.8 else odd_value(rng)
            for name, values in self._values.items()
            if rng.random() < 0.9
        }
        return json.dumps(fields).encode(), headers

    def damaged(self, rng: random.Random) -> Raw:
        """A real event with other bytes, or with other fields."""
        example = rng.choice(self._examples)
        return rng.choice((damaged, changed))(example.raw, rng), example.raw_headers


def batch(topic: Topic, inputs: Inputs, size: int, seed: int) -> Counter[str]:
    """So many of either; what was wrong is counted and printed."""
    rng, found = random.Random(f"{topic.name} {seed}"), Counter[str]()
    for make in (inputs.generated, inputs.damaged):
        for _ in range(size):
            raw, headers = make(rng)
            began = time.thread_time()
            try:
                found["events" if event_or_reason(topic, raw, headers) else "refused"] += 1
            except Exception as crash:
                found["crash"] += 1
                print(f"crash: {topic.name}, seed {seed}: {raw!r}: {crash!r}", flush=True)
            if time.thread_time() - began > HANG_S:
                found["hang"] += 1
                print(f"hang: {topic.name}, seed {seed}: {raw!r}", flush=True)
    return found


def rounds(each: int, minutes: float | None, seed: int) -> Iterator[int]:
    """A seed for each round of all topics."""
    until = time.monotonic() + 60 * (minutes or 0)
    for number in range(sys.maxsize if minutes else each // BATCH):
        if minutes and number and time.monotonic() > until:
            return
        yield seed + number


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.proofs.decodes", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--each", type=int, default=EACH, help="generated, and damaged, on each topic")
    parser.add_argument("--minutes", type=float, help="instead of a number")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    golden, found, seeds = load(), Counter[str](), list[int]()
    inputs = {topic: Inputs(topic, golden) for topic in TOPICS}
    for seed in rounds(given.each, given.minutes, given.seed):
        seeds.append(seed)
        for topic, of in inputs.items():
            found += batch(topic, of, BATCH, seed)
    each = BATCH * len(seeds)
    ran = {"decodes": 2 * each * len(TOPICS), "generated a topic": each, "damaged a topic": each}
    faults = {name: found[name] for name in ("crash", "hang")}
    counters.record("B12", f"all {len(TOPICS)} topics", ran, faults, {"refused": found["refused"]}, seeds)
    print(f"{ran['decodes']:,} decodes on {len(TOPICS)} topics: {dict(found)}")
    return int(any(faults.values()))


if __name__ == "__main__":
    sys.exit(main())
