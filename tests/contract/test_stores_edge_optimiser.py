"""The embedded index while it is optimised: searches go on, writes are kept, a death at any moment loses nothing."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from agents.ports.passages import Passage, PassageQuery
from streams.stores.passages import edge_optimiser
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.stores.passages.vectors import HashingEmbedder

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
QUERY = PassageQuery("o prazo do contrato 7", "pt", 10, NOON)
# A graph for whoever has more than 256 of the test's short vectors.
GRAPH_KB = 64


def passages(first: int, last: int) -> list[Passage]:
    return [
        Passage(f"p{n}", "chunk", f"o prazo do contrato {n} com o cliente {n % 17}", "pt", NOON)
        for n in range(first, last)
    ]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[tuple[QdrantEdgeIndex, asyncio.Runner]]:
    with asyncio.Runner() as runner:
        index = QdrantEdgeIndex(tmp_path, HashingEmbedder(), admin=True, graph_kb=GRAPH_KB)
        yield index, runner
        runner.run(index.close())


async def ids(index: QdrantEdgeIndex, tenant: str = "acme", query: PassageQuery = QUERY) -> list[str]:
    return [hit.passage.id for hit in await index.search(tenant, "semantic", query)]


def generations(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("semantic*") if path.is_dir())


def test_searches_are_answered_while_the_index_is_optimised(index, tmp_path):
    store, runner = index

    async def story() -> tuple[int, list[str]]:
        await store.upsert("acme", "semantic", passages(0, 1_000))
        answered = 0
        optimising = asyncio.create_task(store.optimise())
        while not optimising.done():
            assert (await ids(store))[0] == "p7"
            answered += 1
            await asyncio.sleep(0.01)
        await optimising
        return answered, await ids(store)

    answered, after = runner.run(story())
    assert answered > 10  # one that blocks answers two or three, between two steps
    assert after[0] == "p7"
    assert len(after) == 10
    [generation] = generations(tmp_path)
    assert generation == (tmp_path / "semantic.at").read_text()


def test_what_is_written_or_changed_meanwhile_is_kept(index):
    store, runner = index

    async def story() -> tuple[list[str], list[str], list[str]]:
        await store.upsert("acme", "semantic", passages(0, 500))
        optimising = asyncio.create_task(store.optimise())
        number = 500
        while not optimising.done():
            changed = replace(passages(7, 8)[0], text=f"o foguete {number}")
            await store.upsert("acme", "semantic", [*passages(number, number + 5), changed])
            number += 5
            await asyncio.sleep(0.02)
        await optimising
        found = await store.search("acme", "semantic", replace(QUERY, text="o foguete", limit=1))
        everything = await ids(store, query=replace(QUERY, limit=100_000))
        return [hit.passage.text for hit in found], everything, [f"p{n}" for n in range(number)]

    texts, everything, stored = runner.run(story())
    assert len(stored) > 510
    assert texts == [f"o foguete {len(stored) - 5}"]
    assert sorted(everything) == sorted(stored)


def test_graphs_of_a_tenant_and_of_everybody_are_both_searched(index):
    store, runner = index
    law = [replace(each, id=f"law-{each.id}") for each in passages(0, 400)]

    async def story() -> list[str]:
        await store.upsert("acme", "semantic", passages(0, 400))
        await store.upsert("_public", "semantic", law)
        await store.upsert("beta", "semantic", passages(0, 400))
        await store.optimise()
        return await ids(store, query=replace(QUERY, limit=4))

    assert {"p7", "law-p7"} <= set(runner.run(story()))


def test_a_graph_finds_nearly_all_that_comparing_every_passage_finds(index):
    store, runner = index
    choose = random.Random(7)
    words = ["".join(choose.choices("abcdefghilmnoprstuv", k=7)) for _ in range(300)]

    def some(count: int) -> list[str]:
        return [" ".join(choose.choices(words, k=8)) for _ in range(count)]

    texts, questions = some(800), some(40)
    stored = [Passage(str(n), "chunk", text, "pt", NOON) for n, text in enumerate(texts)]
    # Of two tenants alike: the graph of one leads through its own passages alone.
    others = [replace(each, id=f"other-{each.id}") for each in stored]
    encode = HashingEmbedder().encode
    vectors = np.array(encode(texts))

    async def nearest(question: str) -> list[float]:
        hits = await store.search("acme", "semantic", replace(QUERY, text=question, limit=100))
        return sorted((hit.scores["dense"] for hit in hits if "dense" in hit.scores), reverse=True)[:10]

    async def story() -> list[float]:
        await store.upsert("acme", "semantic", stored)
        await store.upsert("beta", "semantic", others)
        await store.optimise()
        found = []
        for question, vector in zip(questions, np.array(encode(questions)), strict=True):
            tenth = np.sort(vectors @ vector)[-10] - 1e-5
            found.append(sum(score >= tenth for score in await nearest(question)) / 10)
        return found

    recall = runner.run(story())
    assert sum(recall) / len(recall) > 0.9


def test_an_index_that_has_grown_is_optimised_by_itself_also_after_a_restart(tmp_path):
    async def grown() -> None:
        store = QdrantEdgeIndex(tmp_path, HashingEmbedder(), optimise_at=300, graph_kb=GRAPH_KB)
        await store.upsert("acme", "semantic", passages(0, 290))
        assert generations(tmp_path) == ["semantic"]
        await store.close()
        store = QdrantEdgeIndex(tmp_path, HashingEmbedder(), optimise_at=300, graph_kb=GRAPH_KB)
        await store.upsert("acme", "semantic", passages(290, 301))
        async with asyncio.timeout(60):
            while not (tmp_path / "semantic.at").exists():  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        await store.close()

    asyncio.run(grown())


def test_one_that_cannot_be_optimised_now_goes_on_as_it_is(index, tmp_path, monkeypatch):
    store, runner = index
    monkeypatch.setattr(edge_optimiser, "MAX_JOURNALLED", 0)
    monkeypatch.setattr(edge_optimiser, "LOOK_S", 0.01)

    async def story() -> list[str]:
        await store.upsert("acme", "semantic", passages(0, 1_000))
        optimising = asyncio.create_task(store.optimise())
        number = 1_000
        while not optimising.done():
            await store.upsert("acme", "semantic", passages(number, number + 5))
            number += 5
            await asyncio.sleep(0.02)
        await optimising
        assert sorted(await ids(store, query=replace(QUERY, limit=100_000))) == sorted(f"p{n}" for n in range(number))
        return generations(tmp_path)

    assert runner.run(story()) == ["semantic"]


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from streams.stores.passages import optimise_shard
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.stores.passages.vectors import HashingEmbedder
from tests.contract.test_stores_edge_optimiser import GRAPH_KB, passages

async def main(folder, moment):
    store = QdrantEdgeIndex(folder, HashingEmbedder(), graph_kb=GRAPH_KB)
    await store.upsert("acme", "semantic", passages(0, 600))
    shard = store._shards["semantic"]
    asyncio.create_task(store.optimise())
    while not {
        "copying": lambda: any(folder.glob("semantic-*")),
        "optimising": lambda: shard._journal is not None,
        "adopted": lambda: (folder / "semantic.at").exists(),
    }[moment]():
        await asyncio.sleep(0.002)
    if moment != "copying":
        await store.upsert("acme", "semantic", passages(600, 640))
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text()
    print(children, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
"""


@pytest.mark.parametrize(("moment", "stored"), [("copying", 600), ("optimising", 640), ("adopted", 640)])
def test_a_death_while_it_is_optimised_loses_nothing_and_leaves_nothing(tmp_path, moment, stored):
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), moment], cwd=Path.cwd(), check=False, capture_output=True
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    children = ended.stdout.split()
    deadline = time.monotonic() + 20
    while alive(children) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert alive(children) == []

    async def story() -> list[str]:
        store = QdrantEdgeIndex(tmp_path, HashingEmbedder(), graph_kb=GRAPH_KB)
        found = await ids(store, query=replace(QUERY, limit=100_000))
        await store.close()
        return found

    assert len(asyncio.run(story())) == stored
    assert len(generations(tmp_path)) == 1


def alive(pids: Sequence[bytes]) -> list[int]:
    """Those that run; a process that ended may still stand in the table."""
    found = []
    for pid in map(int, pids):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            continue
        if state != "Z":
            found.append(pid)
    return found
