"""Where a worker can be made to die: before and after each stage's produce, each store's write, each group's commit."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from streams.topology import STAGES

HOT = ("depth", "search", "assessor", "tool-gate", "cognition")
# What corrections and feedback name is looked up in the graph, which may be the writers' own.
LEARNING = ("learning",)
WRITERS = ("graph-writers", "index-writers", "ingestion", *LEARNING)
ENDS = ("before", "after")
# Stages that few messages ask for, and what few of them make: the first time they do is often enough.
RARE = (
    "claims",
    "procedural",
    "correction",
    "summaries",
    "summariser",
    "knowledge",
    "ingestion",
    "episodic",
    "assessor",
    "search",
    "tool",
    "feedback",
    "weights",
    "consultations",
)


@dataclass(frozen=True, slots=True)
class Point:
    """A place to die at, the how-manieth time, from so many seconds after the start; `again` at the second try."""

    name: str
    hit: int = 1
    after: float = 0.5
    again: bool = False

    def arguments(self) -> tuple[str, str, str]:
        """What `tests.chaos.worker` is told."""
        return self.name, str(self.hit), str(self.after)


NOWHERE = Point("-")
RANDOM = Point("random", again=True)


def produces(groups: Sequence[str]) -> tuple[str, ...]:
    """The stages of some groups that send."""
    return tuple(s.name for s in STAGES if s.group_name in groups and s.writes)


def of_hot(rounds: int = 1) -> tuple[str, ...]:
    """The points of the stages that answer: three kills a stage in each round."""
    names = [f"produce/{stage}/{end}" for stage in produces(HOT) for end in (*ENDS, "after")]
    names += [f"write/working-set/{end}" for end in ENDS]
    names += [f"write/tool-session/{end}" for end in (*ENDS, "after")]
    names += [f"commit/{group}/{end}" for group in HOT for end in ENDS]
    return tuple(names * rounds)


def of_writers(rounds: int = 1) -> tuple[str, ...]:
    """The points of the stages that learn and store: three kills a stage in each round."""
    names = [f"produce/{stage}/{end}" for stage in produces(WRITERS) for end in (*ENDS, "after")]
    names += [f"write/weights/{end}" for end in (*ENDS, "after")]
    for what in ("turns", "decisions", "claims", "corrections", "summaries", "knowledge", "consultations"):
        names += [f"write/graph-{what}/{end}" for end in (*ENDS, "after")]
    names += [f"write/index/{end}" for end in (*ENDS, "after")] + [f"write/graph/{end}" for end in ENDS]
    names += [f"commit/{group}/{end}" for group in WRITERS for end in ENDS]
    return tuple(names * rounds)


def scattered(names: Sequence[str], *, seed: int, longest: float) -> Iterator[Point]:
    """The points in random order, at random hits and times; `longest` is in seconds."""
    choose = random.Random(seed)
    for name in choose.sample(names, len(names)):
        rare = name.startswith("commit/") or any(part in name for part in RARE)
        yield Point(name, 1 if rare else choose.randint(1, 25), round(choose.uniform(0.3, longest), 1))
