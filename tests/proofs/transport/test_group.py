"""What a `ConsumerGroup` promises to the runner, on a live broker."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from streams.faust.consumer_group import ConsumerGroup, GroupError
from streams.kafka.records import Record
from tests.servers.kafka import free_port


async def topic(broker: Any, partitions: int = 1) -> str:
    """A fresh topic's name."""
    name = f"group-{time.time_ns()}"
    admin = AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap)
    await admin.start()
    await admin.create_topics([NewTopic(name, partitions, 1)])
    await admin.close()
    return name


@asynccontextmanager
async def producer(broker: Any) -> AsyncIterator[AIOKafkaProducer]:
    sender = AIOKafkaProducer(bootstrap_servers=broker.bootstrap)
    await sender.start()
    try:
        yield sender
    finally:
        await sender.stop()


@asynccontextmanager
async def started(*groups: ConsumerGroup) -> AsyncIterator[None]:
    try:
        await asyncio.gather(*(group.start() for group in groups))
        yield
    finally:
        await asyncio.gather(*(group.stop() for group in groups))


async def until(condition: Any, limit: float = 10.0) -> None:
    """Wait until `condition()` holds."""
    async with asyncio.timeout(limit):
        while not condition():  # noqa: ASYNC110 - the group offers states, not events
            await asyncio.sleep(0.01)


def test_a_missing_topic_is_named(broker: Any) -> None:
    group = ConsumerGroup("g", ["no.such.topic"], bootstrap=broker.bootstrap, sink=lambda _: None)
    with pytest.raises(GroupError, match=r"no such topic: no\.such\.topic"):
        asyncio.run(group.start())


def test_a_broker_that_does_not_answer_is_reported_in_time() -> None:
    group = ConsumerGroup(
        "g",
        ["t"],
        bootstrap=f"127.0.0.1:{free_port()}",
        sink=lambda _: None,
        start_timeout=0.5,
    )
    began = time.monotonic()
    with pytest.raises(GroupError, match="did not start"):
        asyncio.run(group.start())
    assert time.monotonic() - began < 20


def test_a_start_outlasts_the_rebalance_it_may_have_to_wait_for() -> None:
    rebalance = 0.6

    async def scenario() -> float:
        # A broker with a rebalance under way looks like this: it is there, and keeps who joins waiting.
        async with await asyncio.start_server(_keep_waiting, "127.0.0.1", 0) as busy:
            host, port = busy.sockets[0].getsockname()
            group = ConsumerGroup(
                "g", ["t"], bootstrap=f"{host}:{port}", sink=lambda _: None, rebalance_timeout=rebalance
            )
            began = time.monotonic()
            with pytest.raises(GroupError, match="no assignment in time"):
                await group.start()
            return time.monotonic() - began

    assert 2 * rebalance <= asyncio.run(scenario()) < 25


async def _keep_waiting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()
    writer.close()


def test_tombstones_null_keys_headers_and_times_arrive_as_written(broker: Any) -> None:
    async def scenario() -> list[Record]:
        name, found = await topic(broker), []
        group = ConsumerGroup(f"{name}-g", [name], bootstrap=broker.bootstrap, sink=found.append)
        async with producer(broker) as sender, started(group):
            await sender.send_and_wait(name, None, key=b"gone", timestamp_ms=1_700_000_000_000)
            twice = [("ce_id", b"1"), ("ce_id", b"2")]
            await sender.send_and_wait(name, b"v", headers=twice, timestamp_ms=1_700_000_000_001)
            await until(lambda: len(found) == 2)
        return [replace(record, topic="t") for record in found]

    assert asyncio.run(scenario()) == [
        Record("t", 0, 0, 1_700_000_000_000, b"gone", None, ()),
        Record("t", 0, 1, 1_700_000_000_001, None, b"v", (("ce_id", b"1"), ("ce_id", b"2"))),
    ]


def test_eight_groups_start_together_and_each_reads_every_record(broker: Any) -> None:
    async def scenario() -> tuple[float, list[int]]:
        name = await topic(broker, partitions=4)
        found: list[list[Record]] = [[] for _ in range(8)]
        groups = [
            ConsumerGroup(f"{name}-{n}", [name], bootstrap=broker.bootstrap, sink=found[n].append) for n in range(8)
        ]
        began = time.monotonic()
        async with producer(broker) as sender, started(*groups):
            took = time.monotonic() - began
            for n in range(20):
                await sender.send(name, b"%d" % n, key=b"%d" % n)
            await sender.flush()
            await until(lambda: all(len(each) == 20 for each in found))
        return took, [len(each) for each in found]

    took, counts = asyncio.run(scenario())
    assert counts == [20] * 8
    assert took < 5


def test_a_held_record_holds_the_commit_and_is_read_again_after_a_stop(broker: Any) -> None:
    async def scenario() -> tuple[Any, Any, list[int]]:
        name, found = await topic(broker), []
        tp = TopicPartition(name, 0)
        first = ConsumerGroup(f"{name}-g", [name], bootstrap=broker.bootstrap, sink=found.append)
        async with producer(broker) as sender, started(first):
            for n in range(4):
                await sender.send_and_wait(name, b"%d" % n)
            await until(lambda: len(found) == 4)
            for offset in (3, 0, 1):
                first.ack(name, 0, offset)
            await until(lambda: first.committed(tp) == 2)
            held = (
                first.position(tp),
                first.highwater(tp),
                first.uncommitted(tp),
            )
            age = first.oldest_unacked_age(tp)
        again: list[Record] = []
        second = ConsumerGroup(f"{name}-g", [name], bootstrap=broker.bootstrap, sink=again.append)
        async with started(second):
            await until(lambda: len(again) == 2)
        return held, age > 0, [record.offset for record in again]

    assert asyncio.run(scenario()) == ((4, 4, 2), True, [2, 3])


def test_a_stop_commits_what_on_revoked_drained(broker: Any) -> None:
    async def scenario() -> list[int]:
        name, found = await topic(broker), []

        async def drain(tps: frozenset[TopicPartition]) -> None:
            assert tps == {TopicPartition(name, 0)}
            await asyncio.sleep(0.05)
            for record in found:
                first.ack(name, 0, record.offset)

        first = ConsumerGroup(
            f"{name}-g",
            [name],
            bootstrap=broker.bootstrap,
            sink=found.append,
            on_revoked=drain,
            commit_interval=60.0,
        )
        async with producer(broker) as sender, started(first):
            for n in range(3):
                await sender.send_and_wait(name, b"%d" % n)
            await until(lambda: len(found) == 3)
        await first.stop()
        again: list[Record] = []
        second = ConsumerGroup(f"{name}-g", [name], bootstrap=broker.bootstrap, sink=again.append)
        async with producer(broker) as sender, started(second):
            await sender.send_and_wait(name, b"new")
            await until(lambda: again)
        return [record.offset for record in again]

    assert asyncio.run(scenario()) == [3]


def test_a_sink_that_raises_fails_the_group_and_keeps_the_record(broker: Any) -> None:
    async def scenario() -> tuple[str, bool, bool, list[int]]:
        name = await topic(broker)

        def fail(_: Record) -> None:
            raise ValueError("a bug")

        first = ConsumerGroup(f"{name}-g", [name], bootstrap=broker.bootstrap, sink=fail)
        async with producer(broker) as sender, started(first):
            before = first.healthy()
            await sender.send_and_wait(name, b"1")
            assert first.failed is not None
            reason = await asyncio.wait_for(asyncio.shield(first.failed), 5)
            after = first.healthy()
        again: list[Record] = []
        second = ConsumerGroup(f"{name}-g", [name], bootstrap=broker.bootstrap, sink=again.append)
        async with started(second):
            await until(lambda: again)
        return str(reason), before, after, [record.offset for record in again]

    assert asyncio.run(scenario()) == ("a bug", True, False, [0])


def test_a_hook_that_raises_fails_the_group_before_its_first_record(broker: Any) -> None:
    async def refuse(_: frozenset[TopicPartition]) -> None:
        raise ValueError("no ledger")

    async def scenario() -> list[Record]:
        name, found = await topic(broker), []
        group = ConsumerGroup(name, [name], bootstrap=broker.bootstrap, sink=found.append, on_assigned=refuse)
        async with producer(broker) as sender:
            await sender.send_and_wait(name, b"1")
            with pytest.raises(GroupError, match="no ledger"):
                await group.start()
        return found

    assert asyncio.run(scenario()) == []


def test_a_static_member_that_returns_disturbs_nobody(broker: Any) -> None:
    async def scenario() -> tuple[int, set[TopicPartition]]:
        name = await topic(broker, partitions=2)
        revocations: list[frozenset[TopicPartition]] = []

        async def revoked(tps: frozenset[TopicPartition]) -> None:
            revocations.append(tps)

        def member(instance: str, **hooks: Any) -> ConsumerGroup:
            return ConsumerGroup(
                f"{name}-g",
                [name],
                bootstrap=broker.bootstrap,
                sink=lambda _: None,
                instance_id=instance,
                heartbeat_interval=0.3,
                **hooks,
            )

        staying, leaving = member("a", on_revoked=revoked), member("b")
        async with started(staying):
            await leaving.start()
            await until(lambda: len(staying.assignment()) == 1)
            await leaving.stop()
            seen = len(revocations)
            back = member("b")
            async with started(back):
                await asyncio.sleep(1)
                return len(revocations) - seen, staying.assignment() | back.assignment()

    disturbed, assigned = asyncio.run(scenario())
    assert disturbed == 0
    assert len(assigned) == 2


def test_the_reading_loop_reports_that_it_moves_while_nothing_arrives(broker: Any) -> None:
    async def scenario() -> tuple[float, float, bool]:
        name = await topic(broker)
        group = ConsumerGroup(name, [name], bootstrap=broker.bootstrap, sink=lambda _: None)
        async with started(group):
            await asyncio.sleep(2.5)
            return group.stalled_for(), group.blocked_for(), group.healthy()

    stalled, blocked, healthy = asyncio.run(scenario())
    assert stalled < 1.5
    assert blocked == 0
    assert healthy
