"""Four servers for workers; Neo4j is the one that the environment names, else a new one."""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from neo4j import GraphDatabase

from tests.e2e.processes import fathom
from tests.servers.install import lacking
from tests.servers.kafka import KafkaServer
from tests.servers.neo4j import Neo4jAddress, Neo4jServer
from tests.servers.qdrant import QdrantServer
from tests.servers.redis import RedisServer

PATIENCE_S = 120.0


class Site:
    """The addresses of four servers, as a worker's environment."""

    def __init__(self, directory: Path, stack: ExitStack) -> None:
        # Its own: the broker's suite leaves topics of ours with other partitions on the shared one.
        kafka = stack.enter_context(KafkaServer(directory / "kafka"))
        redis = stack.enter_context(RedisServer(directory / "redis"))
        qdrant = stack.enter_context(QdrantServer(directory / "qdrant"))
        self.neo4j = _neo4j(directory, stack)
        password = directory / "neo4j-password"
        password.write_text(self.neo4j.password)
        self.environment = {
            "FATHOM_BROKER": kafka.bootstrap,
            "FATHOM_REDIS_URL": redis.url,
            "FATHOM_QDRANT_URL": qdrant.url,
            "FATHOM_NEO4J_URL": self.neo4j.url,
            "FATHOM_NEO4J_USER": self.neo4j.user,
            "FATHOM_NEO4J_PASSWORD_FILE": str(password),
            "FATHOM_SESSION_TIMEOUT_MS": "6000",
        }

    def count(self, label: str, tenant: str) -> int:
        """Nodes of a label that a tenant has in Neo4j."""
        login = (self.neo4j.user, self.neo4j.password)
        with GraphDatabase.driver(self.neo4j.url, auth=login) as driver:
            found, _, _ = driver.execute_query(
                "MATCH (n) WHERE $label IN labels(n) AND n.tenant_id = $tenant RETURN count(n) AS count",
                label=label,
                tenant=tenant,
            )
        return int(found[0]["count"])

    def fathom(self, *arguments: str) -> Any:
        """What a command of a user prints, as JSON."""
        done = fathom(*arguments, "--tenant", "aurora", "--json", **self.environment)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.strip().splitlines()[-1])

    def ask(self, text: str, conversation: str) -> dict[str, Any]:
        """The pack of a question."""
        answer = self.fathom("ask", text, "--conversation", conversation, "--timeout", str(PATIENCE_S / 2))
        return answer.get("pack", answer)

    def whole(self, text: str, level: str) -> dict[str, Any]:
        """The first pack of this question with all its parts, each time in a conversation of its own.

        A server compiles its first queries, and this machine runs four of them: a part may come late.
        """
        packs: list[dict[str, Any]] = []

        def is_whole() -> bool:
            packs.append(self.ask(text, f"c-{time.monotonic_ns()}"))
            assert packs[-1]["depth_level"] == level
            return not packs[-1]["degraded"]

        until(is_whole, "a pack should have all its parts")
        return packs[-1]


def _neo4j(directory: Path, stack: ExitStack) -> Neo4jAddress:
    if url := os.environ.get("FATHOM_TEST_NEO4J_URL"):
        return Neo4jAddress(url, os.environ["FATHOM_TEST_NEO4J_USER"], os.environ["FATHOM_TEST_NEO4J_PASSWORD"])
    return stack.enter_context(Neo4jServer(directory / "neo4j")).address


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    for name in ("kafka", "redis", "qdrant", "neo4j"):
        if (why := lacking(name)) is not None:
            pytest.skip(why)
    with ExitStack() as stack:
        yield Site(tmp_path_factory.mktemp("servers"), stack)


def until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.3)
