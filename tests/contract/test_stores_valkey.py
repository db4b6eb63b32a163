"""The embedded Valkey: what survives which death, and who may live in its directory."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from redis import Redis
from redis.asyncio import Redis as AsyncRedis

from agents.core.conversation.memory import Session, turn_of
from agents.errors import Unavailable
from schemas.base import Conversation
from streams.stores.ownership import DirectoryInUse
from streams.stores.sessions.redis_working_sets import CONNECTIONS, RedisWorkingSets, connect
from streams.stores.sessions.valkey import LONGEST_SOCKET, Valkey

PARENT = """
import sys, time
from pathlib import Path
from streams.stores.sessions.valkey import Valkey
server = Valkey(Path(sys.argv[1]))
server.start()
print(server.pid, flush=True)
time.sleep(60)
"""


@contextmanager
def serving(directory: Path) -> Iterator[Valkey]:
    server = Valkey(directory)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def parent_of_a_server(directory: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(directory)], stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
    )
    try:
        yield parent, int(parent.stdout.readline())
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()


def client(server: Valkey) -> Redis:
    return Redis(unix_socket_path=str(server.socket))


def runs(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def eventually(claim: Callable[[], bool], seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while not claim():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.mark.covers("S1-L2")
def test_what_was_written_is_there_after_a_restart(tmp_path):
    with serving(tmp_path) as server:
        client(server).set("kept", "yes")
    with serving(tmp_path) as server:
        assert client(server).get("kept") == b"yes"


def test_killed_server_is_started_again_with_all_it_had_answered(tmp_path):
    with serving(tmp_path) as server:
        writer = client(server)
        for number in range(1_000):
            writer.set(f"k{number}", "x")
        first = server.pid
        os.kill(first, signal.SIGKILL)
        assert eventually(lambda: server.pid != first and _answers(server))
        assert client(server).dbsize() == 1_000


def _answers(server: Valkey) -> bool:
    try:
        return bool(client(server).ping())
    except OSError:
        return False


def test_it_listens_on_no_port(tmp_path):
    with serving(tmp_path) as server:
        assert client(server).config_get("port") == {"port": "0"}
        assert oct(server.socket.stat().st_mode)[-3:] == "700"


def test_it_ends_with_a_parent_that_is_killed(tmp_path):
    with parent_of_a_server(tmp_path) as (parent, pid):
        assert runs(pid)
        parent.kill()
        parent.wait()
        assert eventually(lambda: not runs(pid))


def test_an_orphan_is_ended_by_the_next_start_and_nothing_is_lost(tmp_path):
    with parent_of_a_server(tmp_path) as (parent, orphan):
        Redis(unix_socket_path=str(tmp_path / "valkey.sock")).set("kept", "yes")
        _kill_guardian(orphan)
        parent.kill()
        parent.wait()
    assert runs(orphan)
    with serving(tmp_path) as server:
        assert not runs(orphan)
        assert client(server).get("kept") == b"yes"


def _kill_guardian(server: int) -> None:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != server and _group(int(entry.name)) == server:
            os.kill(int(entry.name), signal.SIGKILL)


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return -1


def test_a_pid_file_that_names_somebody_else_ends_nobody(tmp_path):
    (tmp_path / "valkey.pid").write_text(str(os.getpid()))
    with serving(tmp_path) as server:
        assert server.pid != os.getpid()


def test_a_second_owner_is_refused_and_told_who_the_first_is(tmp_path):
    with (
        parent_of_a_server(tmp_path) as (parent, pid),
        pytest.raises(DirectoryInUse, match=f"in use by pid {parent.pid}"),
    ):
        Valkey(tmp_path).start()
    assert eventually(lambda: not runs(pid))


def test_a_deep_directory_gets_a_short_socket(tmp_path):
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    with serving(deep) as server:
        assert len(str(server.socket)) <= LONGEST_SOCKET
        assert client(server).ping()
        kept = server.socket.parent
    assert not kept.exists()


def test_a_stopped_server_leaves_no_process(tmp_path):
    with serving(tmp_path) as server:
        pid = server.pid
        group = [entry for entry in Path("/proc").iterdir() if entry.name.isdigit() and _group(int(entry.name)) == pid]
        assert len(group) >= 2
    assert eventually(lambda: not any(runs(int(entry.name)) and _group(int(entry.name)) == pid for entry in group))


@pytest.mark.covers("S1-L2", "AC-44")
def test_a_working_set_goes_on_after_the_server_was_killed(tmp_path):
    conversation = Conversation(tenant="acme", client_id="web", conversation_id="c1")

    async def file(sets: RedisWorkingSets, number: int) -> None:
        meta = {"message_id": f"m{number}", "seq": number}
        turn = turn_of("user", "oi", datetime(2026, 3, 2, tzinfo=UTC), meta)
        await sets.append(conversation, "f1", turn, Session(frame_id="f1", last_seq=number), b"", 50)

    async def story() -> list[int]:
        sets = RedisWorkingSets(AsyncRedis(unix_socket_path=str(server.socket)))
        for number in range(20):
            await file(sets, number)
        first = server.pid
        os.kill(first, signal.SIGKILL)
        number = 20
        while number < 25:
            try:
                await file(sets, number)
                number += 1
            except Unavailable:
                await asyncio.sleep(0.05)
        assert server.pid != first
        found = await sets.open(conversation, "m24", 50)
        await sets.close()
        return [turn.seq for turn in found.turns]

    with serving(tmp_path) as server:
        assert asyncio.run(story()) == list(range(25))


def test_a_burst_shares_a_bounded_number_of_connections_and_closing_leaves_none(tmp_path):
    conversation = Conversation(tenant="acme", client_id="web", conversation_id="c1")

    async def story() -> None:
        sets = RedisWorkingSets(connect(f"unix://{server.socket}"))
        await asyncio.gather(*(sets.open(conversation, f"m{number}", 5) for number in range(100)))
        assert 1 < len(watcher.client_list()) <= CONNECTIONS + 1
        await sets.close()

    with serving(tmp_path) as server:
        watcher = client(server)
        asyncio.run(story())
        assert eventually(lambda: len(watcher.client_list()) == 1)


def test_what_was_overwritten_leaves_the_disk(tmp_path: Path):
    """Each turn writes its conversation's state anew: the file of writes grew to 64 MB before it was written again."""
    with serving(tmp_path) as server, client(server) as known:
        for _ in range(12):
            for number in range(10):
                known.set(f"k{number}", os.urandom(100_000))
        for _ in range(100):
            if (kept := sum(each.stat().st_size for each in tmp_path.rglob("*.*") if each.is_file())) < 8_000_000:
                break
            # A rewrite that comes late begins with the next write only: the file stays at what it was until then.
            known.set("k0", os.urandom(100_000))
            time.sleep(0.1)
        assert kept < 8_000_000
        assert len(known.get("k9")) == 100_000
