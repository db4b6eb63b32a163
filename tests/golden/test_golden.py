"""Every change is played against the golden corpus: what packs then hold otherwise is approved in the same commit."""

import difflib
from itertools import islice

import pytest

from tests.golden.corpus import GOLDEN, played

SHOWN = 60


@pytest.mark.covers("B10")
def test_packs_hold_what_was_approved() -> None:
    approved = GOLDEN.read_text(encoding="utf-8").splitlines()
    made = "".join(played()).splitlines()
    assert len(made) > 500
    changed = list(islice(difflib.unified_diff(approved, made, "approved", "made", n=2, lineterm=""), SHOWN))
    assert not changed, "\n".join(
        [*changed, "`make golden` approves it: commit its diff with the change that means it"]
    )
