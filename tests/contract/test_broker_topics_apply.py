"""Plans for topics carried out: on the embedded broker, or on FATHOM_TEST_KAFKA."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from streams.kafka import topics_admin
from streams.kafka.clients import administering
from streams.kafka.security import PLAINTEXT
from streams.kafka.topics_admin import existing
from streams.kafka.topics_plan import TopicChange, TopicError, TopicSpec
from tests.contract.broker_cluster import create_topic, eventually, fresh, producer

DAY_MS = 24 * 3600 * 1000


def topic(**changed: object) -> TopicSpec:
    return replace(TopicSpec(fresh("planned"), 3, 7 * DAY_MS), **changed)  # type: ignore[arg-type]


def plan(bootstrap: str, *topics: TopicSpec) -> list[TopicChange]:
    return asyncio.run(topics_admin.plan(bootstrap, topics, PLAINTEXT))


def apply(bootstrap: str, *topics: TopicSpec, allow: Sequence[str] = ()) -> list[TopicChange]:
    """What was refused."""
    return asyncio.run(topics_admin.apply(bootstrap, topics, PLAINTEXT, allow))[1]


def actions(steps: Sequence[TopicChange]) -> set[str]:
    return {step.action for step in steps}


async def settings(bootstrap: str, name: str) -> dict[str, str]:
    async with administering(bootstrap, PLAINTEXT) as admin:
        return (await topics_admin._configs(admin, [name]))[name]


def becomes(action: str, bootstrap: str, wanted: TopicSpec) -> bool:
    """Whether that is all a plan says: what a cluster has done, each of its nodes says a moment later."""

    async def so() -> bool:
        return actions(await topics_admin.plan(bootstrap, [wanted], PLAINTEXT)) == {action}

    return bool(asyncio.run(eventually(so)))


def partition_count(bootstrap: str, name: str) -> int | None:
    return asyncio.run(existing(bootstrap)).get(name)


async def fill(bootstrap: str, name: str, ages_ms: Sequence[int]) -> None:
    async with producer(bootstrap) as sending:
        for age in ages_ms:
            await sending.send_and_wait(name, b"x", key=b"k", timestamp_ms=int(time.time() * 1000) - age)


def test_what_is_missing_is_made_as_planned_and_then_nothing_is_left_to_do(bootstrap: str) -> None:
    wanted = topic()
    assert becomes("create", bootstrap, wanted)
    assert apply(bootstrap, wanted) == []
    assert becomes("keep", bootstrap, wanted)


def test_configs_are_set_one_by_one_and_others_are_left_alone(bootstrap: str) -> None:
    wanted = topic()

    async def scenario() -> dict[str, str]:
        configs = {"retention.ms": "1000", "segment.bytes": "2000000"}
        await create_topic(bootstrap, 3, configs, wanted.name)
        await topics_admin.apply(bootstrap, [wanted], PLAINTEXT)
        return await settings(bootstrap, wanted.name)

    found = asyncio.run(scenario())
    assert found["retention.ms"] == str(7 * DAY_MS)
    assert found["max.message.bytes"] == "4000000"
    assert found["segment.bytes"] == "2000000"


def test_a_shorter_age_says_how_many_records_go_and_waits_to_be_allowed(bootstrap: str) -> None:
    wanted = topic()
    longer = replace(wanted, retention_ms=90 * DAY_MS)
    apply(bootstrap, longer)
    assert becomes("keep", bootstrap, longer)
    asyncio.run(fill(bootstrap, wanted.name, [30 * DAY_MS, 20 * DAY_MS, 0]))
    [step] = apply(bootstrap, wanted)
    assert (step.setting, step.loses) == ("retention.ms", "2 of 3 records now, the others when they are as old")
    assert becomes("keep", bootstrap, longer)  # nothing was done
    assert apply(bootstrap, wanted, allow=[wanted.name]) == []
    assert becomes("keep", bootstrap, wanted)


def test_partitions_are_added_to_an_empty_topic_and_not_to_one_with_records(bootstrap: str) -> None:
    wanted = topic()
    apply(bootstrap, wanted)
    assert becomes("keep", bootstrap, wanted)
    more = replace(wanted, partitions=5)
    assert apply(bootstrap, more) == []
    assert becomes("keep", bootstrap, more)
    assert partition_count(bootstrap, wanted.name) == 5
    asyncio.run(fill(bootstrap, wanted.name, [0]))
    [step] = apply(bootstrap, replace(wanted, partitions=6))
    assert "the order of a key: 1 records" in (step.loses or "")
    assert partition_count(bootstrap, wanted.name) == 5


def test_fewer_partitions_take_a_new_topic_which_has_to_be_allowed(bootstrap: str) -> None:
    wanted = topic()
    apply(bootstrap, wanted)
    assert becomes("keep", bootstrap, wanted)
    asyncio.run(fill(bootstrap, wanted.name, [0, 0]))
    fewer = replace(wanted, partitions=2)
    [step] = apply(bootstrap, fewer)
    assert "all 2 records" in (step.loses or "")
    assert apply(bootstrap, fewer, allow=[wanted.name]) == []
    assert becomes("keep", bootstrap, fewer)
    assert partition_count(bootstrap, wanted.name) == 2


def test_conversations_are_not_torn_and_then_nothing_else_is_done_either(bootstrap: str) -> None:
    torn, other = TopicSpec("conversation.turns", 3, 7 * DAY_MS), topic()
    apply(bootstrap, torn)
    assert becomes("keep", bootstrap, torn)
    asyncio.run(fill(bootstrap, torn.name, [0]))
    with pytest.raises(TopicError, match="set FATHOM_PARTITIONS=3"):
        apply(bootstrap, other, replace(torn, partitions=4))
    assert becomes("create", bootstrap, other)


def test_replicas_that_one_node_cannot_hold_are_said_and_left(bootstrap: str) -> None:
    wanted = topic()
    apply(bootstrap, wanted)
    assert becomes("keep", bootstrap, wanted)
    planned = plan(bootstrap, replace(wanted, replication=3))
    assert [(step.action, step.setting) for step in planned] == [("by hand", "replication")]
    assert apply(bootstrap, replace(wanted, replication=3)) == []


def test_a_topic_that_takes_less_than_a_worker_writes_is_refused_by_name_and_what_it_should_be(bootstrap: str) -> None:
    async def scenario() -> tuple[str, str]:
        small = await create_topic(bootstrap, configs={"max.message.bytes": "1048588"})
        large = await create_topic(bootstrap, configs={"max.message.bytes": "4000000"})
        with pytest.raises(TopicError) as raised:
            await topics_admin.check_limits(bootstrap, [large, small])
        await topics_admin.check_limits(bootstrap, [large])
        return small, str(raised.value)

    small, said = asyncio.run(scenario())
    assert f"{small} (1,048,588)" in said
    assert "4,000,000 bytes" in said
    assert "fathom topics apply" in said
