"""Co-partitioned topics on a live broker: who owns what, and in which order it comes."""

import asyncio
import time
from collections import defaultdict
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from streams.faust.consumer_group import ConsumerGroup
from streams.kafka.records import Record
from tests.proofs.transport.test_group import producer, started, until

PARTITIONS = 4
RECORDS = 1_200


async def topics(broker: Any, partitions: int) -> tuple[str, str]:
    """Two fresh topics, the first of which comes first by its name as well."""
    fresh = time.time_ns()
    names = (f"calls-{fresh}", f"results-{fresh}")
    admin = AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap)
    await admin.start()
    await admin.create_topics([NewTopic(name, partitions, 1) for name in names])
    await admin.close()
    return names


def member(broker: Any, names: tuple[str, str], group: str, **more: Any) -> ConsumerGroup:
    sink = more.pop("sink", lambda _: None)
    return ConsumerGroup(group, names, bootstrap=broker.bootstrap, sink=sink, copartitioned=names[::-1], **more)


def owners(groups: list[ConsumerGroup]) -> dict[int, set[int]]:
    """By the number of a partition, the members that own one of that number."""
    found: dict[int, set[int]] = defaultdict(set)
    for number, group in enumerate(groups):
        for tp in group.assignment():
            found[tp.partition].add(number)
    return found


def settled(groups: list[ConsumerGroup], names: tuple[str, str]) -> bool:
    held = [tp for group in groups for tp in group.assignment()]
    return sorted(held) == sorted(TopicPartition(name, n) for name in names for n in range(PARTITIONS))


@pytest.mark.covers("CF-87")
def test_the_same_partitions_of_copartitioned_topics_have_one_owner(broker: Any) -> None:
    # Three members do not divide four partitions: dealt one by one over both topics, nearly all would be torn.
    async def scenario() -> dict[int, set[int]]:
        names = await topics(broker, PARTITIONS)
        groups = [member(broker, names, f"together-{names[0]}") for _ in range(3)]
        async with started(*groups):
            await until(lambda: settled(groups, names))
            return owners(groups)

    found = asyncio.run(scenario())
    assert [len(found[number]) for number in range(PARTITIONS)] == [1] * PARTITIONS
    assert len(set.union(*found.values())) == 3


def test_a_member_that_comes_costs_the_others_one_rebalance(broker: Any) -> None:
    # aiokafka joins again for each way of assigning that it is given, and throws the others out of step each time.
    async def scenario() -> tuple[int, int]:
        names = await topics(broker, PARTITIONS)
        first, second = groups = [member(broker, names, f"growing-{names[0]}") for _ in range(2)]
        async with started(first):
            alone = generation(first)
            async with started(second):
                await until(lambda: settled(groups, names))
                return alone, generation(second)

    assert asyncio.run(scenario()) == (1, 2)


def generation(group: ConsumerGroup) -> int:
    """How many rebalances the group has had."""
    assert group._consumer is not None
    return int(group._consumer.client._coordinator.generation)


@pytest.mark.covers("CF-87", "AC-88")
def test_a_reader_far_behind_gets_each_call_after_the_result_that_was_written_before_it(broker: Any) -> None:
    # Results are large: a fetch brings few of them, and all the calls.
    async def scenario() -> list[int]:
        calls, results = names = await topics(broker, 1)
        begin = int(time.time() * 1000)
        async with producer(broker) as sender:
            for n in range(RECORDS):
                await _write(sender, results, bytes(3_000), begin + 2 * n)
                await _write(sender, calls, b"", begin + 2 * n + 1)
            await sender.flush()
        handed: list[int] = []

        def sink(record: Record) -> None:
            handed.append(record.timestamp - begin)

        async with started(member(broker, names, f"behind-{calls}", sink=sink)):
            await until(lambda: len(handed) == 2 * RECORDS)
        return handed

    assert asyncio.run(scenario()) == list(range(2 * RECORDS))


async def _write(sender: AIOKafkaProducer, topic: str, value: bytes, at: int) -> None:
    await sender.send(topic, value, partition=0, timestamp_ms=at)


def test_calls_and_results_one_after_the_other_come_as_they_were_written(broker: Any) -> None:
    async def scenario() -> list[str]:
        calls, results = names = await topics(broker, 1)
        handed: list[str] = []
        async with (
            started(member(broker, names, f"live-{calls}", sink=lambda record: handed.append(record.topic))),
            producer(broker) as sender,
        ):
            for n in range(20):
                await sender.send_and_wait(results, b"", partition=0)
                await sender.send_and_wait(calls, b"", partition=0)
                await until(lambda n=n: len(handed) == 2 * n + 2)
        return [topic.partition("-")[0] for topic in handed]

    assert asyncio.run(scenario()) == ["results", "calls"] * 20
