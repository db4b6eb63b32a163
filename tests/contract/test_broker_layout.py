"""The layout of a cluster, by what its groups have committed: on the embedded broker, or on FATHOM_TEST_KAFKA."""

import asyncio
from collections.abc import Iterator

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
from tests.contract.broker_cluster import broker_under_test, create_topic, producer

TOPICS = (MESSAGES_IN, CONVERSATION_TURNS, DEPTH_CLASSIFIED, RETRIEVAL_PLANS, PACKS_PARTIAL, CONTEXT_PACKS)


@pytest.fixture
def bootstrap() -> Iterator[str]:
    """A broker with the topics of the path, and nothing committed."""
    with broker_under_test() as address:

        async def make() -> None:
            for topic in TOPICS:
                await create_topic(address, 2, name=topic.name)

        asyncio.run(make())
        yield address


async def layout_of(bootstrap: str) -> str:
    return await cluster.layout_of(bootstrap, PLAINTEXT)


def test_a_new_cluster_is_chained_and_each_switch_is_seen_by_the_next_worker(bootstrap: str) -> None:
    async def story() -> None:
        assert await layout_of(bootstrap) == "chained"
        await cluster.check(bootstrap, PLAINTEXT, "chained")
        await cluster.enter_split(bootstrap, PLAINTEXT)
        assert await layout_of(bootstrap) == "split"
        with pytest.raises(ConfigError, match="type `fathom layout chained`"):
            await cluster.check(bootstrap, PLAINTEXT, "chained")
        await cluster.leave_split(bootstrap, PLAINTEXT)
        assert await layout_of(bootstrap) == "chained"
        with pytest.raises(ConfigError, match="Set FATHOM_LAYOUT=chained"):
            await cluster.check(bootstrap, PLAINTEXT, "split")

    asyncio.run(story())


def test_what_a_split_group_has_not_read_is_counted_until_it_is_left(bootstrap: str) -> None:
    async def story() -> None:
        await cluster.enter_split(bootstrap, PLAINTEXT)
        assert await cluster.unread(bootstrap, PLAINTEXT) == {}
        async with producer(bootstrap) as sending:
            for number in (0, 1, 1):
                await sending.send_and_wait(RETRIEVAL_PLANS.name, b"x", partition=number)
        assert await cluster.unread(bootstrap, PLAINTEXT) == {"fathom.retrieval": 3}
        await cluster.leave_split(bootstrap, PLAINTEXT)
        assert await cluster.unread(bootstrap, PLAINTEXT) == {}

    asyncio.run(story())


def test_a_join_that_begins_looks_back_for_the_inputs_of_packs_that_are_not_out(bootstrap: str) -> None:
    """A message that is not committed may have its record on `packs.partial`, and no pack."""

    async def story() -> None:
        async with producer(bootstrap) as sending:
            for topic in (PACKS_PARTIAL, DEPTH_CLASSIFIED):
                for number in range(2):
                    await sending.send_and_wait(topic.name, b"x", partition=number)
            await sending.send_and_wait(MESSAGES_IN.name, b"x", partition=1)
        await cluster.enter_split(bootstrap, PLAINTEXT)
        assert await cluster.unread(bootstrap, PLAINTEXT) == {"fathom.assembler": 1}

    asyncio.run(story())
