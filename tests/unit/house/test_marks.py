"""The breaks of `make proofs PART=marks` fit the sources, and tests claim every statement that they break."""

from collections import Counter

from tests.checkout import ROOT
from tests.requirements.breaks import breaks, claiming
from tests.requirements.coverage import known


def test_each_break_replaces_a_text_that_is_there_once() -> None:
    counts = {each.what: (ROOT / each.file).read_text().count(each.right) for each in breaks()}
    assert {what: count for what, count in counts.items() if count != 1} == {}
    assert [each.what for each in breaks() if each.right == each.wrong] == []
    assert [what for what, count in Counter(each.what for each in breaks()).items() if count > 1] == []


def test_each_break_is_of_statements_that_tests_claim() -> None:
    ids = known()
    assert [name for each in breaks() for name in each.ids if name not in ids] == []
    assert [each.what for each in breaks() if not claiming(each.ids)] == []
