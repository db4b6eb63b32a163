"""The producer over what brokers do: a partition without a leader, a forgotten numbering, a broker that is gone."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaTimeoutError, NotLeaderForPartitionError, OutOfOrderSequenceNumber
from aiokafka.protocol.produce import ProduceRequest

from streams.kafka import producer as module
from streams.kafka.producer import Producer


@asynccontextmanager
async def sending(broker: Any) -> AsyncIterator[tuple[Producer, str]]:
    """A producer, and a topic of one partition."""
    topic = f"sent-{uuid.uuid4().hex[:8]}"
    admin = AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap)
    await admin.start()
    await admin.create_topics([NewTopic(topic, 1, 1)])
    await admin.close()
    producer = Producer(broker.bootstrap)
    await producer.start()
    try:
        yield producer, topic
    finally:
        await producer.stop()


async def values(broker: Any, topic: str) -> list[bytes]:
    reader = AIOKafkaConsumer(bootstrap_servers=broker.bootstrap, enable_auto_commit=False)
    await reader.start()
    try:
        tp = TopicPartition(topic, 0)
        reader.assign([tp])
        await reader.seek_to_beginning(tp)
        end = (await reader.end_offsets([tp]))[tp]
        return [(await asyncio.wait_for(reader.getone(), 30)).value for _ in range(end)]
    finally:
        await reader.stop()


@pytest.mark.covers("CF-67")
def test_a_batch_waits_for_a_leader_however_long_and_the_next_one_still_fits(broker: Any) -> None:
    async def scenario() -> list[bytes]:
        async with sending(broker) as (producer, topic):
            await (await producer.send(topic, b"k", b"1", []))
            cluster = producer._producer.client.cluster
            known = cluster.leader_for_partition
            cluster.leader_for_partition = lambda _: -1
            waiting = await producer.send(topic, b"k", b"2", [])
            for batches in producer._producer._message_accumulator._batches.values():
                for batch in batches:
                    batch._ctime -= 3600
            await asyncio.sleep(0.5)
            assert not waiting.done()
            cluster.leader_for_partition = known
            await asyncio.wait_for(waiting, 30)
            await asyncio.wait_for(await producer.send(topic, b"k", b"3", []), 30)
            return await values(broker, topic)

    assert asyncio.run(scenario()) == [b"1", b"2", b"3"]


@pytest.mark.covers("CF-67")
def test_a_broker_that_lost_count_fails_one_send_and_takes_the_next(broker: Any) -> None:
    async def scenario() -> list[bytes]:
        async with sending(broker) as (producer, topic):
            await (await producer.send(topic, b"k", b"1", []))
            # As after a broker that forgot a batch it had acknowledged.
            producer._producer._txn_manager.increment_sequence_number(TopicPartition(topic, 0), 5)
            with pytest.raises(OutOfOrderSequenceNumber):
                await (await producer.send(topic, b"k", b"2", []))
            for value in (b"2", b"3"):
                await asyncio.wait_for(await producer.send(topic, b"k", value, []), 30)
            return await values(broker, topic)

    assert asyncio.run(scenario()) == [b"1", b"2", b"3"]


@pytest.mark.covers("CF-68")
@pytest.mark.parametrize("under_way", [False, True], ids=["waiting", "sent once already"])
def test_what_was_given_up_is_not_sent_and_what_comes_after_is(broker: Any, under_way: bool) -> None:
    async def scenario() -> list[bytes]:
        async with sending(broker) as (producer, topic):
            await (await producer.send(topic, b"k", b"1", []))
            client = producer._producer.client
            leader, send = client.cluster.leader_for_partition, client.send

            async def lose(node: int, request: Any, **named: Any) -> Any:
                if isinstance(request, ProduceRequest):
                    raise NotLeaderForPartitionError
                return await send(node, request, **named)

            if under_way:
                client.send = lose
            else:
                client.cluster.leader_for_partition = lambda _: -1
            given_up = await producer.send(topic, b"k", b"2", [])
            await asyncio.sleep(0.3)
            producer.give_up(topic, [0])
            with pytest.raises(KafkaTimeoutError):
                await given_up
            await asyncio.sleep(0.3)
            client.send, client.cluster.leader_for_partition = send, leader
            while True:
                try:
                    await asyncio.wait_for(await producer.send(topic, b"k", b"3", []), 30)
                    break
                except OutOfOrderSequenceNumber:  # its number is missing, so the producer is renewed
                    continue
            return await values(broker, topic)

    assert asyncio.run(scenario()) == [b"1", b"3"]


def test_without_a_broker_a_stop_gives_up_what_is_under_way(
    broker: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if not hasattr(broker, "kill"):
        pytest.skip("a borrowed broker is not killed")
    monkeypatch.setattr(module, "STOP_LIMIT_S", 0.5)

    async def scenario() -> bool:
        async with sending(broker) as (producer, topic):
            await (await producer.send(topic, b"k", b"1", []))
            broker.kill()
            under_way = await producer.send(topic, b"k", b"2", [])
        return under_way.done() and under_way.exception() is None

    try:
        assert not asyncio.run(scenario())
        assert "producer.cut" in caplog.text
    finally:
        broker.start()
