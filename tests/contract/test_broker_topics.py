"""Topics and the bounds of their logs: on the embedded broker, or on FATHOM_TEST_KAFKA."""

import asyncio

import pytest
from aiokafka import TopicPartition
from aiokafka.protocol import admin, metadata

from tests.contract.broker_cluster import (
    batch,
    bounds,
    consumer,
    create_topic,
    eventually,
    fresh,
    producer,
    put,
    wire,
)

UNKNOWN_TOPIC, BAD_NAME, EXISTS = 3, 17, 36
BAD_PARTITIONS, BAD_REPLICATION, BAD_CONFIG = 37, 38, 40
OUT_OF_RANGE = 1


# Bounds of a log


def test_offsets_by_time_find_the_exact_record(bootstrap: str) -> None:
    base = 1_700_000_000_000

    async def scenario() -> None:
        topic = await create_topic(bootstrap, configs={"retention.ms": "-1"})
        async with wire(bootstrap) as connection:
            for start in (0, 300):
                stamps = tuple(base + start + step for step in (0, 100, 200))
                await put(connection, topic, batch(b"a", b"b", b"c", timestamps=stamps))
            assert await bounds(connection, topic, timestamp=base) == (0, base)
            assert await bounds(connection, topic, timestamp=base + 101) == (2, base + 200)
            assert await bounds(connection, topic, timestamp=base + 300) == (3, base + 300)
            assert await bounds(connection, topic, timestamp=base + 501) == (-1, -1)

    asyncio.run(scenario())


def test_a_new_consumer_starts_at_the_end_when_it_asks_for_latest(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap)
        async with producer(bootstrap) as client, consumer(bootstrap, auto_offset_reset="latest") as reader:
            await client.send_and_wait(topic, b"old")
            reader.assign([TopicPartition(topic, 0)])
            assert await reader.position(TopicPartition(topic, 0)) == 1
            await client.send_and_wait(topic, b"new")
            assert (await asyncio.wait_for(reader.getone(), 10)).value == b"new"

    asyncio.run(scenario())


# Topics


@pytest.mark.parametrize(
    ("row", "code"),
    [
        pytest.param(("bad name", 1, 1, [], []), BAD_NAME, id="name"),
        pytest.param(("..", 1, 1, [], []), BAD_NAME, id="dots"),
        pytest.param(("n" * 250, 1, 1, [], []), BAD_NAME, id="long-name"),
        pytest.param(("fine-name-a", 0, 1, [], []), BAD_PARTITIONS, id="partitions"),
        pytest.param(("fine-name-b", 1, 3, [], []), BAD_REPLICATION, id="replication"),
        pytest.param(("fine-name-c", 1, 1, [], [("no.such.config", "1")]), BAD_CONFIG, id="config"),
        pytest.param(("fine-name-d", 1, 1, [], [("retention.ms", "soon")]), BAD_CONFIG, id="value"),
    ],
)
def test_a_topic_that_cannot_be_is_refused_with_its_reason(bootstrap: str, row: tuple, code: int) -> None:
    async def scenario() -> tuple[int, str]:
        async with wire(bootstrap) as connection:
            answer = await connection.ask(admin.CreateTopicsRequest_v2([row], 10_000, False))
            return answer.topic_errors[0][1:]

    got, message = asyncio.run(scenario())
    assert got == code
    assert message


def test_a_topic_is_created_once_and_not_at_all_when_only_validated(bootstrap: str) -> None:
    async def scenario() -> None:
        name = fresh("once")
        async with wire(bootstrap) as connection:

            async def create(validate_only: bool) -> int:
                row = (name, 2, 1, [], [("retention.ms", "60000")])
                answer = await connection.ask(admin.CreateTopicsRequest_v2([row], 10_000, validate_only))
                return answer.topic_errors[0][1]

            assert [await create(True), await create(False), await create(False)] == [0, 0, EXISTS]

    asyncio.run(scenario())


def test_names_that_differ_by_dot_and_underscore_collide(bootstrap: str) -> None:
    async def scenario() -> int:
        name = await create_topic(bootstrap, name=fresh("a.b"))
        async with wire(bootstrap) as connection:
            row = (name.replace(".", "_"), 1, 1, [], [])
            return (await connection.ask(admin.CreateTopicsRequest_v2([row], 10_000, False))).topic_errors[0][1]

    assert asyncio.run(scenario()) == BAD_NAME


def test_a_deleted_topic_is_gone_and_one_of_its_name_starts_empty(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap)
        async with wire(bootstrap) as connection:
            await put(connection, topic, batch(b"old"))

            async def delete() -> int:
                answer = await connection.ask(admin.DeleteTopicsRequest_v1([topic], 10_000))
                return answer.topic_error_codes[0][1]

            assert await delete() == 0

            async def gone() -> bool:
                answer = await connection.ask(metadata.MetadataRequest_v4([topic], False))
                return answer.topics[0][0] == UNKNOWN_TOPIC

            await eventually(gone)
            assert await delete() == UNKNOWN_TOPIC
            await create_topic(bootstrap, name=topic)
            assert await bounds(connection, topic) == (0, 0)

    asyncio.run(scenario())


def test_a_topic_grows_and_never_shrinks(bootstrap: str) -> None:
    async def scenario() -> None:
        topic = await create_topic(bootstrap, partitions=2)
        async with wire(bootstrap) as connection:

            async def grow(count: int) -> int:
                request = admin.CreatePartitionsRequest_v0([(topic, (count, None))], 10_000, False)
                return (await connection.ask(request)).topic_errors[0][1]

            assert await grow(4) == 0
            assert await grow(3) == BAD_PARTITIONS

            async def grown() -> bool:
                code, _ = await put(connection, topic, batch(b"x"), partition=3)
                return code == 0

            await eventually(grown)

    asyncio.run(scenario())
