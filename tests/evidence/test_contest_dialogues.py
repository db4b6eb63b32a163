"""How many of the invented contestations are D3, and how many messages are that contest nothing."""

import json
from typing import Any

import pytest

from agents.core.depth.levels import DepthLevel
from bench.evaluation.played import played
from tests.checkout import ROOT

SET = ROOT / "bench" / "contests" / "dialogues.jsonl"
Dialogue = dict[str, Any]


@pytest.fixture(scope="module")
def contested() -> list[tuple[Dialogue, bool]]:
    """Every dialogue, and whether its last message is D3."""
    found = []
    for line in SET.read_text("utf-8").splitlines():
        dialogue = json.loads(line)
        spoken = [(turn["role"], turn["text"]) for turn in dialogue["turns"]]
        decided = played([*spoken, ("user", dialogue["text"])])[-1]
        found.append((dialogue, decided is not None and decided.depth_level is DepthLevel.D3))
    return found


@pytest.mark.covers("S0-21", "S0-89")
@pytest.mark.parametrize(
    ("kind", "least"),
    [("denial", 0.8), ("doubt", 0.65), ("silent", 0.2), ("contest", 0.42)],
)
def test_contestations_are_told(contested: list[tuple[Dialogue, bool]], kind: str, least: float) -> None:
    told = [found for dialogue, found in contested if dialogue["kind"] == kind]
    assert len(told) >= 40
    assert sum(told) / len(told) >= least


@pytest.mark.covers("CF-07")
def test_hardly_anything_else_is_taken_for_one(contested: list[tuple[Dialogue, bool]]) -> None:
    others = [(dialogue["text"], found) for dialogue, found in contested if dialogue["label"] == "other"]
    false = [text for text, found in others if found]
    assert len(others) >= 380
    assert len(false) / len(others) <= 0.012, false
