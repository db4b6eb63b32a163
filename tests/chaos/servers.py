"""The servers of a run, all in one directory and ended with it: everything embedded, or four real servers."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from streams.stores.graph.embedded.engine import EmbeddedGraph
from streams.stores.graph.embedded.tables import FILE
from streams.stores.graph.neo4j_engine import Neo4jGraph
from streams.stores.graph.neo4j_engine import Neo4jServer as Neo4jLogin
from streams.stores.sessions.valkey import Valkey
from tests.builders import customs
from tests.servers import install
from tests.servers.embedded import EmbeddedServer
from tests.servers.kafka import KafkaServer
from tests.servers.kafka_cluster import KafkaCluster
from tests.servers.neo4j import Neo4jServer
from tests.servers.qdrant import QdrantServer
from tests.servers.redis import RedisServer

# Named by their broker. With Apache Kafka come Redis, Qdrant and Neo4j: what runs together, is killed together.
BROKERS = ("embedded", "kafka")
REAL = ("kafka", "redis", "qdrant", "neo4j")
PARTITIONS = 4
# Everything of cognition is on, in every run.
COGNITION: dict[str, Any] = {
    "rag_enable_cograg": True,
    "rag_cograg_verification_enabled": True,
    "rag_cograg_evidence_refinement_enabled": True,
    "rag_cograg_memory_enabled": True,
    "rag_cograg_hallucination_loop": True,
}
SESSION_S = 6.0
COMMIT_S = 0.5
READ_ALL_S = 120.0  # of a whole graph in one answer


@dataclass(frozen=True, slots=True)
class Servers:
    """Where the servers of a run are, and the directory for what it leaves; `own` is the writers' environment."""

    broker: str
    bootstrap: str
    directory: Path
    shared: dict[str, str]
    own: dict[str, str] = field(default_factory=dict)
    neo4j: Neo4jLogin | None = None
    replication: int = 1

    def environment(self) -> dict[str, str]:
        """The settings of every worker."""
        return {
            "FATHOM_BROKER": self.bootstrap,
            **self.shared,
            "FATHOM_EMBEDDER": "hashing",
            "FATHOM_PARTITIONS": str(PARTITIONS),
            "FATHOM_COMMIT_INTERVAL_MS": str(int(COMMIT_S * 1000)),
            "FATHOM_SESSION_TIMEOUT_MS": str(int(SESSION_S * 1000)),
            "FATHOM_LOG_LEVEL": "warning",
            "FATHOM_LOG_FORMAT": "text",
            **customs.NAMED,
            **{name.upper(): str(value) for name, value in COGNITION.items()},
        }

    def graph(self) -> EmbeddedGraph | Neo4jGraph:
        """The graph that the writers left; an embedded one opens once they have ended."""
        if self.neo4j is not None:
            return Neo4jGraph(self.neo4j, timeout=READ_ALL_S)
        [file] = (self.directory / "stores").rglob(FILE)
        return EmbeddedGraph(file.parent)


def lacking(broker: str) -> str | None:
    """Why the servers with a broker cannot be run on this machine; None when they can."""
    if broker == "embedded":
        return None
    return next((why for name in REAL if (why := install.lacking(name)) is not None), None)


@contextmanager
def serving(broker: str, directory: Path) -> Iterator[Servers]:
    """The servers that go with a broker, for as long as the block runs."""
    directory.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        yield _real(directory, stack) if broker == "kafka" else _embedded(directory, stack)


def lacking_broker(broker: str) -> str | None:
    """Why the broker alone cannot be run on this machine; None when it can."""
    return None if broker == "embedded" else install.lacking(broker)


@contextmanager
def serving_with_own_stores(broker: str, directory: Path) -> Iterator[Servers]:
    """A broker, real or not, with embedded stores, which belong to one worker."""
    directory.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        if broker == "embedded":
            yield _embedded(directory, stack)
        else:
            kafka = stack.enter_context(KafkaServer(directory / "kafka"))
            yield _own_stores(directory, stack, broker, kafka.bootstrap)


@contextmanager
def serving_brokers(directory: Path, *, cluster: bool) -> Iterator[tuple[Servers, KafkaCluster]]:
    """Apache Kafka, one broker or three, to be killed; all stores are embedded and are let live."""
    directory.mkdir(parents=True, exist_ok=True)
    size = 3 if cluster else 1
    with ExitStack() as stack:
        kafka = stack.enter_context(KafkaCluster(directory / "kafka", size))
        servers = _own_stores(directory, stack, "kafka-cluster" if cluster else "kafka", kafka.bootstrap)
        yield replace(servers, replication=size), kafka


def _embedded(directory: Path, stack: ExitStack) -> Servers:
    server = stack.enter_context(EmbeddedServer(directory / "broker"))
    return _own_stores(directory, stack, "embedded", server.bootstrap)


def _own_stores(directory: Path, stack: ExitStack, broker: str, bootstrap: str) -> Servers:
    """Graph and index belong to one process: the writers'."""
    valkey = Valkey(directory / "valkey")
    valkey.start()
    stack.callback(valkey.stop)
    stores = directory / "stores"
    own = {"FATHOM_QDRANT_URL": f"embedded://{stores}", "FATHOM_NEO4J_URL": f"embedded://{stores}"}
    shared = dict.fromkeys(own, "memory://") | {"FATHOM_REDIS_URL": f"unix://{valkey.socket}"}
    return Servers(broker, bootstrap, directory, shared, own)


def _real(directory: Path, stack: ExitStack) -> Servers:
    kafka = stack.enter_context(KafkaServer(directory / "kafka"))
    redis = stack.enter_context(RedisServer(directory / "redis"))
    qdrant = stack.enter_context(QdrantServer(directory / "qdrant"))
    neo4j = stack.enter_context(Neo4jServer(directory / "neo4j"))
    password = directory / "neo4j-password"
    password.write_text(neo4j.password)
    shared = {
        "FATHOM_REDIS_URL": redis.url,
        "FATHOM_QDRANT_URL": qdrant.url,
        "FATHOM_NEO4J_URL": neo4j.url,
        "FATHOM_NEO4J_USER": neo4j.user,
        "FATHOM_NEO4J_PASSWORD_FILE": str(password),
    }
    login = Neo4jLogin(neo4j.url, neo4j.user, neo4j.password)
    return Servers("kafka", kafka.bootstrap, directory, shared, neo4j=login)
