"""Three Apache Kafka brokers (KRaft, each also a controller), every topic on all, two must hold a record; or one.

with KafkaCluster(directory) as cluster:
    use(cluster.bootstrap)
    cluster.nodes[2].kill()
    cluster.nodes[2].start()
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.servers.kafka import KafkaServer

SMALL_JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xms128m", "-Xmx320m")
REPLICATED = {
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "share.coordinator.state.topic.replication.factor": "3",
    "share.coordinator.state.topic.min.isr": "2",
}


class KafkaCluster:
    """Brokers by their node ids; each keeps its directory and port over `kill` and `start`."""

    def __init__(self, directory: Path, size: int = 3) -> None:
        properties = REPLICATED if size >= 3 else {}
        self.nodes = {
            number: KafkaServer(directory / f"node-{number}", jvm=SMALL_JVM, properties=properties, node_id=number)
            for number in range(1, size + 1)
        }
        first = self.nodes[1]
        voters = ",".join(f"{number}@{node.controller}" for number, node in self.nodes.items())
        for node in self.nodes.values():
            node.voters, node.cluster_id = voters, first.cluster_id
        self.bootstrap = ",".join(node.bootstrap for node in self.nodes.values())

    def start(self) -> None:
        """Start all at once: none answers before a majority has met."""
        with ThreadPoolExecutor(len(self.nodes)) as pool:
            list(pool.map(lambda node: node.start(), self.nodes.values()))

    def stop(self) -> None:
        """End all in order, at once."""
        with ThreadPoolExecutor(len(self.nodes)) as pool:
            list(pool.map(lambda node: node.stop(), self.nodes.values()))

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
