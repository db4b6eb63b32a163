"""The life of `fathom up` and `fathom worker`: one owner of a directory, an orderly end, and nothing left behind."""

import json
import os
import signal
import socket
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

from streams.runtime import data_dir
from tests.e2e.processes import IN_MEMORY, ORPHAN_S, START_S, STOP_S, fathom, gone_within, running


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
        assert gone_within(children, ORPHAN_S) == set()
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
        assert gone_within(children, ORPHAN_S) == set()

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
    with running("worker", "depth", "--port", "0", stderr=tmp_path / "err",
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
        assert gone_within({broker}, ORPHAN_S) == set()


def test_a_taken_port_is_said_in_one_sentence(data: Path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ended = fathom("up", "--data", str(data), "--port", str(port))
    assert ended.returncode == 3
    assert ended.stderr.splitlines()[-1] == (
        f"fathom: Port {port} on 127.0.0.1 is taken; choose another with --port, or --port 0 for any that is free"
    )


def test_what_is_being_started_is_said_line_by_line(data: Path, tmp_path: Path):
    with running("up", "--data", str(data), "--port", "0", stderr=tmp_path / "err", **IN_MEMORY) as process:
        process.ready()
        lines = [json.loads(line) for line in process.said().splitlines()]
        steps = [line["doing"] for line in lines if line["event"] == "up.starting"]
        assert steps[0] == "starting the embedded broker, and loading the stages"
        assert steps[-1] == "joining the consumer groups"


def test_a_directory_that_cannot_be_written_is_said_in_one_sentence(tmp_path: Path):
    (tmp_path / "file").touch()
    ended = fathom("up", "--data", str(tmp_path / "file" / "data"), "--port", "0")
    assert ended.returncode == 3
    assert ended.stderr.startswith(f"fathom: the data directory {tmp_path}/file/data cannot be written: ")
    assert len(ended.stderr.splitlines()) == 1


def test_a_worker_waits_for_its_broker_and_says_which(tmp_path: Path):
    environment = {"FATHOM_BROKER": "127.0.0.1:1", **IN_MEMORY}
    with running("worker", "depth", stderr=tmp_path / "err", **environment) as process:
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
                 FATHOM_BROKER=f"embedded://{data}", FATHOM_LAYOUT="split", **IN_MEMORY) as first:  # fmt: skip
        ready = first.ready()
        with running("worker", "retrieval", "assembler", stderr=tmp_path / "err-2",
                     FATHOM_BROKER=ready["bootstrap"], FATHOM_LAYOUT="split", **IN_MEMORY) as second:  # fmt: skip
            second.ready()
            asked = fathom("ask", "Olá, tudo bem?", "--json", "--broker", f"embedded://{data}")
            assert json.loads(asked.stdout)["depth_level"] == "D0"
            assert second.end()[0] == 0
        assert first.end()[0] == 0
