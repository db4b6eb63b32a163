"""Redis emptied and killed in mid-run: what becomes of every message is what would have become of it anyway."""

from pathlib import Path

import pytest

from schemas.topics import CONTEXT_PACKS, CONVERSATION_TURNS
from tests.chaos.entries import Entry
from tests.proofs.chaos import emptied


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[Entry]:
    """A run in which Redis was left alone; its log is that of either broker."""
    return emptied.disturbed(emptied.SMALL.undisturbed(), "embedded", tmp_path_factory.mktemp("alone") / "run")


@pytest.mark.timeout(400)
@pytest.mark.covers("AC-44", "CF-85", "S1-L2", "B8")
@pytest.mark.parametrize("broker", ["embedded", pytest.param("kafka", marks=pytest.mark.kafka)])
def test_packs_are_the_same_with_redis_emptied_and_killed_and_nothing_is_made_twice(
    broker: str, undisturbed: list[Entry], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if (why := emptied.lacking(broker)) is not None:
        pytest.skip(why)
    found = emptied.compared(undisturbed, emptied.disturbed(emptied.SMALL, broker, tmp_path / "run"))
    with capsys.disabled():
        print(f"\n{broker}: the same {found.same}, degraded {found.degraded}")
    emptied.record(emptied.SMALL, broker, found)
    assert found.wrong == ()
    assert found.same[CONTEXT_PACKS.name] > found.degraded
    assert found.same[CONVERSATION_TURNS.name] > 80


def test_a_difference_a_loss_and_a_repeat_are_each_found() -> None:
    def entry(ce_id: str, value: bytes) -> Entry:
        return Entry(CONTEXT_PACKS.name, 0, 0, 0, "k", {"ce_id": ce_id}, value)

    same, other = b'{"degraded":false,"query":"a","latency_ms":1}', b'{"degraded":false,"query":"b","latency_ms":2}'
    away = b'{"degraded":true,"query":"b"}'
    assert emptied.compared([entry("1", same)], [entry("1", same.replace(b"1", b"7"))]).wrong == ()
    assert emptied.compared([entry("1", same)], [entry("1", other)]).different
    assert emptied.compared([entry("1", same)], []).missing
    assert emptied.compared([], [entry("1", same)]).missing
    assert emptied.compared([entry("1", same)], [entry("1", same), entry("1", same)]).doubled
    assert emptied.compared([entry("1", same)], [entry("1", away)]).degraded == 1
