"""The servers of a run: a broker, the working sets' Valkey, all in one directory and ended with the run."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from streams.stores.valkey import Valkey
from tests.runtime.embedded import EmbeddedServer
from tests.servers import install
from tests.servers.kafka import KafkaServer

BROKERS = ("embedded", "kafka")
PARTITIONS = 4
SESSION_S = 6.0
COMMIT_S = 0.5


@dataclass(frozen=True, slots=True)
class Servers:
    """Where the servers of a run are, and the directory for what it leaves."""

    broker: str
    bootstrap: str
    redis_url: str
    directory: Path

    def environment(self) -> dict[str, str]:
        """The settings of every worker."""
        return {
            "FATHOM_BROKER": self.bootstrap,
            "FATHOM_REDIS_URL": self.redis_url,
            "FATHOM_QDRANT_URL": "memory://",
            "FATHOM_NEO4J_URL": "memory://",
            "FATHOM_EMBEDDER": "hashing",
            "FATHOM_PARTITIONS": str(PARTITIONS),
            "FATHOM_COMMIT_INTERVAL_MS": str(int(COMMIT_S * 1000)),
            "FATHOM_SESSION_TIMEOUT_MS": str(int(SESSION_S * 1000)),
            "FATHOM_LOG_LEVEL": "warning",
            "FATHOM_LOG_FORMAT": "text",
        }

    def stores(self) -> dict[str, str]:
        """The settings of the one worker that owns graph and index."""
        own = self.directory / "stores"
        return {"FATHOM_QDRANT_URL": f"embedded://{own}", "FATHOM_NEO4J_URL": f"embedded://{own}"}


def lacking(broker: str) -> str | None:
    """Why a broker cannot be run on this machine; None when it can."""
    if broker == "kafka" and (install.kafka_libs() is None or install.java_version() is None):
        return "Apache Kafka is not installed: python -m tests.servers.install kafka"
    return None


@contextmanager
def serving(broker: str, directory: Path) -> Iterator[Servers]:
    """A broker and a Valkey, for as long as the block runs."""
    directory.mkdir(parents=True, exist_ok=True)
    server = KafkaServer(directory / "kafka") if broker == "kafka" else EmbeddedServer(directory / "broker")
    valkey = Valkey(directory / "valkey")
    with server:
        valkey.start()
        try:
            yield Servers(broker, server.bootstrap, f"unix://{valkey.socket}", directory)
        finally:
            valkey.stop()
