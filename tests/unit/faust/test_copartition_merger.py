"""Co-partitioned topics in step: what waits for what, and for how long."""

import logging
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest
from aiokafka import TopicPartition
from hypothesis import given
from hypothesis import strategies as st

from streams.faust.copartition_merger import LIMIT_S, NEVER, CopartitionMerger, Fetched, in_time_order

CALLS, RESULTS, OTHER = (TopicPartition(name, 0) for name in ("calls", "results", "other"))
CALLS_1 = TopicPartition("calls", 1)
BOTH = {CALLS, RESULTS}


class Raw(NamedTuple):
    timestamp: int
    offset: int = 0


@dataclass
class Reading:
    """A reader of both topics, and what the broker has answered to it so far."""

    now: float = 0.0
    state: dict[TopicPartition, Fetched] = field(default_factory=dict)
    in_step: CopartitionMerger = field(init=False)

    def __post_init__(self) -> None:
        self.in_step = CopartitionMerger(("results", "calls"), clock=lambda: self.now)

    def answered(self, tp: TopicPartition, at: int, *, at_end: bool = True) -> None:
        self.state[tp] = Fetched(at_end, at)

    def waits(self, seconds: int) -> list[tuple[str, int]]:
        """What goes while it looks once a second."""
        went = []
        for _ in range(seconds):
            self.now += 1
            went += self.release()
        return went

    def release(
        self, batch: dict[TopicPartition, list[Raw]] | None = None, reading: set[TopicPartition] = BOTH
    ) -> list[tuple[str, int]]:
        """Topics and timestamps of what is handed over, in order."""
        found = self.in_step.release(batch or {}, reading, lambda tp: self.state.get(tp, NEVER))
        return [(tp.topic, raw.timestamp) for tp, records in in_time_order(found) for raw in records]


def test_a_call_goes_at_once_where_the_same_answer_says_that_there_are_no_results() -> None:
    reader = Reading()
    reader.answered(CALLS, 7)
    reader.answered(RESULTS, 7)
    assert reader.release({CALLS: [Raw(10)]}) == [("calls", 10)]
    assert not reader.in_step.kept


@pytest.mark.covers("CF-87", "AC-88")
def test_a_call_waits_until_the_results_have_been_answered_for() -> None:
    reader = Reading()
    reader.answered(CALLS, 7)
    assert reader.release({CALLS: [Raw(10)]}) == []
    assert set(reader.in_step.kept) == {CALLS}
    # An answer of before the call was read says nothing of what came since.
    reader.answered(RESULTS, 6)
    assert reader.release() == []
    reader.answered(RESULTS, 8)
    assert reader.release({RESULTS: [Raw(9)]}) == [("results", 9), ("calls", 10)]
    assert not reader.in_step.kept


@pytest.mark.covers("CF-87", "AC-88")
def test_a_call_waits_while_there_are_older_results_to_read() -> None:
    reader = Reading()
    reader.answered(CALLS, 7)
    reader.answered(RESULTS, 7, at_end=False)
    assert reader.release({CALLS: [Raw(10), Raw(30)], RESULTS: [Raw(1), Raw(5)]}) == [("results", 1), ("results", 5)]
    # Of the results nothing older than 20 can come, of the calls nothing older than what is kept.
    assert reader.release({RESULTS: [Raw(12), Raw(20)]}) == [("calls", 10), ("results", 12), ("results", 20)]
    reader.answered(RESULTS, 8)
    assert reader.release() == [("calls", 30)]


@pytest.mark.covers("CF-87", "AC-88")
def test_of_one_millisecond_results_go_before_calls_however_they_are_fetched() -> None:
    reader = Reading()
    reader.answered(CALLS, 7)
    reader.answered(RESULTS, 7)
    assert reader.release({CALLS: [Raw(10)], RESULTS: [Raw(10)]}) == [("results", 10), ("calls", 10)]
    # There may be more results of that millisecond, but no calls that belong before the results at hand.
    reader.answered(RESULTS, 8, at_end=False)
    reader.answered(CALLS, 8, at_end=False)
    assert reader.release({CALLS: [Raw(20)], RESULTS: [Raw(20)]}) == [("results", 20)]
    assert reader.release({RESULTS: [Raw(20), Raw(21)]}) == [("results", 20), ("calls", 20)]


def test_timestamps_that_go_back_stop_nothing() -> None:
    reader = Reading()
    reader.answered(CALLS, 7, at_end=False)
    reader.answered(RESULTS, 7, at_end=False)
    assert reader.release({CALLS: [Raw(10), Raw(5)], RESULTS: [Raw(40), Raw(12)]}) == [("calls", 10), ("calls", 5)]


def test_other_partitions_and_topics_do_not_wait() -> None:
    reader = Reading()
    for tp in (CALLS, CALLS_1, OTHER):
        reader.answered(tp, 7)
    # The results of partition 1 are not ours, and nobody asks for the order of the other topic.
    batch = {CALLS: [Raw(10)], CALLS_1: [Raw(11)], OTHER: [Raw(12)]}
    assert reader.release(batch, {*BOTH, CALLS_1, OTHER}) == [("calls", 11), ("other", 12)]


def test_a_paused_sister_is_not_waited_for() -> None:
    reader = Reading()
    reader.answered(CALLS, 7)
    assert reader.release({CALLS: [Raw(10)]}, {CALLS}) == [("calls", 10)]


def test_a_sister_that_is_silent_for_too_long_is_waited_for_once(caplog: pytest.LogCaptureFixture) -> None:
    reader = Reading()
    reader.answered(RESULTS, 5)
    reader.answered(CALLS, 7)
    assert reader.release({CALLS: [Raw(10)]}) == []
    assert reader.waits(int(LIMIT_S) - 1) == []
    reader.now += 0.9
    assert reader.release() == []
    reader.now += 0.1
    with caplog.at_level(logging.WARNING):
        assert reader.release() == [("calls", 10)]
    assert caplog.messages == [
        "results-0: not read for 15 s, so what belongs to it goes on without; see that the partition has a leader"
    ]
    reader.answered(CALLS, 8)
    assert reader.release({CALLS: [Raw(11)]}) == [("calls", 11)]
    # It is back: from its next answer on it counts again.
    reader.answered(RESULTS, 8, at_end=False)
    reader.answered(CALLS, 9)
    assert reader.release({CALLS: [Raw(12)]}) == []


def test_the_limit_counts_from_the_last_record_that_went() -> None:
    reader = Reading()
    reader.answered(CALLS, 7)
    reader.answered(RESULTS, 7, at_end=False)
    assert reader.release({CALLS: [Raw(10)]}) == []
    assert reader.waits(int(LIMIT_S) - 1) == []
    assert reader.release({RESULTS: [Raw(3)]}) == [("results", 3)]
    assert reader.waits(int(LIMIT_S) - 1) == []
    assert set(reader.in_step.kept) == {CALLS}


def test_the_time_in_which_records_are_not_taken_does_not_count(caplog: pytest.LogCaptureFixture) -> None:
    """As in an overload, where background stages are held back: nobody has asked for the sister meanwhile."""
    reader = Reading()
    reader.answered(CALLS, 7)
    assert reader.release({CALLS: [Raw(10)]}) == []
    reader.now += 4 * LIMIT_S
    assert reader.release() == []
    reader.answered(RESULTS, 8)
    assert reader.release({RESULTS: [Raw(9)]}) == [("results", 9), ("calls", 10)]
    assert caplog.messages == []


@pytest.mark.parametrize("forget", [lambda reader: reader.in_step.clear(), lambda reader: reader.in_step.drop(CALLS)])
def test_what_is_read_again_is_not_handed_over_twice(forget: Callable[[Reading], None]) -> None:
    reader = Reading()
    reader.answered(CALLS, 7)
    reader.release({CALLS: [Raw(10)]})
    forget(reader)
    reader.answered(RESULTS, 8)
    assert reader.release() == []
    reader.answered(CALLS, 8)
    assert reader.release({CALLS: [Raw(10)]}) == [("calls", 10)]


def test_without_topics_to_keep_in_step_a_batch_passes_as_it_is() -> None:
    batch = {CALLS: [Raw(10)], RESULTS: [Raw(1)]}
    assert CopartitionMerger().release(batch, BOTH, lambda _: NEVER) is batch


@pytest.mark.covers("CF-87")
@given(
    logs=st.tuples(*[st.lists(st.integers(0, 50), max_size=30).map(sorted)] * 2),
    portions=st.lists(st.tuples(st.sampled_from([CALLS, RESULTS]), st.integers(0, 9)), max_size=60),
)
def test_however_the_topics_are_fetched_all_comes_once_and_in_the_order_of_time(
    logs: tuple[list[int], list[int]], portions: list[tuple[TopicPartition, int]]
) -> None:
    reader, read, handed = Reading(), defaultdict(int), []
    log = {tp: [Raw(at, n) for n, at in enumerate(times)] for tp, times in zip((CALLS, RESULTS), logs, strict=True)}
    # In the end all is fetched: twice, as what was kept keeps its partition from being read on.
    for clock, (tp, count) in enumerate([*portions, *[(CALLS, 99), (RESULTS, 99)] * 3]):
        batch = {}
        if tp not in reader.in_step.kept:
            found = log[tp][read[tp] : read[tp] + count]
            read[tp] += len(found)
            batch = {tp: found} if found else {}
        reader.answered(tp, clock, at_end=read[tp] == len(log[tp]))
        released = reader.in_step.release(batch, BOTH, lambda tp: reader.state.get(tp, NEVER))
        handed += [(raw.timestamp, tp.topic, raw.offset) for tp, records in in_time_order(released) for raw in records]
    assert [(at, topic != "results") for at, topic, _ in handed] == sorted(
        (at, n == 0) for n, times in enumerate(logs) for at in times
    )
    for tp in (CALLS, RESULTS):
        assert [offset for _, topic, offset in handed if topic == tp.topic] == list(range(len(log[tp])))
