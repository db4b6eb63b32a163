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
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.servers.install import KAFKA_LIBS
from tests.servers.process import HOST, Server, free_ports
from tests.servers.process import free_port as free_port  # others ask for it here

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


def new_cluster_id() -> str:
    """An id in Kafka's form; never one with "-" in front, which Kafka's own tool takes for an option."""
    return base64.urlsafe_b64encode((uuid.uuid4().int >> 1).to_bytes(16, "big")).rstrip(b"=").decode()


class KafkaServer(Server):
    """A broker that keeps its directory and port over `kill` and `start`; alone, or node `node_id` of `voters`."""

    name = "Apache Kafka"
    start_limit = 60.0
    pause = 0.05

    def __init__(
        self,
        directory: Path,
        *,
        libs: Path = KAFKA_LIBS,
        jvm: tuple[str, ...] = QUICK_JVM,
        properties: Mapping[str, str] | None = None,
        node_id: int = 1,
    ) -> None:
        super().__init__(directory)
        self._java = ["java", *jvm, *LOGGING, "-cp", f"{libs}/*"]
        self.port, controller_port = free_ports(2)
        self._extra = dict(properties or {})
        self.node_id = node_id
        self.bootstrap = f"{HOST}:{self.port}"
        self.controller = f"{HOST}:{controller_port}"
        self.voters = f"{node_id}@{self.controller}"
        self.cluster_id = new_cluster_id()

    @property
    def log(self) -> Path:
        """What the broker wrote to its outputs."""
        return self.directory / "broker.log"

    def answers(self) -> bool:
        """Whether it names at least one live broker."""
        return answers(self.port)

    def _command(self) -> Sequence[str]:
        path = self.directory / "server.properties"
        path.touch(mode=0o600)
        path.write_text("".join(f"{name}={value}\n" for name, value in self._properties().items()))
        self._format(path)
        return [*self._java, "kafka.Kafka", str(path)]

    def _properties(self) -> dict[str, str]:
        return {
            "process.roles": "broker,controller",
            "node.id": str(self.node_id),
            "controller.quorum.voters": self.voters,
            "listeners": f"PLAINTEXT://{self.bootstrap},CONTROLLER://{self.controller}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": str(self.directory / "data"),
            **ONE_NODE,
            **self._extra,
        }

    def _format_options(self) -> Sequence[str]:
        return ()

    def _format(self, config: Path) -> None:
        if (self.directory / "data" / "meta.properties").exists():
            return
        if shutil.which("java") is None:
            raise RuntimeError("Kafka needs java: python -m tests.servers.install kafka")
        tool = ["kafka.tools.StorageTool", "format", "-t", self.cluster_id, "-c", str(config), *self._format_options()]
        done = subprocess.run([*self._java, *tool], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"Kafka's storage was not formatted: {done.stderr.strip()[-500:]}")
