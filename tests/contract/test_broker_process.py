"""The embedded broker as a process: one owner, one parent, loopback only, limits."""

import asyncio
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from aiokafka.protocol import metadata

from streams.broker.errors import BrokerFailed
from streams.broker.process import BrokerProcess
from tests.checkout import HANG_S, ROOT
from tests.contract.broker_cluster import batch, create_topic, put, wire
from tests.contract.broker_node import Node, commit_offset, fill, partitions

CANNOT_START = 3


# One owner, one parent


def run_broker(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "streams.broker", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, check=False, cwd=ROOT)


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
    deadline = time.monotonic() + 10
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    outlived = alive(pid)
    if outlived:
        os.kill(pid, signal.SIGKILL)
    assert not outlived
    with BrokerProcess() as again:
        assert asyncio.run(partitions(again.start(tmp_path / "d"), topic)) == 1


def test_more_connections_than_allowed_are_closed(node: Node) -> None:
    async def scenario() -> None:
        # No other connection makes the topic: the broker would count it until it has seen its end.
        address = node.start(connections=2, auto_create=True)
        async with wire(address) as one, wire(address) as two:
            assert await put(one, "topic", batch(b"1")) == (0, 0)
            assert await put(two, "topic", batch(b"2")) == (0, 1)
            async with wire(address) as three:
                with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
                    await put(three, "topic", batch(b"3"))
            assert await put(one, "topic", batch(b"4")) == (0, 2)

    asyncio.run(scenario())


def test_topics_are_created_on_first_use_only_where_that_is_allowed(node: Node) -> None:
    async def scenario() -> list[tuple[int, int]]:
        async with wire(node.start(auto_create=True, partitions=3)) as connection:
            assert await put(connection, "first", batch(b"x"), partition=2) == (0, 0)
            answers = [
                await connection.ask(metadata.MetadataRequest_v4([n], a)) for n, a in (("a", True), ("b", False))
            ]
            return [(answer.topics[0][0], len(answer.topics[0][3])) for answer in answers]

    assert asyncio.run(scenario()) == [(0, 3), (3, 0)]
