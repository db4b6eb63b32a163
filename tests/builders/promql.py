"""What a PromQL expression asks for: enough of a reader to notice a misspelt name, no parser of the language."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

SELECTOR = re.compile(r"\b((?:fathom|process)_\w+|up)(?:\{([^}]*)\})?")
MATCHER = re.compile(r"(\w+)\s*(=~|!~|!=|=)\s*\"([^\"]*)\"")
GROUPED = re.compile(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)")
# Prometheus itself puts these on every series that it scrapes.
ADDED = {"instance", "job"}


class Selector(NamedTuple):
    """A metric and what its labels must be."""

    name: str
    matchers: tuple[tuple[str, str, str], ...]

    def takes(self, labels: Mapping[str, str]) -> bool:
        """Whether a series with these labels is asked for; what Prometheus adds is not looked at."""
        return all(
            _holds(labels.get(name, ""), sign, value) for name, sign, value in self.matchers if name not in ADDED
        )


def _holds(value: str, sign: str, wanted: str) -> bool:
    same = re.fullmatch(wanted, value) is not None if "~" in sign else value == wanted
    return same != sign.startswith("!")


def selectors(expression: str) -> list[Selector]:
    """The metrics of an expression with their matchers."""
    return [Selector(name, tuple(MATCHER.findall(inside))) for name, inside in SELECTOR.findall(expression)]


def grouped(expression: str) -> set[str]:
    """The labels that an expression groups by."""
    return {label.strip() for found in GROUPED.findall(expression) for label in found.split(",") if label.strip()}


def known(registry: CollectorRegistry) -> dict[str, set[str]]:
    """The names of all series a registry can have, and their labels."""
    found: dict[str, set[str]] = {"up": set()}
    for collector in registry._collector_to_names:
        labels = set(getattr(collector, "_labelnames", ()))
        for metric in collector.describe() if hasattr(collector, "describe") else collector.collect():
            ends = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count")}.get(metric.type, ("",))
            for end in ends:
                found[metric.name + end] = labels | ({"le"} if end == "_bucket" else set())
    return found


def series_of(page: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Every series of a page in the Prometheus text format: its name and its labels."""
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            yield sample.name, sample.labels


def wrong(expression: str, names: Mapping[str, set[str]]) -> list[str]:
    """What an expression asks for that no series can have."""
    asked: Sequence[Selector] = selectors(expression)
    said = [f"no metric {each.name}" for each in asked if each.name not in names]
    labels = set().union(ADDED, *(names.get(each.name, set()) for each in asked))
    for each in asked:
        own = names.get(each.name, set()) | ADDED
        said += [f"{each.name} has no label {label}" for label, _, _ in each.matchers if label not in own]
    said += [f"nothing there has a label {label}" for label in sorted(grouped(expression) - labels)]
    return said if asked else [f"no metric of ours in {expression}"]
