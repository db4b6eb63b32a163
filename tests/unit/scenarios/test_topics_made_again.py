"""Where `messages.in` was made again its offsets begin anew: conversations go on, and what is passed over is told."""

import logging

import pytest

from schemas.topics import CONVERSATION_TURNS, MEMORY_ERASURES, MESSAGES_IN
from streams.kafka.records import TopicPartition
from streams.stores.sessions.memory import MemoryWorkingSets
from streams.testing.pipeline import Pipeline
from tests.unit.scenarios.test_forgetting import forget


def test_a_conversation_goes_on_with_all_that_was_said_before() -> None:
    sets = MemoryWorkingSets()
    with Pipeline(working_sets=sets, partitions=1) as before:
        for _ in range(5):
            before.say("Hello there!", conversation="other")
        before.say("The deadline of Atlas is 15 May.", conversation="c1")
        last = before.events(CONVERSATION_TURNS)[-1].event.seq
    with Pipeline(working_sets=sets, partitions=1) as again:
        pack = again.ask("And when is the deadline of Atlas?", conversation="c1")
        assert "15 May" in (pack.text or "")
        again.say("The deadline of Atlas is 20 May now.", conversation="c1")
        seqs = [each.event.seq for each in again.events(CONVERSATION_TURNS)]
        assert seqs == [last + 1, last + 2]
        forget(again, "c1")
        [erasure] = again.events(MEMORY_ERASURES)
        assert erasure.event.up_to_seq == last + 2
        assert "May" not in (again.ask("When is the deadline of Atlas?", conversation="c2").text or "")


def test_what_a_forgotten_conversation_hears_by_lower_offsets_is_told(caplog: pytest.LogCaptureFixture) -> None:
    sets = MemoryWorkingSets()
    with Pipeline(working_sets=sets, partitions=1) as before:
        for _ in range(5):
            before.say("Hello there!", conversation="other")
        forget(before, "c1")
    caplog.set_level(logging.WARNING, "fathom.depth")
    with Pipeline(working_sets=sets, partitions=1) as again:
        again.say("The deadline of Atlas is 15 May.", conversation="c1")
        assert again.events(CONVERSATION_TURNS) == []
    [warning] = caplog.records
    fields = warning.fields  # type: ignore[attr-defined]
    assert (fields["topic"], fields["partition"], fields["offset"]) == (MESSAGES_IN.name, 0, 0)
    assert "made again" in fields["why"]
    assert "conversation_id" in fields["next"]


def test_a_wish_to_forget_that_is_read_again_covers_nothing_that_was_said_since() -> None:
    with Pipeline(partitions=1) as fathom:
        fathom.say("The deadline of Atlas is 15 May.", conversation="c1")
        forget(fathom, "c1")
        wish = fathom.log.of(MESSAGES_IN.name)[-1]
        fathom.say("The deadline of Atlas is 20 May.", conversation="c1")
        fathom._members["depth"].acked[TopicPartition(MESSAGES_IN.name, 0)] = set(range(wish.offset))
        fathom.crash("depth")
        fathom.settle()
        assert {each.event.up_to_seq for each in fathom.events(MEMORY_ERASURES)} == {wish.offset}
        assert "20 May" in (fathom.ask("When is the deadline of Atlas?", conversation="c1").text or "")
