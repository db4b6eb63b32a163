"""A worker, what it stands on, and the ways to take that away and to give it back."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import orjson

from streams.stores.keys.master_key import made_master_key
from tests.checkout import ROOT
from tests.e2e.processes import IN_MEMORY, SMALL, START_S, clean, descendants
from tests.servers.kafka import KafkaServer
from tests.servers.neo4j import Neo4jServer
from tests.servers.process import Server
from tests.servers.qdrant import QdrantServer
from tests.servers.redis import RedisServer

END_S = 60.0
# A group that has nothing to read looks once a second.
READS_S = 3.0
FULL_BYTES = 8_000_000
EMBEDDED = "embedded://"
KEYS = ("FATHOM_SUBJECT_KEYS", "FATHOM_MASTER_KEY_FILE")


@dataclass(frozen=True)
class Kind:
    """What can be taken away: its name, what readiness says then, the setting that has it at its place."""

    name: str
    told: str
    environment: Mapping[str, str] = field(default_factory=dict)
    loop: bool = False
    server: type[Server] | None = None


KINDS = {
    kind.name: kind
    for kind in (
        Kind("broker", "broker is unavailable"),
        Kind("index", "index is unavailable", {"FATHOM_QDRANT_URL": EMBEDDED}),
        Kind("valkey", "working_set is unavailable", {"FATHOM_REDIS_URL": EMBEDDED}),
        Kind("loop", "the event loop has not moved", loop=True),
        Kind("disk", "is full"),
        Kind("kafka", "broker is unavailable", server=KafkaServer),
        Kind("redis", "working_set is unavailable", server=RedisServer),
        Kind("qdrant", "index is unavailable", server=QdrantServer),
        Kind("neo4j", "graph is unavailable", server=Neo4jServer),
        Kind("keys", "keys is unavailable", server=RedisServer),
    )
}
# The processes that `fathom up` brings along: a module of ours, or a program.
BROUGHT = {"broker": "streams.broker", "index": "streams.stores.passages.index_server", "valkey": "valkey-server"}


class Site:
    """A running worker: `take` takes the thing of its kind away, `give` gives it back."""

    def __init__(
        self, kind: Kind, directory: Path, addresses: dict[str, str], worker: "subprocess.Popen[str]", pid: int
    ) -> None:
        self.kind = kind
        # Settings that its clients need too.
        self.shared: Mapping[str, str] = {}
        self.directory = directory
        self.bootstrap, self.http = addresses["bootstrap"], addresses["http"]
        self.worker = worker
        self._pid = pid

    @property
    def _held(self) -> Path:
        return self.directory / "held"

    @property
    def _ballast(self) -> Path:
        return self.directory / "disk" / "ballast"

    def take(self) -> None:
        """Stop the process, block the loop or fill the disk."""
        if self.kind.loop:
            self.hold_loop()
        elif self.kind.name == "disk":
            room = os.statvfs(self._ballast.parent)
            self._ballast.write_bytes(bytes(room.f_bavail * room.f_frsize - FULL_BYTES))
        else:
            os.kill(self._pid, signal.SIGSTOP)

    def give(self) -> None:
        """The opposite of `take`; may be repeated."""
        if self.kind.loop:
            self.free_loop()
        elif self.kind.name == "disk":
            self._ballast.unlink(missing_ok=True)
        else:
            os.kill(self._pid, signal.SIGCONT)

    def hold_loop(self) -> None:
        """Block the event loop, whatever the kind is, until `free_loop`."""
        self._held.touch()
        os.kill(self.worker.pid, signal.SIGUSR1)

    def free_loop(self) -> None:
        """Let it go on."""
        self._held.unlink(missing_ok=True)

    def asked(self, page: str) -> tuple[int, dict[str, Any]]:
        """Status and body of a health page; status 0 where nobody answers."""
        try:
            with urlopen(f"http://{self.http}/health/{page}", timeout=5) as reply:
                return reply.status, orjson.loads(reply.read())
        except HTTPError as error:
            return error.code, orjson.loads(error.read())
        except (URLError, OSError):
            return 0, {"why": []}

    def settled(self) -> bool:
        """Whether it is ready and each group reads its partitions."""
        status, said = self.asked("ready")
        return status == 200 and all(
            group["partitions"] and group["stalled_s"] < READS_S for group in said["groups"].values()
        )

    def answers(self) -> bool:
        """Whether a question gets its pack."""
        command = [sys.executable, "-m", "streams", "ask", "Olá!", "--broker", self.bootstrap, "--json"]
        environment = {**clean(), **self.shared}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=END_S, check=False)
        return done.returncode == 0 and b"pack_id" in done.stdout

    def metric(self, name: str) -> float:
        """The value of a metric without labels, or with those in the name; 0 before it has one."""
        with urlopen(f"http://{self.http}/metrics", timeout=5) as reply:
            lines = reply.read().decode().splitlines()
        return next((float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(f"{name} ")), 0.0)


@contextmanager
def running(kind: Kind, directory: Path) -> Iterator[Site]:
    """A worker that is ready, with the smallest stores there are besides the one of its kind."""
    directory.mkdir(parents=True, exist_ok=True)
    home = directory / "disk" / "home"
    home.parent.mkdir()
    with ExitStack() as stack:
        if kind.name == "disk":
            _mount(home.parent, stack)
        urls = {name: f"{EMBEDDED}{home}" if url == EMBEDDED else url for name, url in kind.environment.items()}
        environment = {**clean(), **SMALL, **IN_MEMORY, "FATHOM_HTTP_PORT": "0", **urls}
        server = None if kind.server is None else stack.enter_context(kind.server(directory / "server"))
        if server is not None:
            environment |= _keys(server, directory) if kind.name == "keys" else _place(server, directory)
        command = ["worker"] if isinstance(server, KafkaServer) else ["up", "--data", str(home), "--port", "0"]
        with (directory / "worker.err").open("wb") as errors:
            worker = subprocess.Popen(
                [sys.executable, "-m", "tests.proofs.health.blocking", str(directory / "held"), *command],
                cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True,
            )  # fmt: skip
        stack.callback(_end, worker)
        assert worker.stdout is not None
        line = worker.stdout.readline()
        assert line, (directory / "worker.err").read_text()
        pid = server.pid if server is not None else _brought(worker.pid, BROUGHT.get(kind.name))
        site = Site(kind, directory, orjson.loads(line), worker, pid or 0)
        site.shared = {name: value for name, value in environment.items() if name in KEYS}
        stack.callback(site.give)
        until(site.settled, START_S)
        yield site


def until(holds: Callable[[], bool], seconds: float, pause: float = 0.1) -> float | None:
    """Seconds until it holds; None when it does not in time."""
    began = time.monotonic()
    while not holds():
        if time.monotonic() - began > seconds:
            return None
        time.sleep(pause)
    return time.monotonic() - began


def _keys(server: Server, directory: Path) -> dict[str, str]:
    assert isinstance(server, RedisServer)
    made_master_key(directory / "master.key")
    return dict(zip(KEYS, (server.url, str(directory / "master.key")), strict=True))


def _place(server: Server, directory: Path) -> dict[str, str]:
    if isinstance(server, KafkaServer):
        return {"FATHOM_BROKER": server.bootstrap}
    if isinstance(server, RedisServer):
        return {"FATHOM_REDIS_URL": server.url}
    if isinstance(server, QdrantServer):
        return {"FATHOM_QDRANT_URL": server.url}
    assert isinstance(server, Neo4jServer)
    password = directory / "password"
    password.write_text(server.password)
    named = {"FATHOM_NEO4J_USER": server.user, "FATHOM_NEO4J_PASSWORD_FILE": str(password)}
    return {"FATHOM_NEO4J_URL": server.url, **named}


def _mount(folder: Path, stack: ExitStack) -> None:
    """A disk of its own: this process runs where its mounts are seen by nobody else."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=120m", "fathom-test", str(folder)], check=True)
    stack.callback(subprocess.run, ["umount", "--lazy", str(folder)], check=True)


def _brought(worker: int, what: str | None) -> int | None:
    if what is None:
        return None
    (pid,) = (pid for pid in descendants(worker) if what in _names(pid))
    return pid


def _names(pid: int) -> set[str]:
    process = Path(f"/proc/{pid}")
    _, _, module, *_ = *(process / "cmdline").read_text().split("\0"), "", "", ""
    return {module, (process / "comm").read_text().strip()}


def _end(worker: "subprocess.Popen[str]") -> None:
    worker.terminate()
    try:
        worker.communicate(timeout=END_S)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.communicate()
