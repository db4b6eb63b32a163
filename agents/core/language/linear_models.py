"""Linear tables of reviewed weights: the combined probability of several weak signals."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp

MAX_LOG_ODDS = 30.0


@dataclass(frozen=True, slots=True)
class LinearTable:
    """A weight for each feature, and the bias."""

    bias: float
    weights: Mapping[str, float]

    def probability(self, features: Iterable[str]) -> float:
        """The probability given the features, 0-1; unknown features count nothing."""
        known = self.weights
        total = self.bias + sum(known.get(feature, 0.0) for feature in features)
        return 1 / (1 + exp(-max(-MAX_LOG_ODDS, min(MAX_LOG_ODDS, total))))


@cache
def table(name: str) -> LinearTable:
    """A table of `weights/`, loaded at first use; its file names the origin of the weights."""
    read = json.loads(files("agents.core").joinpath(f"weights/{name}.json").read_text("utf-8"))
    return LinearTable(read["bias"], read["weights"])
