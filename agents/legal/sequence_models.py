"""Linear-chain tables of fitted weights: the best sequence of labels for the tokens of a text."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

OUTSIDE = "O"
NEVER = -1e9


@dataclass(frozen=True, slots=True)
class SequenceTable:
    """For each feature a weight of each label, and of each label the weight of each label after it.

    Labels are `O` outside a span, else `B-kind` at its first token and `I-kind` at its others.
    """

    labels: tuple[str, ...]
    transitions: tuple[tuple[float, ...], ...]
    weights: Mapping[str, Sequence[float]]

    def best(self, tokens: Iterable[Iterable[str]]) -> tuple[str, ...]:
        """The labels of highest total weight (Viterbi), one a token; unknown features count nothing."""
        rows = [self._emission(features) for features in tokens]
        if not rows:
            return ()
        # into[label][before]: the weight of the step to a label from the one before it
        into = [[self._step(before, label) for before in range(len(self.labels))] for label in range(len(self.labels))]
        totals = [NEVER if self.labels[at].startswith("I") else weight for at, weight in enumerate(rows[0])]
        came: list[list[int]] = []
        for row in rows[1:]:
            paths = [[total + step for total, step in zip(totals, label, strict=True)] for label in into]
            best = [max(path) for path in paths]
            came.append([path.index(top) for path, top in zip(paths, best, strict=True)])
            totals = [top + weight for top, weight in zip(best, row, strict=True)]
        place = totals.index(max(totals))
        labels = [place]
        for before in reversed(came):
            place = before[place]
            labels.append(place)
        return tuple(self.labels[each] for each in reversed(labels))

    def _emission(self, features: Iterable[str]) -> list[float]:
        known = [row for feature in features if (row := self.weights.get(feature)) is not None]
        return [sum(column) for column in zip(*known, strict=True)] if known else [0.0] * len(self.labels)

    def _step(self, before: int, label: int) -> float:
        """The weight of a step; a span is not gone on with where none is."""
        one, other = self.labels[before], self.labels[label]
        return NEVER if other.startswith("I") and other[1:] != one[1:] else self.transitions[before][label]


@cache
def sequence_table(name: str) -> SequenceTable:
    """A table of `weights/`, loaded at first use; its file names the origin of the weights."""
    read = json.loads(files("agents.legal").joinpath(f"weights/{name}.json").read_text("utf-8"))
    return SequenceTable(tuple(read["labels"]), tuple(map(tuple, read["transitions"])), read["weights"])
