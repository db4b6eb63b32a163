"""`fathom` as processes of a test: commands, and `fathom up` or `fathom worker` until a block ends."""

import atexit
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from tests.builders.outputs import JSON, check_output
from tests.checkout import ROOT
from tests.e2e.fork_server import ForkServer

# When a test gives up; far more than it takes, since machines are busy with something else.
START_S, STOP_S, ORPHAN_S = 120.0, 60.0, 20.0
# The smallest process there is: no language model, few partitions; and several may run beside each other.
IN_MEMORY = dict.fromkeys(("FATHOM_REDIS_URL", "FATHOM_QDRANT_URL", "FATHOM_NEO4J_URL"), "memory://")
SMALL = {"FATHOM_EMBEDDER": "hashing", "FATHOM_PARTITIONS": "2", "FATHOM_HTTP_PORT": "0"}
# For tests of what is in a pack: on a busy machine the first one of a cold worker takes longer than its deadline, and
# what it then lacks is no fault of theirs.
UNHURRIED = {f"FATHOM_PACK_DEADLINE_MS_D{level}": "60000" for level in range(5)}

# They print one line, when they are ready, without being asked for JSON.
READY = ("up", "worker", "serve", "mcp")


class Process:
    """A `fathom up` or `fathom worker` of a test."""

    def __init__(self, *arguments: str, stderr: Path, **environment: str) -> None:
        self._stderr = stderr
        self._verb = next(iter(arguments), "")
        with stderr.open("wb") as errors:
            self.child = subprocess.Popen(
                [sys.executable, "-m", "streams", *arguments],
                cwd=ROOT,
                env={**clean(), **SMALL, **environment},
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def ready(self) -> dict[str, Any]:
        """The line that says that everything consumes."""
        assert self.child.stdout is not None
        line = self.child.stdout.readline()
        assert line, f"it ended instead: {self.said()}"
        if self._verb in READY:
            check_output([self._verb, JSON], line)
        return json.loads(line)

    def said(self) -> str:
        return self._stderr.read_text()

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Exit code and what stdout held after the ready line."""
        self.child.send_signal(number)
        out, _ = self.child.communicate(timeout=STOP_S)
        return self.child.returncode, out

    def descendants(self) -> set[int]:
        return descendants(self.child.pid)


def clean() -> dict[str, str]:
    return {name: text for name, text in os.environ.items() if not name.startswith(("FATHOM_", "RAG_"))}


def descendants(pid: int) -> set[int]:
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found |= {int(child)} | descendants(int(child))
    return found


def alive(pids: set[int]) -> set[int]:
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


def gone_within(pids: set[int], seconds: float) -> set[int]:
    deadline = time.monotonic() + seconds
    while (left := alive(pids)) and time.monotonic() < deadline:
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
    """An ended command, run by the fork server of these tests, which the first call starts.

    What it prints with `--json` has the schema that is published for its verb.
    """
    ended = _fork_server().run(*arguments, environment={**clean(), **SMALL, **environment}, limit=START_S)
    check_output(arguments, ended.stdout)
    return ended


@cache
def _fork_server() -> ForkServer:
    server = ForkServer()
    server.start()
    atexit.register(server.stop)
    return server
