"""The layout of a cluster, by what its groups have committed: on the embedded broker, or on FATHOM_TEST_KAFKA."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest

from schemas.topics import (
    CONTEXT_PACKS,
    CONVERSATION_TURNS,
    DEPTH_CLASSIFIED,
    MESSAGES_IN,
    PACKS_PARTIAL,
    RETRIEVAL_PLANS,
)
from streams.config import ConfigError
from streams.kafka.security import PLAINTEXT
from streams.runtime.layout import cluster
from tests.contract.broker_cluster import create_topic, fresh, producer

NAMES = (MESSAGES_IN, CONVERSATION_TURNS, DEPTH_CLASSIFIED, RETRIEVAL_PLANS, PACKS_PARTIAL, CONTEXT_PACKS)


@dataclass(frozen=True)
class Cluster:
    """A broker, and what the topics and groups of this cluster are called on it."""

    bootstrap: str
    topics: Mapping[str, str]
    groups: Mapping[str, str]


@pytest.fixture
def site(bootstrap: str, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """The topics of the path and its groups under names of their own, and nothing committed."""
    topics = {topic.name: fresh(topic.name) for topic in NAMES}
    groups = {group: fresh(group) for group in (*cluster.GROUPS, cluster.HEAD)}
    reads = {groups[group]: tuple(topics[name] for name in names) for group, names in cluster.GROUPS.items()}
    monkeypatch.setattr(cluster, "GROUPS", reads)
    monkeypatch.setattr(cluster, "HEAD", groups[cluster.HEAD])
    monkeypatch.setattr(cluster, "JOIN", groups[cluster.JOIN])
    monkeypatch.setattr(cluster, "MESSAGES_IN", replace(MESSAGES_IN, name=topics[MESSAGES_IN.name]))

    async def make() -> None:
        for name in topics.values():
            await create_topic(bootstrap, 2, name=name)

    asyncio.run(make())
    return Cluster(bootstrap, topics, groups)


async def layout_of(bootstrap: str) -> str:
    return await cluster.layout_of(bootstrap, PLAINTEXT)


def test_a_new_cluster_is_chained_and_each_switch_is_seen_by_the_next_worker(site: Cluster) -> None:
    async def story() -> None:
        assert await layout_of(site.bootstrap) == "chained"
        await cluster.check(site.bootstrap, PLAINTEXT, "chained")
        await cluster.enter_split(site.bootstrap, PLAINTEXT)
        assert await layout_of(site.bootstrap) == "split"
        with pytest.raises(ConfigError, match="type `fathom layout chained`"):
            await cluster.check(site.bootstrap, PLAINTEXT, "chained")
        await cluster.leave_split(site.bootstrap, PLAINTEXT)
        assert await layout_of(site.bootstrap) == "chained"
        with pytest.raises(ConfigError, match="Set FATHOM_LAYOUT=chained"):
            await cluster.check(site.bootstrap, PLAINTEXT, "split")

    asyncio.run(story())


def test_what_a_split_group_has_not_read_is_counted_until_it_is_left(site: Cluster) -> None:
    async def story() -> None:
        await cluster.enter_split(site.bootstrap, PLAINTEXT)
        assert await cluster.unread(site.bootstrap, PLAINTEXT) == {}
        async with producer(site.bootstrap) as sending:
            for number in (0, 1, 1):
                await sending.send_and_wait(site.topics[RETRIEVAL_PLANS.name], b"x", partition=number)
        assert await cluster.unread(site.bootstrap, PLAINTEXT) == {site.groups["fathom.retrieval"]: 3}
        await cluster.leave_split(site.bootstrap, PLAINTEXT)
        assert await cluster.unread(site.bootstrap, PLAINTEXT) == {}

    asyncio.run(story())


def test_a_join_that_begins_looks_back_for_the_inputs_of_packs_that_are_not_out(site: Cluster) -> None:
    """A message that is not committed may have its record on `packs.partial`, and no pack."""

    async def story() -> None:
        async with producer(site.bootstrap) as sending:
            for topic in (PACKS_PARTIAL, DEPTH_CLASSIFIED):
                for number in range(2):
                    await sending.send_and_wait(site.topics[topic.name], b"x", partition=number)
            await sending.send_and_wait(site.topics[MESSAGES_IN.name], b"x", partition=1)
        await cluster.enter_split(site.bootstrap, PLAINTEXT)
        assert await cluster.unread(site.bootstrap, PLAINTEXT) == {site.groups["fathom.assembler"]: 1}

    asyncio.run(story())
