"""How far writers are, by what their group has committed: on the embedded broker, or on FATHOM_TEST_KAFKA."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from aiokafka import TopicPartition

from agents.errors import Unavailable
from schemas.topics import MEMORY_CLAIMS, Topic
from streams.kafka import clients, writer_progress
from streams.kafka.broker_diagnosis import BrokerRejected
from streams.kafka.writer_progress import KafkaWriterProgress
from tests.contract.broker_cluster import create_topic, fresh, producer
from tests.servers.process import free_port

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
SECOND = timedelta(seconds=1)


async def logged(bootstrap: str, *seconds: Mapping[int, int]) -> Topic:
    """A topic of two partitions with records at these seconds, by partition."""
    topic = replace(MEMORY_CLAIMS, name=fresh("memory.claims"))
    await create_topic(bootstrap, 2, name=topic.name)
    async with producer(bootstrap) as sending:
        for each in seconds:
            for partition, at in each.items():
                ms = int((NOW + at * SECOND).timestamp() * 1000)
                await sending.send_and_wait(topic.name, b"x", partition=partition, timestamp_ms=ms)
    return topic


async def commit(bootstrap: str, group: str, topic: Topic, offsets: Mapping[int, int]) -> None:
    consumer = clients.new_consumer(bootstrap, group_id=group)
    await consumer.start()
    try:
        consumer.assign([TopicPartition(topic.name, number) for number in offsets])
        await consumer.commit({TopicPartition(topic.name, number): each for number, each in offsets.items()})
    finally:
        await consumer.stop()


def behind(
    bootstrap: str, offsets: Mapping[int, int], *asked: int, seconds: tuple[Mapping[int, int], ...]
) -> list[str | None]:
    """What is said, asked at once, by these seconds."""

    async def story() -> list[str | None]:
        topic, group = await logged(bootstrap, *seconds), fresh("writers")
        if offsets:
            await commit(bootstrap, group, topic, offsets)
        progress = KafkaWriterProgress(bootstrap, {topic: group})
        said = await asyncio.gather(*(progress.behind(topic, NOW + each * SECOND) for each in asked))
        return [each and each.replace(topic.name, "T").replace(group, "G") for each in said]

    return asyncio.run(story())


def test_writers_are_behind_a_time_until_they_have_committed_what_each_partition_had_by_then(bootstrap: str) -> None:
    seconds: tuple[Mapping[int, int], ...] = ({0: 1, 1: 1}, {0: 2}, {0: 5, 1: 5})
    left = "G has yet to store {} records of T from before"
    assert behind(bootstrap, {0: 1, 1: 1}, 0, 1, 2, 4, 9, seconds=seconds) == [
        None, None, left.format(1), left.format(1), left.format(3),
    ]  # fmt: skip
    assert behind(bootstrap, {0: 3, 1: 2}, 9, seconds=seconds) == [None]


def test_writers_that_never_committed_are_behind_what_there_is_and_not_behind_nothing(bootstrap: str) -> None:
    assert behind(bootstrap, {}, 1, seconds=({0: 1},)) == ["G has yet to store 1 records of T from before"]
    assert behind(bootstrap, {}, 1, seconds=()) == [None]


def test_what_cannot_be_said_of_one_topic_is_said_of_another(bootstrap: str) -> None:
    async def story() -> tuple[object, object]:
        topic, gone = await logged(bootstrap, {0: 1}), replace(MEMORY_CLAIMS, name=fresh("memory.gone"))
        progress = KafkaWriterProgress(bootstrap, dict.fromkeys((topic, gone), fresh("writers")))
        await create_topic(bootstrap, name=gone.name)
        async with clients.administering(bootstrap) as admin:
            await admin.delete_topics([gone.name])
        left, right = await asyncio.gather(
            *(progress.behind(each, NOW + SECOND) for each in (gone, topic)), return_exceptions=True
        )
        return left, right

    error, said = asyncio.run(story())
    assert isinstance(error, Unavailable)
    assert "has yet to store 1 records" in str(said)


def test_a_broker_that_is_away_is_unavailable() -> None:
    progress = KafkaWriterProgress(f"127.0.0.1:{free_port()}", {MEMORY_CLAIMS: "fathom.graph-writers"})
    with pytest.raises(Unavailable, match="broker"):
        asyncio.run(progress.behind(MEMORY_CLAIMS, NOW))


def test_a_broker_that_refuses_us_is_waited_for_as_one_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    @asynccontextmanager
    async def refused(*_: object) -> AsyncIterator[None]:
        raise BrokerRejected("the broker does not take the password of FATHOM_KAFKA_PASSWORD_FILE")
        yield

    monkeypatch.setattr(writer_progress, "administering", refused)
    progress = KafkaWriterProgress("kafka:9092", {MEMORY_CLAIMS: "fathom.graph-writers"})
    with pytest.raises(Unavailable, match="FATHOM_KAFKA_PASSWORD_FILE"):
        asyncio.run(progress.behind(MEMORY_CLAIMS, NOW))
