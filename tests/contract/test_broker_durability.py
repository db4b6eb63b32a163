"""What the embedded broker keeps: kills, torn files, locks, retention. Embedded only, whatever is configured."""

import asyncio

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import CommitFailedError
from aiokafka.protocol import admin, transaction

from tests.contract.broker_cluster import (
    batch,
    consumer,
    create_topic,
    eventually,
    producer,
    put,
    read_values,
    wire,
)
from tests.contract.broker_node import Node, commit_offset, committed, fill, partitions
from tests.servers.process import free_port

# Kills


def test_a_kill_loses_nothing_that_was_acknowledged(node: Node) -> None:
    async def before(address: str) -> str:
        topic = await create_topic(address)
        assert await fill(address, topic, *(b"%d" % i for i in range(300))) == [(0, i) for i in range(300)]
        return topic

    topic = asyncio.run(before(node.start()))
    address = node.crash()
    assert asyncio.run(read_values(address, topic, 300)) == [b"%d" % i for i in range(300)]
    assert asyncio.run(fill(address, topic, b"next")) == [(0, 300)]


def test_a_kill_in_the_middle_of_writing_loses_nothing_that_was_acknowledged(node: Node) -> None:
    async def write_until_it_dies(address: str, topic: str) -> int:
        acknowledged = 0
        asyncio.get_running_loop().call_later(0.3, node.process.kill)
        try:
            async with wire(address) as connection:
                while True:
                    assert await put(connection, topic, batch(b"%d" % acknowledged)) == (0, acknowledged)
                    acknowledged += 1
        except (ConnectionError, asyncio.IncompleteReadError):
            return acknowledged

    address = node.start()
    topic = asyncio.run(create_topic(address))
    acknowledged = asyncio.run(write_until_it_dies(address, topic))
    assert acknowledged > 10
    values = asyncio.run(read_values(node.start(), topic, acknowledged))
    assert values[:acknowledged] == [b"%d" % i for i in range(acknowledged)]
    assert len(values) <= acknowledged + 1


def test_topics_configs_and_offsets_survive_a_kill(node: Node) -> None:
    async def before(address: str) -> str:
        topic = await create_topic(address, partitions=5, configs={"retention.ms": "77777"})
        await fill(address, topic, b"1", b"2", b"3")
        for offset in (1, 2, 3):
            assert await commit_offset(address, "group", topic, offset) == 0
        return topic

    async def after(address: str, topic: str) -> None:
        assert await partitions(address, topic) == 5
        assert await committed(address, "group", topic) == 3
        async with wire(address) as connection:
            request = admin.DescribeConfigsRequest_v1([(2, topic, ["retention.ms"])], False)
            [(_, _, _, _, [entry])] = (await connection.ask(request)).resources
            assert entry[1] == "77777"
            await connection.ask(admin.DeleteTopicsRequest_v1([topic], 1_000))
        assert await partitions(node.crash(), topic) == 0

    topic = asyncio.run(before(node.start()))
    asyncio.run(after(node.crash(), topic))


def test_a_clean_stop_ends_with_zero_and_keeps_everything(node: Node) -> None:
    address = node.start()
    topic = asyncio.run(create_topic(address))
    asyncio.run(fill(address, topic, b"a", b"b"))
    child = node.process._popen
    assert child is not None
    node.process.stop()
    assert child.returncode == 0
    assert asyncio.run(read_values(node.start(), topic, 2)) == [b"a", b"b"]


def test_clients_go_on_when_the_broker_comes_back_on_its_port(node: Node) -> None:
    async def committed_by(reader: AIOKafkaConsumer) -> bool:
        try:
            await reader.commit()
        except CommitFailedError:
            return False
        return True

    async def scenario() -> list[bytes | None]:
        port = free_port()  # no client takes it meanwhile
        address = node.start(port=port)
        topic = await create_topic(address, partitions=2)
        quick = {"session_timeout_ms": 3_000, "heartbeat_interval_ms": 200, "retry_backoff_ms": 50}
        # A reader that was away for longer than its session reads again what it had not committed.
        got: set[bytes | None] = set()
        async with (
            consumer(address, topic, group_id="group", **quick) as reader,
            producer(address, enable_idempotence=True, retry_backoff_ms=50) as writer,
        ):
            for i in range(40):
                if i == 20:
                    node.process.kill()
                    await asyncio.to_thread(node.start, port=port)
                await writer.send_and_wait(topic, b"%d" % i, partition=i % 2)
                if i in (19, 39):
                    while len(got) < i + 1:
                        got.add((await asyncio.wait_for(reader.getone(), 15)).value)
                    await eventually(lambda: committed_by(reader))
        return [*await read_values(address, topic, 20), *await read_values(address, topic, 20, partition=1)]

    assert asyncio.run(scenario()) == [*(b"%d" % i for i in range(0, 40, 2)), *(b"%d" % i for i in range(1, 40, 2))]


# Producers


def test_a_repeat_after_a_kill_is_still_known_as_a_repeat(node: Node) -> None:
    async def before(address: str) -> tuple[str, int]:
        topic = await create_topic(address)
        async with wire(address) as connection:
            pid = (await connection.ask(transaction.InitProducerIdRequest_v0(None, 1_000))).producer_id
            for sequence in range(6):
                await put(connection, topic, batch(b"v", producer=(pid, 0, sequence)))
        return topic, pid

    async def after(address: str, topic: str, pid: int) -> None:
        async with wire(address) as connection:
            for sequence in range(1, 6):
                raw = batch(b"v", producer=(pid, 0, sequence))
                assert await put(connection, topic, raw) == (0, sequence)
            assert (await put(connection, topic, batch(b"v", producer=(pid, 0, 7))))[0] == 45
            assert await put(connection, topic, batch(b"v", producer=(pid, 0, 6))) == (0, 6)
            fresh_id = (await connection.ask(transaction.InitProducerIdRequest_v0(None, 1_000))).producer_id
            assert fresh_id > pid

    topic, pid = asyncio.run(before(node.start()))
    asyncio.run(after(node.crash(), topic, pid))
