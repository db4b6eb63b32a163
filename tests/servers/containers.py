"""Where the real servers of the tests come from: named by the environment, an engine if one runs, else native.

The choice is one for all servers of a run, so that what is printed at its end holds for every test. Images are those of
docker-compose.yml.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import yaml
from docker.errors import DockerException
from testcontainers.core.container import DockerContainer

from tests.checkout import ROOT
from tests.servers.process import HOST, Server

COMPOSE = ROOT / "docker-compose.yml"
GIVEN = {
    "kafka": "FATHOM_TEST_KAFKA",
    "neo4j": "FATHOM_TEST_NEO4J_URL",
    "qdrant": "FATHOM_TEST_QDRANT_URL",
    "redis": "FATHOM_TEST_REDIS_URL",
}
# `native` for those who have an engine and do not want it used.
FORCED = "FATHOM_TEST_SERVERS"
START_S = 180.0
PAUSE_S = 0.2

Kind = Literal["given", "container", "native", "none"]
Probe = Callable[[], str | None]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a server comes from, and why from there."""

    server: str
    kind: Kind
    why: str

    def __str__(self) -> str:
        return f"{self.server}: {self.kind} ({self.why})"


@dataclass(frozen=True, slots=True)
class Image:
    """How a server is run in a container; `ports` are its own by the host's, all on loopback."""

    name: str
    ports: Mapping[int, int]
    environment: Mapping[str, str] = field(default_factory=dict)
    command: Sequence[str] = ()


@cache
def no_engine() -> str | None:
    """Why no container can be started here; None when one can."""
    try:
        # Without an engine the constructor raises; with one that does not answer the ping does.
        DockerContainer("scratch").get_docker_client().client.ping()
    except (DockerException, OSError) as error:
        return str(error).partition("\n")[0] or type(error).__name__
    return None


def source_of(
    server: str,
    lacking: Callable[[str], str | None],
    *,
    probe: Probe = no_engine,
    environment: Mapping[str, str] = os.environ,
) -> Source:
    """The first of: named by the environment, a container, a native process; `none` with how to get one."""
    if environment.get(GIVEN[server]):
        return Source(server, "given", GIVEN[server])
    native = lacking(server)
    if environment.get(FORCED) == "native":
        return Source(server, "none", native) if native else Source(server, "native", f"{FORCED}=native")
    if (why := probe()) is None:
        return Source(server, "container", image_name(server))
    return Source(server, "none", native) if native else Source(server, "native", f"no container engine: {why}")


def image_name(server: str) -> str:
    """The image that docker-compose.yml names for a server."""
    found: str = yaml.safe_load(COMPOSE.read_text())["services"][server]["image"]
    return found


def redis(port: int) -> Image:
    return Image(image_name("redis"), {6379: port}, command=("redis-server", "--appendonly", "yes"))


def qdrant(port: int, grpc_port: int, api_key: str) -> Image:
    return Image(image_name("qdrant"), {6333: port, 6334: grpc_port}, {"QDRANT__SERVICE__API_KEY": api_key})


def neo4j(port: int, password: str) -> Image:
    return Image(image_name("neo4j"), {7687: port}, {"NEO4J_AUTH": f"neo4j/{password}"})


def kafka(port: int) -> Image:
    """One node; clients are sent to the host's port, so it is named before the container starts."""
    return Image(
        image_name("kafka"),
        {9092: port},
        {
            "KAFKA_NODE_ID": "1",
            "KAFKA_PROCESS_ROLES": "broker,controller",
            "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@localhost:9093",
            "KAFKA_LISTENERS": "PLAINTEXT://:9092,CONTROLLER://:9093",
            "KAFKA_ADVERTISED_LISTENERS": f"PLAINTEXT://{HOST}:{port}",
            "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
            "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR": "1",
            "KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR": "1",
            "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR": "1",
            "KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS": "0",
            "KAFKA_GROUP_MIN_SESSION_TIMEOUT_MS": "1000",
            "KAFKA_AUTO_CREATE_TOPICS_ENABLE": "false",
        },
    )


@contextmanager
def running(
    image: Image, answers: Callable[[], bool], *, make: Callable[[str], Any] = DockerContainer
) -> Iterator[None]:
    """A container until the block ends; it is entered once the server answers.

    Raises `RuntimeError` with what the container said when that takes too long.
    """
    container = make(image.name).with_command(list(image.command) or None)
    for inside, outside in image.ports.items():
        # `with_bind_ports` would open them to the network.
        container.ports[f"{inside}/tcp"] = (HOST, outside)
    for name, value in image.environment.items():
        container.with_env(name, value)
    try:
        container.start()
        deadline = time.monotonic() + START_S
        while not answers():
            if time.monotonic() > deadline:
                raise RuntimeError(f"{image.name} did not start: {_said(container)}")
            time.sleep(PAUSE_S)
        yield
    finally:
        container.stop()


@contextmanager
def started(source: Source, server: Server, image: Image) -> Iterator[None]:
    """The server where its source says: `server` itself, or a container at its ports that answers like it."""
    if source.kind == "container":
        with running(image, server.answers):
            yield
    else:
        with server:
            yield


def _said(container: Any) -> str:
    out, errors = container.get_logs()
    return (out + errors).decode(errors="replace")[-500:]
