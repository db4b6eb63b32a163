"""The first question after `fathom ingest` in a fresh start."""

from bench.first_ask import first_pack
from tests.checkout import ROOT


def test_the_first_question_gets_the_same_pack_in_every_fresh_start():
    one, other = (first_pack(str(ROOT / "bench" / "everyday" / "documents"), "How long is the warranty?") for _ in "12")
    assert one == other
    assert one.degraded == ()
    assert [section for section, _ in one.items if section == "semantic"] != []
