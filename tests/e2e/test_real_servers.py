"""The same code on Apache Kafka, Redis, Qdrant and Neo4j: two workers, a conversation, a document, and a death."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from neo4j import GraphDatabase
from qdrant_client import AsyncQdrantClient

from schemas.topics import CONTEXT_PACKS
from streams.replay.reconcile import found_in, take_out
from streams.stores.graph.neo4j_engine import Neo4jGraph, open_graph
from streams.stores.graph.neo4j_engine import Neo4jServer as Neo4jAddress
from streams.stores.passages.qdrant_server import QdrantServerIndex
from streams.stores.passages.vectors import HashingEmbedder
from tests.contract.test_stores_graph import contents, wiped
from tests.e2e.test_replay import MESSAGES, TIMES, chosen, fill, missing, questions, said, until_quiet, whole
from tests.e2e.test_up import ROOT, Process, _clean, fathom
from tests.servers.install import lacking
from tests.servers.kafka import KafkaServer
from tests.servers.neo4j import Neo4jServer
from tests.servers.qdrant import QdrantServer
from tests.servers.redis import RedisServer

PATIENCE_S = 120.0
HANDBOOK = """# Política de reembolso

O reembolso de viagem da Aurora é pago em 10 dias depois da aprovação da diretoria financeira.
"""


class Site:
    """The addresses of four servers, as a worker's environment."""

    def __init__(self, directory: Path, stack: ExitStack) -> None:
        kafka = stack.enter_context(KafkaServer(directory / "kafka"))
        redis = stack.enter_context(RedisServer(directory / "redis"))
        qdrant = stack.enter_context(QdrantServer(directory / "qdrant"))
        self.neo4j = stack.enter_context(Neo4jServer(directory / "neo4j"))
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
        done = subprocess.run(
            [sys.executable, "-m", "streams", *arguments, "--tenant", "aurora", "--json"],
            cwd=ROOT,
            env={**_clean(), **self.environment},
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE_S,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.strip().splitlines()[-1])

    def ask(self, text: str, conversation: str) -> dict[str, Any]:
        """The pack of a question."""
        answer = self.fathom("ask", text, "--conversation", conversation, "--timeout", str(PATIENCE_S))
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


@pytest.mark.covers("CD-04", "CD-05")
def test_two_workers_on_four_servers_answer_remember_and_survive_the_death_of_one(site: Site, tmp_path: Path) -> None:
    document = tmp_path / "reembolso.md"
    document.write_text(HANDBOOK)
    first = Process("worker", stderr=tmp_path / "first.err", **site.environment)
    second = Process("worker", stderr=tmp_path / "second.err", **site.environment)
    try:
        for worker in (first, second):
            worker.ready()
        site.fathom("send", "--document", str(document))
        site.whole("Qual é o email da Ana?", "D0")
        site.ask("Qual é o prazo do projeto Aurora?", "c1")
        site.fathom("send", "O prazo do projeto Aurora é dia 15.", "--conversation", "c1", "--role", "assistant")
        until(lambda: site.count("Message", "aurora") >= 3, "all turns should be in Neo4j")
        until(lambda: site.count("Chunk", "aurora") >= 1, "the document should be in Neo4j")

        pack = site.whole("Explica melhor como funciona o reembolso de viagem", "D2")
        texts = [item["text"] for item in pack["semantic"]["knowledge_chunks"]]
        assert any("10 dias" in text for text in texts), texts

        second.child.send_signal(signal.SIGKILL)
        second.child.wait()

        def remembers() -> bool:
            # What waited for the partitions to move comes out degraded: its deadline has passed.
            recent = site.ask("E qual é o prazo mesmo?", "c1")["working_set"]["recent_messages"]
            return any("dia 15" in message["content"] for message in recent)

        until(remembers, "the other worker should go on where it ended")
        assert first.end() == (0, "")
        assert site.count("Message", "outra") == 0
    finally:
        for worker in (first, second):
            if worker.child.poll() is None:
                os.kill(worker.child.pid, signal.SIGKILL)
                worker.child.wait()


async def _contents(site: Site) -> tuple[Any, Any]:
    """Every node, link and property of the tenant's graph, and every point with payload and vectors."""
    graph = _graph(site)
    found = await contents(graph)
    await graph.close()
    client = AsyncQdrantClient(url=site.environment["FATHOM_QDRANT_URL"], check_compatibility=False)
    points: dict[str, list[Any]] = {}
    for collection in ("fathom_semantic", "fathom_episodic"):
        records, _ = await client.scroll(collection, limit=1000, with_payload=True, with_vectors=True)
        points[collection] = [(record.id, record.payload, _vectors(record.vector)) for record in records]
    await client.close()
    return found, points


def _vectors(found: Any) -> dict[str, Any]:
    return {
        name: sorted(zip(each.indices, each.values, strict=True)) if hasattr(each, "indices") else list(each)
        for name, each in found.items()
    }


def _graph(site: Site) -> Neo4jGraph:
    return open_graph(Neo4jAddress(site.neo4j.url, site.neo4j.user, site.neo4j.password))


async def _emptied(site: Site) -> None:
    await wiped(Neo4jAddress(site.neo4j.url, site.neo4j.user, site.neo4j.password))
    client = AsyncQdrantClient(url=site.environment["FATHOM_QDRANT_URL"], check_compatibility=False)
    for collection in ("fathom_semantic", "fathom_episodic"):
        await client.delete_collection(collection)
    await client.close()


async def _damaged(site: Site, points: int, nodes: int) -> None:
    """Take some points and nodes of the tenant away, by chance."""
    chance, graph = random.Random(7), _graph(site)
    index = QdrantServerIndex(site.environment["FATHOM_QDRANT_URL"], HashingEmbedder())
    there = await found_in({"aurora"}, graph, index)
    await take_out(chosen(chance, there, points, nodes), graph, index)
    await graph.close()
    await index.close()


@pytest.mark.timeout(900 * TIMES)
@pytest.mark.covers("AC-33", "CD-11", "B15")
def test_packs_and_views_on_servers_are_made_again_and_what_was_lost_is_mended(site: Site, tmp_path: Path) -> None:
    bootstrap = site.environment["FATHOM_BROKER"]

    def told(*arguments: str, code: int = 0) -> dict[str, Any]:
        return said(fathom(*arguments, "--json", **site.environment), code)

    worker = Process("worker", stderr=tmp_path / "worker.err", **site.environment)
    try:
        worker.ready()
        fill(bootstrap, tmp_path, MESSAGES)
        before = until_quiet(bootstrap, questions(MESSAGES))
        assert worker.end() == (0, "")
    finally:
        if worker.child.poll() is None:
            os.kill(worker.child.pid, signal.SIGKILL)
            worker.child.wait()
    packs = len(before[CONTEXT_PACKS.name])
    verdict = told("replay", "--mode", "exact", "--execute")
    assert (verdict["made"], verdict["equal"]) == (packs, packs)

    there = asyncio.run(_contents(site))
    asyncio.run(_emptied(site))
    told("replay", "--mode", "rebuild", "--execute")
    assert asyncio.run(_contents(site)) == there

    assert told("doctor", "--reconcile")["left"] == 0
    asyncio.run(_damaged(site, 100, 20))
    ill = told("doctor", "--reconcile", code=5)
    assert (missing(ill, "passages"), missing(ill, "nodes")) == (100, 20)
    assert told("doctor", "--repair")["left"] == 0
    assert asyncio.run(_contents(site)) == there
    assert whole(bootstrap, *before) == before
