"""The life of `fathom up` and `fathom worker`: one owner of a directory, an orderly end, and nothing left behind."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from streams.runtime import data_dir
from tests.checkout import ROOT

# When a test gives up; far more than it takes, since machines are busy with something else.
START_S, STOP_S, ORPHAN_S = 120.0, 60.0, 20.0
# The smallest process there is: no language model, few partitions.
IN_MEMORY = dict.fromkeys(("FATHOM_REDIS_URL", "FATHOM_QDRANT_URL", "FATHOM_NEO4J_URL"), "memory://")
SMALL = {"FATHOM_EMBEDDER": "hashing", "FATHOM_PARTITIONS": "2"}
# For tests of what is in a pack: on a busy machine the first one of a cold worker takes longer than its deadline, and
# what it then lacks is no fault of theirs.
UNHURRIED = {f"FATHOM_PACK_DEADLINE_MS_D{level}": "60000" for level in range(5)}


class Process:
    """A `fathom up` or `fathom worker` of a test."""

    def __init__(self, *arguments: str, stderr: Path, **environment: str) -> None:
        self._stderr = stderr
        with stderr.open("wb") as errors:
            self.child = subprocess.Popen(
                [sys.executable, "-m", "streams", *arguments],
                cwd=ROOT,
                env={**_clean(), **SMALL, **environment},
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def ready(self) -> dict[str, Any]:
        """The line that says that everything consumes."""
        assert self.child.stdout is not None
        line = self.child.stdout.readline()
        assert line, f"it ended instead: {self.said()}"
        return json.loads(line)

    def said(self) -> str:
        return self._stderr.read_text()

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Exit code and what stdout held after the ready line."""
        self.child.send_signal(number)
        out, _ = self.child.communicate(timeout=STOP_S)
        return self.child.returncode, out

    def descendants(self) -> set[int]:
        return _descendants(self.child.pid)


def _clean() -> dict[str, str]:
    return {name: text for name, text in os.environ.items() if not name.startswith(("FATHOM_", "RAG_"))}


def _descendants(pid: int) -> set[int]:
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found |= {int(child)} | _descendants(int(child))
    return found


def _alive(pids: set[int]) -> set[int]:
    """Those that run; a zombie has ended and only waits to be counted."""
    found = set()
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if state != "Z":
            found.add(pid)
    return found


def _gone_within(pids: set[int], seconds: float) -> set[int]:
    deadline = time.monotonic() + seconds
    while (left := _alive(pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


@contextmanager
def running(*arguments: str, stderr: Path, **environment: str) -> Iterator[Process]:
    process = Process(*arguments, stderr=stderr, **environment)
    try:
        yield process
    finally:
        if process.child.poll() is None:
            process.child.kill()
        process.child.wait()
        if process.child.stdout is not None:
            process.child.stdout.close()


def fathom(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "streams", *arguments],
        cwd=ROOT,
        env={**_clean(), **SMALL, **environment},
        capture_output=True,
        text=True,
        timeout=START_S,
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_up_has_one_owner_and_ends_in_order(data: Path, tmp_path: Path):
    with running("up", "--data", str(data), "--port", "0", stderr=tmp_path / "err") as process:
        ready = process.ready()
        assert ready.keys() == {"event", "bootstrap", "http", "console"}
        assert ready["console"] == f"http://{ready['http']}/console"
        assert ready["event"] == "ready"
        children = process.descendants()
        assert len(children) >= 3  # the broker, the index and the cache

        with urlopen(f"http://{ready['http']}/health/startup", timeout=5) as answer:
            assert answer.status == 200
        published = data_dir.running(data)
        assert published is not None
        assert (published.pid, published.bootstrap, published.http) == (
            process.child.pid, ready["bootstrap"], ready["http"],
        )  # fmt: skip
        assert Path(published.stores).is_socket()

        second = fathom("up", "--data", str(data), "--port", "0")
        assert second.returncode == 3
        assert f"as process {process.child.pid}" in second.stderr
        assert len(second.stderr.splitlines()) == 1

        assert process.end(signal.SIGTERM) == (0, "")
        assert _gone_within(children, ORPHAN_S) == set()
        assert not (data / data_dir.ADDRESSES).exists()
        assert "Traceback" not in process.said()


def test_a_killed_up_leaves_nothing_behind_and_the_next_one_goes_on(data: Path, tmp_path: Path):
    arguments = ("up", "--data", str(data), "--port", "0")
    with running(*arguments, stderr=tmp_path / "err-1") as first:
        first.ready()
        sent = fathom("send", "Qual é o prazo?", "--message-id", "before-the-kill", "--broker", f"embedded://{data}")
        assert sent.returncode == 0
        children = first.descendants()
        first.child.kill()
        first.child.wait()
        assert _gone_within(children, ORPHAN_S) == set()

    with running(*arguments, stderr=tmp_path / "err-2") as second:
        ready = second.ready()
        shown = fathom(
            "tail", "messages.in", "--from-beginning", "--no-follow", "--json", "--broker", ready["bootstrap"]
        )
        assert [json.loads(line)["value"]["message_id"] for line in shown.stdout.splitlines()] == ["before-the-kill"]
        assert second.end(signal.SIGINT)[0] == 0


def test_a_broker_that_dies_is_started_again_where_it_was(data: Path, tmp_path: Path):
    with running("up", "--data", str(data), "--port", "0", stderr=tmp_path / "err") as process:
        ready = process.ready()
        [broker] = [pid for pid in process.descendants() if b"streams.broker" in _command(pid)]
        os.kill(broker, signal.SIGKILL)
        deadline = time.monotonic() + START_S
        while "broker.restart" not in process.said():
            assert time.monotonic() < deadline
            time.sleep(0.1)
        asked = fathom("ask", "Olá!", "--json", "--timeout", "30", "--broker", ready["bootstrap"])
        while asked.returncode == 4 and time.monotonic() < deadline:
            asked = fathom("ask", "Olá!", "--json", "--timeout", "30", "--broker", ready["bootstrap"])
        assert json.loads(asked.stdout)["query"] == "Olá!"
        assert process.end()[0] == 0


def _command(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def test_a_second_signal_ends_at_once(data: Path, tmp_path: Path):
    with running("worker", "planner", "--port", "0", stderr=tmp_path / "err",
                 FATHOM_BROKER=f"embedded://{data}", **IN_MEMORY) as process:  # fmt: skip
        process.ready()
        [broker] = process.descendants()
        os.kill(broker, signal.SIGSTOP)  # nothing can be drained into a broker that hangs
        process.child.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + STOP_S
        while "up.draining" not in process.said():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert process.end(signal.SIGINT)[0] == 130
        os.kill(broker, signal.SIGCONT)
        assert _gone_within({broker}, ORPHAN_S) == set()


def test_a_taken_port_is_said_in_one_sentence(data: Path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ended = fathom("up", "--data", str(data), "--port", str(port))
    assert ended.returncode == 3
    assert ended.stderr == (
        f"fathom: Port {port} on 127.0.0.1 is taken; choose another with --port, or --port 0 for any that is free\n"
    )


def test_a_directory_that_cannot_be_written_is_said_in_one_sentence(tmp_path: Path):
    (tmp_path / "file").touch()
    ended = fathom("up", "--data", str(tmp_path / "file" / "data"), "--port", "0")
    assert ended.returncode == 3
    assert ended.stderr.startswith(f"fathom: the data directory {tmp_path}/file/data cannot be written: ")
    assert len(ended.stderr.splitlines()) == 1


def test_a_worker_waits_for_its_broker_and_says_which(tmp_path: Path):
    environment = {"FATHOM_BROKER": "127.0.0.1:1", **IN_MEMORY}
    with running("worker", "planner", stderr=tmp_path / "err", **environment) as process:
        deadline = time.monotonic() + START_S
        while "broker.waiting" not in process.said():
            assert process.child.poll() is None, process.said()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        [said] = [json.loads(line) for line in process.said().splitlines() if "broker.waiting" in line]
        assert said["broker"] == "127.0.0.1:1"
        assert process.end() == (0, "")


def test_workers_of_some_groups_share_the_broker_of_an_up(data: Path, tmp_path: Path):
    with running("worker", "depth", "planner", "--port", "0", stderr=tmp_path / "err-1",
                 FATHOM_BROKER=f"embedded://{data}", **IN_MEMORY) as first:  # fmt: skip
        ready = first.ready()
        with running("worker", "retrieval", "assembler", stderr=tmp_path / "err-2",
                     FATHOM_BROKER=ready["bootstrap"], **IN_MEMORY) as second:  # fmt: skip
            second.ready()
            asked = fathom("ask", "Olá, tudo bem?", "--json", "--broker", f"embedded://{data}")
            assert json.loads(asked.stdout)["depth_level"] == "D0"
            assert second.end()[0] == 0
        assert first.end()[0] == 0
