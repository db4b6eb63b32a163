"""The low watermark: what is committed, whatever the order of acknowledgements."""

import random

import pytest

from streams.faust.watermark import Watermark


def delivered(*offsets: int, start: int = 0, committed: int | None = None) -> Watermark:
    mark = Watermark(start, committed)
    for offset in offsets:
        mark.deliver(offset, now=float(offset))
    return mark


def commit(mark: Watermark) -> int | None:
    offset = mark.committable()
    if offset is not None:
        mark.commit(offset)
    return offset


def test_a_held_record_holds_the_commit_until_it_is_acknowledged() -> None:
    mark = delivered(0, 1, 2, 3)
    for offset in (3, 1, 0):
        mark.ack(offset)
    assert commit(mark) == 2
    assert commit(mark) is None
    mark.ack(2)
    assert commit(mark) == 4


def test_nothing_is_committed_before_something_is_acknowledged() -> None:
    assert commit(delivered()) is None
    assert commit(delivered(5, start=5)) is None


def test_a_repeated_or_unknown_acknowledgement_changes_nothing() -> None:
    mark = delivered(0, 1)
    for offset in (0, 0, 7, -1):
        mark.ack(offset)
    assert commit(mark) == 1
    assert mark.uncommitted() == 1


def test_the_commit_passes_offsets_that_no_record_has() -> None:
    mark = delivered(0, 1, 7)
    mark.ack(0)
    mark.ack(1)
    assert commit(mark) == 7


def test_a_record_taken_back_is_the_next_to_be_delivered() -> None:
    mark = delivered(4, start=4)
    mark.deliver(9, now=1.0)
    mark.take_back(9, 5)
    mark.ack(4)
    assert (mark.position, mark.oldest(), commit(mark)) == (5, None, 5)


def test_the_commit_never_moves_backwards() -> None:
    mark = delivered(3, 4, start=3, committed=9)
    mark.ack(3)
    mark.ack(4)
    assert commit(mark) is None


def test_records_acknowledged_during_a_commit_stay_uncommitted() -> None:
    mark = delivered(0, 1, 2)
    mark.ack(0)
    offset = mark.committable()
    mark.ack(1)
    assert offset == 1
    mark.commit(offset)
    assert mark.uncommitted() == 2
    assert commit(mark) == 2
    assert mark.uncommitted() == 1


def test_the_oldest_unacknowledged_record_is_named_with_its_delivery_time() -> None:
    mark = delivered(0, 1, 2)
    mark.ack(0)
    assert mark.oldest() == (1, 1.0)


@pytest.mark.parametrize("seed", range(20))
def test_the_commit_is_the_first_unacknowledged_offset_for_any_order_of_acks(seed: int) -> None:
    chance = random.Random(seed)
    offsets = sorted(chance.sample(range(100), 40))
    mark = delivered(*offsets)
    unacked = set(offsets)
    for offset in chance.sample(offsets, 40):
        mark.ack(offset)
        unacked.discard(offset)
        if chance.random() < 0.3:
            commit(mark)
            expected = min(unacked, default=offsets[-1] + 1)
            assert mark.committed == expected or expected == offsets[0]
    commit(mark)
    assert (mark.committed, mark.uncommitted()) == (offsets[-1] + 1, 0)
