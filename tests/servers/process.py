"""A server as a child process: on loopback and free ports, in a directory of its own, ended by its pid.

with RedisServer(directory) as redis:
    use(redis.url)
    redis.kill()
    redis.start()  # the same data on the same port
"""

import contextlib
import random
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

HOST = "127.0.0.1"
CLIENT_PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")
# The shell becomes the server, so that its pid is ours to signal; a guardian keeps the other end of our pipe and ends
# the server in order when we are gone, also after SIGKILL. (A parent-death signal would come when our *thread* ends.)
GUARDED = 'exec 3<&0; (cat <&3 >/dev/null; kill -TERM 0) & exec 3<&- </dev/null; exec "$@"'


def free_ports(count: int) -> list[int]:
    """Return different ports of the loopback interface that nobody listens on.

    Below those that the system gives to clients: while a server that was killed is down, a client's connection, even
    its own in search of it, could else take its port.
    """
    below = int(CLIENT_PORTS.read_text().split()[0])
    found: list[int] = []
    with contextlib.ExitStack() as open_probes:
        for port in random.sample(range(below // 3, below), below // 3):  # not seeded: other tests choose beside us
            probe = open_probes.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                probe.bind((HOST, port))
                found.append(port)
            if len(found) == count:
                return found
    raise RuntimeError(f"not {count} free ports in {below // 3}-{below}")


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on."""
    return free_ports(1)[0]


class Server(ABC):
    """A server that keeps its directory and port over `kill` and `start`."""

    name: ClassVar[str]
    start_limit: ClassVar[float] = 30.0
    pause: ClassVar[float] = 0.02

    def __init__(self, directory: Path) -> None:
        self.directory = directory.resolve()
        self._process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def answers(self) -> bool:
        """Whether it serves requests: its port is open and its data is loaded."""

    @abstractmethod
    def _command(self) -> Sequence[str]:
        """The command line; the directory exists when it is asked for."""

    def _environment(self) -> Mapping[str, str] | None:
        """The environment; None is ours."""
        return None

    @property
    def log(self) -> Path:
        """What the server wrote to its outputs."""
        return self.directory / f"{self.name.lower().replace(' ', '-')}.log"

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return None if self._process is None else self._process.pid

    @property
    def ended(self) -> bool:
        """Whether it was started and has ended by itself."""
        return self._process is not None and self._process.poll() is not None

    def launch(self) -> None:
        """Start without waiting for an answer; a no-op while it runs."""
        if self._process is not None:
            return
        self.directory.mkdir(parents=True, exist_ok=True)
        command = self._command()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", GUARDED, self.name, *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self.directory,
                env=self._environment(),
                # A session of its own: Ctrl-C in the terminal is for the tests, which stop it in turn.
                start_new_session=True,
            )

    def wait(self, limit: float | None = None) -> None:
        """Return once it answers.

        Raises `RuntimeError`, naming the log, when it ends or `limit` seconds pass first.
        """
        deadline = time.monotonic() + (self.start_limit if limit is None else limit)
        while not self.answers():
            if self.ended or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"{self.name} did not start, see {self.log}")
            time.sleep(self.pause)

    def start(self, limit: float | None = None) -> None:
        """Launch and wait; a no-op while it runs."""
        if self._process is not None:
            return
        try:
            self.launch()
            self.wait(limit)
        except BaseException:
            # Whatever it was, also Ctrl-C: nobody else knows of the child yet.
            self.kill()
            raise

    def stop(self, limit: float = 30.0) -> bool:
        """End it in order; by force, and False, when that takes longer than `limit` seconds."""
        if self._process is None:
            return True
        try:
            self._process.terminate()
            self._process.wait(limit)
        except subprocess.TimeoutExpired:
            return False
        finally:
            self.kill()
        return True

    def kill(self) -> None:
        """SIGKILL: nothing is flushed."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        if process.stdin is not None:
            process.stdin.close()

    def restart(self) -> None:
        """Stop in order and start again."""
        self.stop()
        self.start()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
