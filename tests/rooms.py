"""The packages of agents that can be left out, and what is deleted with each: its tests, and what measures it alone."""

from tests.checkout import ROOT

COGNITION, LAW = "agents/cognition", "agents/legal"
OWN = {
    COGNITION: (COGNITION, "tests/unit/cognition", "bench/deep", "bench/evaluation/deep/tasks.py"),
    LAW: (LAW, "tests/unit/legal", "bench/fit/legal_mentions.py"),
}


def gone_without(package: str) -> tuple[str, ...]:
    """The paths that are deleted where a package is left out; deep answers read laws, and go with them."""
    return (*OWN[COGNITION], *OWN[LAW]) if package == LAW else OWN[package]


def is_left_out(path: str) -> bool:
    """Whether a path is in a package that this checkout is without."""
    return any(f"{path}/".startswith(f"{package}/") and not (ROOT / package).is_dir() for package in OWN)
