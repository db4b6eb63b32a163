"""What the embedded broker keeps: kills, torn files, locks, retention. Embedded only, whatever is configured."""

import asyncio
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.errors import CommitFailedError
from aiokafka.protocol import admin, commit, metadata, transaction

from streams.broker.errors import BrokerFailed
from streams.broker.process import BrokerProcess
from tests.contract.broker_cluster import (
    batch,
    bounds,
    consumer,
    create_topic,
    eventually,
    fetch_request,
    producer,
    put,
    read_values,
    wire,
)

ROOT = Path(__file__).resolve().parents[2]
CANNOT_START = 3


class Node:
    """One broker on one directory, ended and started again at will."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.process = directory, BrokerProcess()

    def start(self, **options: float) -> str:
        return self.process.start(self.directory, **options)  # type: ignore[arg-type]

    def crash(self) -> str:
        self.process.kill()
        return self.start()

    def segments(self, topic: str, partition: int = 0) -> list[Path]:
        return sorted((self.directory / "logs" / f"{topic}-{partition}").glob("*.log"))


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    node = Node(tmp_path / "data")
    yield node
    node.process.stop()


async def partitions(address: str, topic: str) -> int:
    async with wire(address) as connection:
        return len((await connection.ask(metadata.MetadataRequest_v4([topic], False))).topics[0][3])


async def fill(address: str, topic: str, *values: bytes) -> list[tuple[int, int]]:
    async with wire(address) as connection:
        return [await put(connection, topic, batch(value)) for value in values]


async def committed(address: str, group: str, topic: str) -> int:
    async with wire(address) as connection:
        request = commit.OffsetFetchRequest_v1(group, [(topic, [0])])
        return (await connection.ask(request)).topics[0][1][0][1]


async def commit_offset(address: str, group: str, topic: str, offset: int) -> int:
    async with wire(address) as connection:
        request = commit.OffsetCommitRequest_v2(group, -1, "", -1, [(topic, [(0, offset, "")])])
        return (await connection.ask(request)).topics[0][1][0][1]


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
    child = node.process._child
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
        address = node.start()
        port = int(address.rsplit(":", 1)[1])
        topic = await create_topic(address, partitions=2)
        quick = {"session_timeout_ms": 3_000, "heartbeat_interval_ms": 200, "retry_backoff_ms": 50}
        got: list[bytes | None] = []
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
                        got.append((await asyncio.wait_for(reader.getone(), 15)).value)
                    await eventually(lambda: committed_by(reader))
        return got

    assert sorted(int(value or b"-1") for value in asyncio.run(scenario())) == list(range(40))


def test_topics_are_created_on_first_use_only_where_that_is_allowed(node: Node) -> None:
    async def scenario() -> list[tuple[int, int]]:
        async with wire(node.start(auto_create=True, partitions=3)) as connection:
            assert await put(connection, "first", batch(b"x"), partition=2) == (0, 0)
            answers = [
                await connection.ask(metadata.MetadataRequest_v4([n], a)) for n, a in (("a", True), ("b", False))
            ]
            return [(answer.topics[0][0], len(answer.topics[0][3])) for answer in answers]

    assert asyncio.run(scenario()) == [(0, 3), (3, 0)]


# Torn files


@pytest.mark.parametrize("tail", ["half", "garbage", "flipped", "zeros"])
def test_a_torn_tail_is_cut_off_and_written_over(node: Node, tail: str) -> None:
    address = node.start()
    topic = asyncio.run(create_topic(address))
    asyncio.run(fill(address, topic, b"one", b"two", b"three"))
    node.process.kill()
    [segment] = node.segments(topic)
    raw = segment.read_bytes()
    third = len(raw) // 3 * 2 + 1
    damaged = {
        "half": (raw[: third + 30], 2),
        "garbage": (raw + b"\x17" * 100, 3),
        "flipped": (raw[:-3] + bytes((raw[-3] ^ 4,)) + raw[-2:], 2),
        "zeros": (raw + bytes(4096), 3),
    }
    content, sound = damaged[tail]
    segment.write_bytes(content)
    address = node.start()
    assert asyncio.run(fill(address, topic, b"after")) == [(0, sound)]
    address = node.crash()
    expected = [*[b"one", b"two", b"three"][:sound], b"after"]
    assert asyncio.run(read_values(address, topic, sound + 1)) == expected


@pytest.mark.parametrize("name", ["offsets", "topics", "transactions"])
def test_a_torn_last_journal_line_is_ignored_and_written_over(node: Node, name: str) -> None:
    address = node.start()
    topic = asyncio.run(create_topic(address))
    asyncio.run(commit_offset(address, "group", topic, 4))
    node.process.kill()
    with (node.directory / f"{name}.jsonl").open("ab") as journal:
        journal.write(b'{"topic":"half-writ')
    address = node.start()
    assert asyncio.run(committed(address, "group", topic)) == 4
    other = asyncio.run(create_topic(address))
    asyncio.run(commit_offset(address, "group", topic, 5))
    address = node.crash()
    assert asyncio.run(committed(address, "group", topic)) == 5
    assert asyncio.run(partitions(address, other)) == 1


def test_a_journal_damaged_in_the_middle_is_reported_not_guessed(node: Node) -> None:
    address = node.start()
    for _ in range(2):
        asyncio.run(create_topic(address))
    node.process.kill()
    journal = node.directory / "topics.jsonl"
    journal.write_bytes(b"{broken\n" + journal.read_bytes())
    with pytest.raises(BrokerFailed, match=r"topics\.jsonl is damaged at byte 0"):
        node.start()


def test_a_closed_segment_that_is_damaged_is_reported_not_cut(node: Node) -> None:
    address = node.start()
    topic = asyncio.run(create_topic(address, configs={"segment.bytes": "1024"}))
    asyncio.run(fill(address, topic, *[b"x" * 600] * 4))
    node.process.kill()
    first = node.segments(topic)[0]
    first.write_bytes(first.read_bytes()[:-10])
    with pytest.raises(BrokerFailed, match="damaged"):
        node.start()


# Producers and transactions


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


def test_an_open_transaction_survives_a_kill_and_can_still_commit(node: Node) -> None:
    async def before(address: str) -> tuple[str, int, int]:
        topic = await create_topic(address)
        async with wire(address) as connection:
            begun = await connection.ask(transaction.InitProducerIdRequest_v0("tx", 60_000))
            pid, epoch = begun.producer_id, begun.producer_epoch
            await connection.ask(transaction.AddPartitionsToTxnRequest_v0("tx", pid, epoch, [(topic, [0])]))
            raw = batch(b"pending", producer=(pid, epoch, 0), transactional=True)
            assert await put(connection, topic, raw, transactional_id="tx") == (0, 0)
        return topic, pid, epoch

    async def after(address: str, topic: str, pid: int, epoch: int) -> None:
        async with wire(address) as connection:
            [(_, [answer])] = (await connection.ask(fetch_request([(topic, 0, 0)], committed=True))).topics
            assert (answer[3], answer[-1] or b"") == (0, b"")
            ended = await connection.ask(transaction.EndTxnRequest_v0("tx", pid, epoch, True))
            assert ended.error_code == 0
        assert await read_values(address, topic, 1, committed=True) == [b"pending"]

    topic, pid, epoch = asyncio.run(before(node.start()))
    asyncio.run(after(node.crash(), topic, pid, epoch))


def test_aborted_records_stay_invisible_and_zombies_fenced_after_a_kill(node: Node) -> None:
    async def before(address: str) -> tuple[str, int, int]:
        topic = await create_topic(address)
        async with wire(address) as connection:
            begun = await connection.ask(transaction.InitProducerIdRequest_v0("tx", 60_000))
            pid, epoch = begun.producer_id, begun.producer_epoch
            await connection.ask(transaction.AddPartitionsToTxnRequest_v0("tx", pid, epoch, [(topic, [0])]))
            await put(connection, topic, batch(b"no", producer=(pid, epoch, 0), transactional=True))
            await connection.ask(transaction.EndTxnRequest_v0("tx", pid, epoch, False))
            await put(connection, topic, batch(b"yes"))
            await connection.ask(transaction.InitProducerIdRequest_v0("tx", 60_000))
        return topic, pid, epoch

    async def after(address: str, topic: str, pid: int, epoch: int) -> None:
        assert await read_values(address, topic, 1, committed=True) == [b"yes"]
        async with wire(address) as connection:
            raw = batch(b"zombie", producer=(pid, epoch, 1), transactional=True)
            assert (await put(connection, topic, raw, transactional_id="tx"))[0] == 47

    topic, pid, epoch = asyncio.run(before(node.start()))
    asyncio.run(after(node.crash(), topic, pid, epoch))


# Retention


def test_old_records_are_removed_by_size_and_stay_removed(node: Node) -> None:
    async def scenario() -> None:
        address = node.start(retention_check_s=0.1)
        configs = {"segment.bytes": "4096", "retention.bytes": "10000"}
        topic = await create_topic(address, configs=configs)
        await fill(address, topic, *[b"x" * 1000] * 30)

        async def trimmed() -> bool:
            return sum(s.stat().st_size for s in node.segments(topic)) <= 10_000 + 4_096

        await eventually(trimmed)
        async with wire(address) as connection:
            start, end = await bounds(connection, topic)
        assert 0 < start < end == 30
        assert len(await read_values(address, topic, 30 - start)) <= 30
        async with wire(node.crash()) as connection:
            assert await bounds(connection, topic) == (start, end)

    asyncio.run(scenario())


def test_old_records_are_removed_by_age_and_offsets_go_on(node: Node) -> None:
    async def scenario() -> None:
        address = node.start(retention_check_s=0.1)
        topic = await create_topic(address, configs={"retention.ms": "60000"})
        hour_ago = int(time.time() * 1000) - 3_600_000
        async with wire(address) as connection:
            for value in (b"a", b"b"):
                await put(connection, topic, batch(value, timestamps=(hour_ago,)))

            async def expired() -> bool:
                return await bounds(connection, topic) == (2, 2)

            await eventually(expired)
        address = node.crash()
        assert await fill(address, topic, b"c") == [(0, 2)]
        async with wire(address) as connection:
            assert await bounds(connection, topic) == (2, 3)

    asyncio.run(scenario())


def test_deleted_records_stay_deleted_after_a_kill(node: Node) -> None:
    async def scenario() -> None:
        address = node.start()
        topic = await create_topic(address)
        await fill(address, topic, b"a", b"b", b"c")
        async with wire(address) as connection:
            await connection.ask(admin.DeleteRecordsRequest_v1([(topic, [(0, 2)])], 1_000))
        async with wire(node.crash()) as connection:
            assert await bounds(connection, topic) == (2, 3)

    asyncio.run(scenario())


def test_compaction_is_refused_with_a_reason(node: Node) -> None:
    async def scenario() -> tuple[int, str]:
        async with wire(node.start()) as connection:
            row = ("topic", 1, 1, [], [("cleanup.policy", "compact")])
            answer = await connection.ask(admin.CreateTopicsRequest_v2([row], 1_000, False))
            return answer.topic_errors[0][1:]

    code, message = asyncio.run(scenario())
    assert code == 40
    assert "cleanup.policy=compact" in message


def test_reads_far_behind_the_end_come_from_the_files(node: Node) -> None:
    async def scenario() -> None:
        address = node.start()
        topic = await create_topic(address, configs={"segment.bytes": "50000"})
        values = [b"%05d" % i + b"x" * 300 for i in range(1_000)]
        async with wire(address) as connection:
            for value in values:
                await put(connection, topic, batch(value))
            for offset in (0, 1, 137, 500, 998):
                request = fetch_request([(topic, 0, offset)], partition_bytes=1)
                [(_, [answer])] = (await connection.ask(request)).topics
                assert int.from_bytes(answer[-1][:8], "big") == offset
        assert len(node.segments(topic)) > 5
        assert await read_values(address, topic, 1_000) == values

    asyncio.run(scenario())


# One owner, one parent


def run_broker(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "streams.broker", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=20, check=False, cwd=ROOT)


def one_sentence(ran: subprocess.CompletedProcess[str]) -> str:
    assert ran.returncode == CANNOT_START
    assert "Traceback" not in ran.stderr
    [line] = ran.stderr.splitlines()
    return line


def test_a_directory_in_use_is_refused_and_its_owner_named(node: Node) -> None:
    node.start()
    assert str(node.process.pid) in one_sentence(run_broker("--data", str(node.directory)))
    second = BrokerProcess()
    with pytest.raises(BrokerFailed, match=f"process {node.process.pid}"):
        second.start(node.directory)
    assert node.process.running


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert port in one_sentence(run_broker("--data", str(tmp_path / "d"), "--port", port))


def test_a_directory_that_cannot_be_is_named(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a directory")
    assert str(in_the_way) in one_sentence(run_broker("--data", str(in_the_way)))


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "example.org"])
def test_any_host_but_loopback_is_refused(tmp_path: Path, host: str) -> None:
    sentence = one_sentence(run_broker("--data", str(tmp_path / "d"), "--host", host))
    assert "loopback" in sentence
    assert host in sentence


def test_files_are_for_their_owner_only(node: Node) -> None:
    address = node.start()
    topic = asyncio.run(create_topic(address))
    asyncio.run(fill(address, topic, b"private"))
    asyncio.run(commit_offset(address, "group", topic, 1))
    modes = {stat.S_IMODE(path.stat().st_mode) for path in node.directory.rglob("*") if path.is_file()}
    folders = {
        stat.S_IMODE(path.stat().st_mode) for path in [node.directory, *node.directory.rglob("*")] if path.is_dir()
    }
    assert (modes, folders) == ({0o600}, {0o700})


def alive(pid: int) -> bool:
    # A zombie answers to signal 0, but serves nobody.
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False


def test_the_broker_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    program = (
        "import sys, time, json; from pathlib import Path; from streams.broker.process import BrokerProcess\n"
        "b = BrokerProcess(); address = b.start(Path(sys.argv[1]))\n"
        "print(json.dumps([b.pid, address]), flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "d")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as parent:
        assert parent.stdout is not None
        pid, address = json.loads(parent.stdout.readline())
        topic = asyncio.run(create_topic(address))
        os.kill(parent.pid, signal.SIGKILL)
    deadline = time.monotonic() + 5
    while alive(pid):
        assert time.monotonic() < deadline, "the broker outlived its parent"
        time.sleep(0.02)
    with BrokerProcess() as again:
        assert asyncio.run(partitions(again.start(tmp_path / "d"), topic)) == 1


def test_more_connections_than_allowed_are_closed(node: Node) -> None:
    async def scenario() -> None:
        address = node.start(connections=2)
        topic = await create_topic(address)
        async with wire(address) as one, wire(address) as two:
            assert await put(one, topic, batch(b"1")) == (0, 0)
            assert await put(two, topic, batch(b"2")) == (0, 1)
            async with wire(address) as three:
                with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
                    await put(three, topic, batch(b"3"))
            assert await put(one, topic, batch(b"4")) == (0, 2)

    asyncio.run(scenario())
