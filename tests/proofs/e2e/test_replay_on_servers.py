"""On four servers: packs are made again byte for byte, and what the stores lost is found and mended."""

import asyncio
import os
import random
import signal
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import AsyncQdrantClient

from schemas.topics import CONTEXT_PACKS
from streams.replay.reconcile import found_in, take_out
from streams.stores.graph.neo4j_engine import Neo4jGraph, open_graph
from streams.stores.graph.neo4j_engine import Neo4jServer as Neo4jAddress
from streams.stores.passages.qdrant_server import QdrantServerIndex
from streams.stores.passages.vectors import HashingEmbedder
from tests.contract.test_stores_graph import contents, wiped
from tests.e2e.four_servers import Site
from tests.e2e.processes import Process, fathom
from tests.proofs.e2e.test_replay import MESSAGES, TIMES, chosen, fill, missing, questions, said, until_quiet, whole


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
