"""One Apache Kafka broker (KRaft, one node) from a folder of jars, on loopback and free ports.

with KafkaServer(directory) as kafka:
    use(kafka.bootstrap)
    kafka.kill()
    kafka.start()  # the same data on the same port
"""

import base64
import shutil
import socket
import struct
import subprocess
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.servers.install import KAFKA_LIBS

HOST = "127.0.0.1"
# The first two halve the start; for a latency bench pass none and warm up.
QUICK_JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xms256m", "-Xmx512m")
LOGGING = ("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",)
API_METADATA = 3

ONE_NODE = {
    # The defaults ask for three replicas: groups, or transactions, would wait for ever.
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # The default holds a group's first join for 3 s.
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    # After SIGKILL a start waits until the old registration has expired: 9 s by default.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    "auto.create.topics.enable": "false",
}


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def answers(port: int) -> bool:
    """Whether a Metadata request is answered with at least one live broker."""
    header = struct.pack(">hhih", API_METADATA, 1, 1, -1)
    request = header + struct.pack(">i", 0)
    try:
        with socket.create_connection((HOST, port), timeout=1) as connection:
            connection.sendall(struct.pack(">i", len(request)) + request)
            stream = connection.makefile("rb")
            (size,) = struct.unpack(">i", stream.read(4))
            brokers: int = struct.unpack_from(">i", stream.read(size), 4)[0]
            return brokers > 0
    except (OSError, struct.error):
        return False


class KafkaServer:
    """A broker that keeps its directory and port over `kill` and `start`."""

    def __init__(
        self,
        directory: Path,
        *,
        libs: Path = KAFKA_LIBS,
        jvm: tuple[str, ...] = QUICK_JVM,
        properties: Mapping[str, str] | None = None,
    ) -> None:
        self._directory = directory.resolve()
        self._java = ["java", *jvm, *LOGGING, "-cp", f"{libs}/*"]
        self._port, self._controller_port = free_port(), free_port()
        self._extra = dict(properties or {})
        self._process: subprocess.Popen[bytes] | None = None
        self.bootstrap = f"{HOST}:{self._port}"

    @property
    def log(self) -> Path:
        """What the broker wrote to its outputs."""
        return self._directory / "broker.log"

    def start(self, limit: float = 60.0) -> str:
        """Return the bootstrap address once the broker answers; a no-op while it runs.

        Raises `RuntimeError`, naming the log, when it ends or `limit` seconds pass first.
        """
        if self._process is not None:
            return self.bootstrap
        self._format()
        with self.log.open("ab") as log:
            # A session of its own: Ctrl-C in the terminal is for the tests, which stop it in turn.
            self._process = subprocess.Popen(
                [*self._java, "kafka.Kafka", str(self._config())],
                stdout=log,
                stderr=log,
                cwd=self._directory,
                start_new_session=True,
            )
        deadline = time.monotonic() + limit
        while not answers(self._port):
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"Kafka did not start, see {self.log}")
            time.sleep(0.05)
        return self.bootstrap

    def stop(self, limit: float = 30.0) -> None:
        """End the broker in order; by force when that takes longer than `limit` seconds."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(limit)
            except subprocess.TimeoutExpired:
                self.kill()
            self._process = None

    def kill(self) -> None:
        """SIGKILL: nothing is flushed, the registration stays behind."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def restart(self) -> str:
        """Stop in order and start again."""
        self.stop()
        return self.start()

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

    def _config(self) -> Path:
        controller = f"{HOST}:{self._controller_port}"
        properties = {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@{controller}",
            "listeners": f"PLAINTEXT://{self.bootstrap},CONTROLLER://{controller}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": str(self._directory / "data"),
            **ONE_NODE,
            **self._extra,
        }
        path = self._directory / "server.properties"
        path.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
        return path

    def _format(self) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        if (self._directory / "data" / "meta.properties").exists():
            return
        if shutil.which("java") is None:
            raise RuntimeError("Kafka needs java: python -m tests.servers.install kafka")
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
        tool = ["kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(self._config())]
        done = subprocess.run([*self._java, *tool], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"Kafka's storage was not formatted: {done.stderr.strip()[-500:]}")
