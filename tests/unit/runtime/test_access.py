"""The rights that follow from the topology: what is read in a group, by views and ledgers, and written."""

import pytest

from schemas.topics import AUDIT_HEADS, CONTEXT_PACKS, MEMORY_QUARANTINES, TOPICS
from streams.audit.chain import AUDITED
from streams.edges.http.events import progress_tail
from streams.runtime import access
from streams.runtime.layout.cluster import HEAD, JOIN
from streams.topology import GROUPS, LAYOUTS, SPLIT_PATH, STAGES, groups_of


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_topic_of_every_stage_is_in_the_rights_of_its_group_and_no_other_name(layout: str):
    known = {topic.name for topic in TOPICS} | {stage.dead_letters for stage in LAYOUTS[layout]}
    for stage in LAYOUTS[layout]:
        given = access.of_group(stage.group_name, layout)
        assert all("Read" in given.topics[topic.name] for topic in stage.consumes)
        assert all("Write" in given.topics[topic.name] for topic in stage.writes)
        assert given.topics[stage.dead_letters] == ("Describe", "Write")
        assert given.group == stage.consumer_group
        assert given.topics.keys() <= known


def test_views_and_ledgers_are_read_too():
    assert access.of_group("depth").topics["depth.classified"] == ("Describe", "Read", "Write")
    assert access.of_group("depth").topics["packs.partial"] == ("Describe", "Read", "Write")
    assert access.of_group("depth").topics["context-packs.out"] == ("Describe", "Read", "Write")
    assert access.of_group("tool-gate").topics["tools.calls.out"] == ("Describe", "Read", "Write")


def test_what_a_process_hands_from_stage_to_stage_it_writes_and_does_not_read():
    assert access.of_group("depth").topics["retrieval.plans"] == ("Describe", "Write")


@pytest.mark.parametrize(
    ("group", "layout"), [("depth", "chained"), *((name, "split") for name in groups_of(SPLIT_PATH))]
)
def test_a_worker_of_the_pack_path_may_learn_the_layout_of_its_cluster(group: str, layout: str):
    """A broker shows what a group has committed of those topics alone that the user may describe."""
    given = access.of_group(group, layout)
    assert given.groups[JOIN] == (("Read",) if given.group == JOIN else ("Describe",))
    assert "Describe" in given.topics["packs.partial"]


def test_who_switches_the_layout_moves_the_groups_of_the_split_one_and_writes_nothing():
    given = access.of_layout()
    assert given.groups == {HEAD: ("Describe",)} | {
        stage.consumer_group: ("Read",) for stage in SPLIT_PATH if not stage.first
    }
    assert given.topics == {topic.name: ("Describe", "Read") for stage in SPLIT_PATH for topic in stage.reads}


def test_of_groups_that_store_what_it_awaits_a_group_learns_how_far_they_are_and_no_more():
    given = access.of_group("learning")
    assert given.groups == {
        "fathom.learning": ("Read",), "fathom.graph-writers": ("Describe",), "fathom.index-writers": ("Describe",),
    }  # fmt: skip
    assert given.topics["memory.consultations"] == ("Describe",)
    for stage in STAGES:
        for topic, group in stage.awaited.items():
            assert any(topic in each.reads for each in STAGES if each.consumer_group == group)


def test_no_group_writes_what_outsiders_write_and_serve_reads_in_no_group():
    inputs = {topic.name for topic in TOPICS if topic.name.endswith(".in")}
    written = {name for group in GROUPS for name, each in access.of_group(group).topics.items() if "Write" in each}
    assert not inputs & written
    assert access.of_serve().group is None


def test_serve_may_read_what_its_streams_and_lists_are_made_of():
    of_lists = {CONTEXT_PACKS.name, MEMORY_QUARANTINES.name}
    assert {topic.name for topic in progress_tail.TOPICS} | of_lists <= {topic.name for topic in access.SERVED_READS}


def test_an_unknown_group_has_no_rights():
    with pytest.raises(KeyError):
        access.of_group("nobody")


def test_the_sealer_reads_what_it_seals_and_writes_heads_alone():
    given = access.of_seal()
    assert given.group is None
    assert given.topics.keys() == {*AUDITED, AUDIT_HEADS.name}
    assert [name for name, each in given.topics.items() if "Write" in each] == [AUDIT_HEADS.name]
    assert all({"Describe", "DescribeConfigs", "Read"} <= {*each} for each in given.topics.values())
