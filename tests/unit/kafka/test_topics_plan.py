"""What a plan for topics says: each step, and what it would lose."""

from dataclasses import replace

import pytest

from streams.kafka.topics_plan import (
    CONVERSATION_TOPICS,
    TopicChange,
    TopicError,
    TopicSpec,
    TopicState,
    check,
    min_insync,
    refused,
    steps,
    wanted,
)

DAY_MS = 24 * 3600 * 1000
LETTERS = TopicSpec("dead-letters.depth", 3, 7 * DAY_MS, 1)
MESSAGES = TopicSpec("messages.in", 3, 7 * DAY_MS, 1)
AS_WANTED = TopicState(3, 1, dict(LETTERS.config))


def step(found: TopicState, topic: TopicSpec = LETTERS) -> TopicChange:
    [only] = steps([topic], {topic.name: found})
    return only


def test_what_is_as_planned_is_kept_and_what_is_missing_is_made():
    assert step(AS_WANTED).action == "keep"
    [made] = steps([LETTERS], {})
    assert (made.action, made.loses, made.wanted) == ("create", None, "3 partitions, 1 replicas")


def test_topics_that_are_not_ours_are_left_alone():
    names = {each.topic for each in steps([LETTERS], {"context-packs.out.replay.7": AS_WANTED, "orders": AS_WANTED})}
    assert names == {LETTERS.name}


@pytest.mark.parametrize(
    ("setting", "now", "records", "loses"),
    [
        ("retention.ms", str(DAY_MS), 9, None),  # longer than it was
        ("retention.ms", "-1", 9, "4 of 9 records"),  # it was for ever
        ("retention.ms", str(8 * DAY_MS), 9, "4 of 9 records"),
        ("retention.ms", str(8 * DAY_MS), 0, None),  # nothing is in it
        ("max.message.bytes", "1048588", 9, None),
        ("max.message.bytes", "9000000", 9, "above 4000000 bytes"),
        ("max.message.bytes", "9000000", 0, None),
        ("cleanup.policy", "compact", 9, "past its age, of 9 records"),
        ("cleanup.policy", "compact", 0, None),
        ("min.insync.replicas", "2", 9, None),
    ],
)
def test_a_config_is_changed_and_what_that_loses_is_said(setting: str, now: str, records: int, loses: str | None):
    found = TopicState(3, 1, {**LETTERS.config, setting: now}, records, 4)
    changed = step(found)
    assert (changed.action, changed.setting, changed.now) == ("alter", setting, now)
    assert (changed.loses is None) if loses is None else (loses in (changed.loses or ""))


def test_compaction_turned_on_names_what_goes():
    class Compacted(TopicSpec):
        @property
        def config(self) -> dict[str, str]:
            return {**super().config, "cleanup.policy": "compact"}

    changed = step(replace(AS_WANTED, records=5), Compacted("dead-letters.depth", 3, 7 * DAY_MS, 1))
    assert changed.loses == "all but the newest record of each key, of 5 records"


def test_more_partitions_reorder_keys_once_there_is_data():
    assert step(replace(AS_WANTED, partitions=2)).loses is None
    grown = step(replace(AS_WANTED, partitions=2, records=7))
    assert grown.action == "grow"
    assert "the order of a key: 7 records" in (grown.loses or "")
    torn = step(replace(AS_WANTED, partitions=2, records=7, config=MESSAGES.config), MESSAGES)
    assert "the order of a conversation" in (torn.loses or "")
    assert "set FATHOM_PARTITIONS=2" in torn.detail


def test_fewer_partitions_mean_a_new_topic_and_nothing_else_is_changed_in_the_old_one():
    found = TopicState(5, 1, {**LETTERS.config, "retention.ms": "1"}, 7)
    made_anew = step(found)
    assert made_anew.action == "recreate"
    assert "all 7 records" in (made_anew.loses or "")
    assert step(replace(found, records=0)).loses is not None


def test_replicas_are_moved_by_hand_and_never_more_of_them_awaited_than_there_are():
    topic = replace(LETTERS, replication=3)
    moved = step(replace(AS_WANTED, single_node=False), topic)
    assert (moved.action, moved.setting, moved.now, moved.wanted) == ("by hand", "replication", "1", "3")
    assert "kafka-reassign-partitions" in moved.detail
    assert "one node" in step(replace(AS_WANTED, single_node=True), topic).detail


def test_a_step_that_loses_something_waits_for_its_topic_to_be_named():
    found = TopicState(3, 1, {**LETTERS.config, "retention.ms": "-1", "min.insync.replicas": "2"}, 9)
    planned = steps([LETTERS], {LETTERS.name: found})
    assert [each.setting for each in refused(planned, [])] == ["retention.ms"]
    assert refused(planned, ["messages.in"]) != []
    assert refused(planned, [LETTERS.name]) == []


def test_two_of_three_replicas_hold_a_record_and_audit_is_kept_a_year_uncompacted():
    assert [min_insync(number) for number in (1, 2, 3, 5)] == [1, 1, 2, 2]
    topics = {topic.name: topic for topic in wanted(12, 3)}
    assert {topic.config["cleanup.policy"] for topic in topics.values()} == {"delete"}
    assert topics["memory.decisions"].config["retention.ms"] == str(365 * DAY_MS)
    assert {topic.config["min.insync.replicas"] for topic in topics.values()} == {"2"}
    assert {topics[name].partitions for name in CONVERSATION_TOPICS} == {12}


def test_a_worker_that_makes_no_topics_says_what_is_missing() -> None:
    there = {topic.name: 3 for topic in wanted(3) if topic.name not in ("messages.in", "answers.out")}
    with pytest.raises(TopicError, match=r"missing: messages\.in, answers\.out; run `fathom topics apply`"):
        check(there, wanted(3))


def test_a_worker_says_which_conversation_topic_has_another_count_of_partitions() -> None:
    there = {topic.name: 3 for topic in wanted(3)}
    check({**there, "documents.in": 6}, wanted(3))
    with pytest.raises(TopicError, match=r"tools\.results\.in has 6 partitions"):
        check({**there, "tools.results.in": 6}, wanted(3))
