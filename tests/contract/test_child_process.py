"""A child process: asked within a limit, ended with its group, and never by a fork of its parent."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from streams.child_process import ChildProcess
from tests.checkout import ROOT

DEAF = ("timeit", "-n1", "-r1", "import time; time.sleep(60)")
PARENT = """
import os, signal, sys
from streams.child_process import ChildProcess
child = ChildProcess()
child.start_guarded("/bin/sleep", "60")
print(child.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def child() -> Iterator[ChildProcess]:
    made = ChildProcess()
    yield made
    made.end()


def runs(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def eventually_ended(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while runs(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not runs(pid)


def pid_of(child: ChildProcess) -> int:
    assert child.pid is not None
    return child.pid


def test_a_guarded_command_ends_when_its_parent_is_killed() -> None:
    parent = subprocess.run([sys.executable, "-c", PARENT], cwd=ROOT, check=False, capture_output=True, text=True)
    assert parent.returncode == -signal.SIGKILL
    assert eventually_ended(int(parent.stdout))


@pytest.mark.parametrize("size", [0, 1_000_000], ids=["that does not answer", "that does not even read"])
def test_a_child_is_not_waited_for_beyond_the_limit(child: ChildProcess, size: int) -> None:
    child.start_module(*DEAF)
    with pytest.raises(TimeoutError):
        child.ask(0.2, b"x" * size)
    assert child.running


def test_what_another_thread_ends_is_gone_for_whoever_asks(child: ChildProcess) -> None:
    child.start_module(*DEAF)
    timer = threading.Timer(0.2, child.end)
    timer.start()
    try:
        line = child.ask(30, b"question\n")
    except OSError:
        line = b""
    timer.join()
    assert line == b""
    assert child.pid is None


def test_one_that_does_not_end_in_time_is_killed(child: ChildProcess) -> None:
    child.start_module(*DEAF)
    pid = pid_of(child)
    began = time.monotonic()
    child.end(0.2)
    assert 0.2 <= time.monotonic() - began < 10
    assert not runs(pid)


def test_a_second_start_ends_the_first_child(child: ChildProcess) -> None:
    child.start_guarded("/bin/sleep", "60")
    first = pid_of(child)
    child.start_guarded("/bin/sleep", "60")
    assert not runs(first)
    assert child.running


def test_its_pid_stays_taken_until_it_is_reaped(child: ChildProcess) -> None:
    child.start_guarded("/bin/sleep", "60")
    pid = pid_of(child)
    os.kill(pid, signal.SIGKILL)
    child.wait()
    assert Path(f"/proc/{pid}").exists()
    child.end()
    assert not Path(f"/proc/{pid}").exists()


def test_a_fork_of_the_parent_does_not_end_it(child: ChildProcess) -> None:
    child.start_guarded("/bin/sleep", "60")
    fork = os.fork()
    if fork == 0:
        child.end()
        os._exit(0)
    os.waitpid(fork, 0)
    assert child.running
