"""What a pack of a correction names for reconciliation: both sides of what is open, and nothing that is settled."""

from functools import partial
from typing import Any

import pytest

from agents.core.packs.draft import ORIGINAL, Draft
from agents.core.packs.rendering import line
from agents.core.packs.sections import lay_out
from schemas.depth import DepthLevel
from schemas.items import Contradiction
from schemas.packs import Reconciliation
from schemas.retrieval import MemoryClass
from tests.builders.events import claim, item, opened


def contradiction(status: str, new: str = "k2", old: str = "k1") -> Contradiction:
    made: Contradiction = item(
        Contradiction, f"{new}-{old}", claim_id=new, contradicts=old, kind="value", status=status, explanation="x"
    )
    return made


def reconciled(*claims: Any, level: DepthLevel = DepthLevel.D3) -> Reconciliation | None:
    kept: Any = {memory: [] for memory in MemoryClass}
    kept[MemoryClass.CLAIMS] = list(claims)
    return lay_out(opened(depth_level=level), Draft(kept, partial(line, lang="pt")))["reconciliation"]


@pytest.mark.covers("S0-67", "CF-15")
def test_both_sides_of_an_open_contradiction_are_to_be_reconciled() -> None:
    found = reconciled(claim("k1", "dia 15"), claim("k2", "dia 20"), contradiction("pending_reconciliation"))
    assert found == Reconciliation(claim_ids=("k2", "k1"), original_claim_id=None)
    original = claim("k0", "dia 10", scores={ORIGINAL: 1.0})
    found = reconciled(original, contradiction("pending_reconciliation"))
    assert found == Reconciliation(claim_ids=("k2", "k1", "k0"), original_claim_id="k0")


@pytest.mark.covers("S0-67", "CF-15")
def test_what_is_settled_or_asked_at_another_depth_is_not_to_be_reconciled() -> None:
    settled = (claim("k1", "dia 15"), claim("k2", "dia 20"), contradiction("resolved"))
    assert reconciled(*settled) is None
    pending = contradiction("pending_reconciliation", "k4", "k3")
    assert reconciled(*settled, pending) == Reconciliation(claim_ids=("k4", "k3"), original_claim_id=None)
    assert reconciled(*settled, pending, level=DepthLevel.D2) is None
