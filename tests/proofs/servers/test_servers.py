"""The servers of the tests: what they keep, where they listen, and that none of them is left behind."""

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import neo4j
import pytest
import redis

from tests.servers.install import lacking
from tests.servers.kafka import KafkaServer
from tests.servers.neo4j import Neo4jServer
from tests.servers.process import CLIENT_PORTS, HOST, Server, free_port, free_ports
from tests.servers.qdrant import QdrantServer
from tests.servers.redis import RedisServer

KEY = "only-for-tests"
LISTENS = "0A"
PARENT = """
import sys, time
from pathlib import Path
from tests.servers.redis import RedisServer
server = RedisServer(Path(sys.argv[1]))
server.start()
print(server.pid, flush=True)
time.sleep(60)
"""

Make = Callable[..., Server]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Servers of one test by name; what is still running after it is stopped."""
    made: list[Server] = []

    def make(name: str, **options: Any) -> Server:
        if (why := lacking(name)) is not None:
            pytest.skip(why)
        kinds: dict[str, Callable[..., Server]] = {
            "kafka": KafkaServer, "neo4j": Neo4jServer, "qdrant": QdrantServer, "redis": RedisServer
        }  # fmt: skip
        made.append(kinds[name](tmp_path / f"{name}{len(made)}", **options))
        return made[-1]

    yield make
    for server in made:
        server.stop()


def ask(server: QdrantServer, method: str, path: str, body: Any = None, key: str | None = KEY) -> Any:
    headers = {"Content-Type": "application/json", **({"api-key": key} if key else {})}
    request = Request(server.url + path, json.dumps(body).encode() if body else None, headers, method=method)
    with build_opener(ProxyHandler({})).open(request, timeout=10) as reply:
        return json.load(reply)["result"]


def tell(server: Server, number: int) -> None:
    """Have a number acknowledged."""
    match server:
        case RedisServer():
            with redis.Redis.from_url(server.url) as client:
                client.rpush("told", number)
        case Neo4jServer():
            with neo4j.GraphDatabase.driver(server.url, auth=(server.user, server.password)) as driver:
                driver.execute_query("CREATE (:Told {number: $number})", number=number)
        case QdrantServer():
            if number == 1:
                ask(server, "PUT", "/collections/told", {"vectors": {"size": 1, "distance": "Dot"}})
            ask(server, "PUT", "/collections/told/points?wait=true", {"points": [{"id": number, "vector": [1.0]}]})


def told(server: Server) -> list[int]:
    """The numbers it knows."""
    match server:
        case RedisServer():
            with redis.Redis.from_url(server.url) as client:
                return [int(each) for each in client.lrange("told", 0, -1)]
        case Neo4jServer():
            with neo4j.GraphDatabase.driver(server.url, auth=(server.user, server.password)) as driver:
                records = driver.execute_query("MATCH (t:Told) RETURN t.number AS number ORDER BY number").records
                return [record["number"] for record in records]
        case QdrantServer():
            found = ask(server, "POST", "/collections/told/points/scroll", {"limit": 10})
            return [point["id"] for point in found["points"]]
    raise AssertionError(server)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def eventually(check: Callable[[], bool], within: float = 10.0) -> bool:
    deadline = time.monotonic() + within
    while not check():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def group_of(server: Server) -> list[int]:
    """The server's process and its guardian's."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(ProcessLookupError):
            if os.getpgid(int(entry.name)) == server.pid:
                found.append(int(entry.name))
    return found


def listening(pid: int) -> set[str]:
    """The addresses, in the kernel's hexadecimal, on which a process accepts connections."""
    held = set()
    for handle in Path(f"/proc/{pid}/fd").iterdir():
        try:
            held.add(os.readlink(handle))
        except FileNotFoundError:
            continue
    rows = [row.split() for table in ("tcp", "tcp6") for row in Path(f"/proc/net/{table}").read_text().splitlines()[1:]]
    return {row[1].partition(":")[0] for row in rows if row[3] == LISTENS and f"socket:[{row[9]}]" in held}


OPTIONS: dict[str, dict[str, Any]] = {"redis": {"password": KEY}, "qdrant": {"api_key": KEY}, "neo4j": {}}


@pytest.mark.parametrize("name", ["redis", "qdrant", "neo4j"])
def test_what_was_acknowledged_survives_a_kill_and_an_orderly_restart(make: Make, name: str) -> None:
    server = make(name, **OPTIONS[name])
    server.start()
    tell(server, 1)
    pids = [server.pid]
    server.kill()
    server.start()
    pids.append(server.pid)
    tell(server, 2)
    server.restart()
    pids.append(server.pid)
    assert told(server) == [1, 2]
    assert server.stop()
    assert len(set(pids)) == 3
    assert not any(alive(pid) for pid in pids if pid)
    assert server.pid is None


def test_a_server_runs_as_long_as_its_block(make: Make) -> None:
    with make("redis") as server:
        pid = server.pid
        assert pid is not None
        assert alive(pid)
    assert not alive(pid)


@pytest.mark.parametrize("name", ["kafka", "redis", "qdrant", "neo4j"])
def test_nobody_outside_this_machine_can_connect(make: Make, name: str) -> None:
    server = make(name)
    server.start()
    assert server.pid is not None
    addresses = listening(server.pid)
    assert addresses
    # 127.0.0.1, alone and as an IPv6 address.
    assert addresses <= {"0100007F", "0000000000000000FFFF00000100007F"}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("redis", {"settings": ["no-such-setting 1"]}),
        ("qdrant", {"settings": {"QDRANT__SERVICE__HOST": "nowhere"}}),
        ("neo4j", {"settings": {"no.such.setting": "1"}}),
    ],
)
def test_a_server_that_cannot_start_names_its_log_and_is_gone(make: Make, name: str, options: dict[str, Any]) -> None:
    server = make(name, **options)
    with pytest.raises(RuntimeError, match=f"did not start, see {server.log}"):
        server.start()
    assert server.log.stat().st_size > 0
    assert server.pid is None


def test_a_server_that_does_not_answer_in_time_is_ended(make: Make) -> None:
    server = make("redis")
    server.launch()
    pid = server.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(RuntimeError, match="did not start"):
        server.wait(0.1)
    assert not alive(pid)


def test_a_server_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    if (why := lacking("redis")) is not None:
        pytest.skip(why)
    with subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert alive(pid)
        parent.kill()
    assert eventually(lambda: not alive(pid))


def test_a_server_outlives_the_thread_that_started_it(make: Make) -> None:
    server = make("redis")
    thread = threading.Thread(target=server.start)
    thread.start()
    thread.join()
    assert not eventually(lambda: server.ended, within=1.0)
    tell(server, 1)
    assert told(server) == [1]


def test_wrong_passwords_are_refused_and_shut_nobody_else_out(make: Make) -> None:
    server = make("neo4j")
    server.start()
    assert isinstance(server, Neo4jServer)
    for _ in range(5):
        with (
            neo4j.GraphDatabase.driver(server.url, auth=(server.user, "wrong-password")) as driver,
            pytest.raises(neo4j.exceptions.AuthError, match="unauthorized"),
        ):
            driver.verify_connectivity()
    tell(server, 1)
    assert told(server) == [1]


def test_qdrant_asks_for_its_key(make: Make) -> None:
    server = make("qdrant", api_key=KEY)
    server.start()
    assert isinstance(server, QdrantServer)
    for wrong in (None, "wrong"):
        with pytest.raises(HTTPError, match="401"):
            ask(server, "GET", "/collections", key=wrong)
    assert ask(server, "GET", "/collections") == {"collections": []}


def test_a_password_is_in_no_command_line_and_in_no_file_others_can_read(make: Make) -> None:
    server = make("redis", password="s3cr3t-of-redis")
    server.start()
    # Redis hides its own; beside it are its guardian's.
    lines = [command_line(pid) for pid in group_of(server)]
    assert len(lines) > 1
    assert "s3cr3t" not in "".join(lines)
    written = [path for path in server.directory.rglob("*") if path.is_file() and b"s3cr3t" in path.read_bytes()]
    assert written
    assert all(path.stat().st_mode & 0o077 == 0 for path in written)


def test_free_ports_are_different_ones() -> None:
    ports = free_ports(50)
    assert len(set(ports)) == 50
    assert max(ports) < int(CLIENT_PORTS.read_text().split()[0])


def test_a_taken_port_is_not_free(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, free_port()))
        taken.listen()
        port = taken.getsockname()[1]
        other = free_port()
        monkeypatch.setattr(random, "sample", lambda *_: [port, other])
        assert free_port() == other
        with pytest.raises(RuntimeError, match="not 2 free ports"):
            free_ports(2)


def test_qdrant_answers_once_both_its_servers_do(make: Make) -> None:
    """Asked to end before, its second one would never hear it."""
    server = make("qdrant")
    server.start()
    assert isinstance(server, QdrantServer)
    server.grpc_port, own = free_port(), server.grpc_port
    assert not server.answers()
    server.grpc_port = own
    assert server.answers()
