"""The embedded index with many passages: what its codes find, what a killed writer or an older version left."""

import asyncio
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
import qdrant_edge as edge

from agents.ports.passages import Passage, PassageQuery
from streams.stores.passages import index_layout, qdrant_edge
from streams.stores.passages.index_layout import NOTE, clear_if_outdated, note_of
from streams.stores.passages.points import OF_DOCUMENT, TERMS, IncompatibleIndex
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.stores.passages.vectors import HashingEmbedder

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
QUERY = PassageQuery("o prazo do contrato 7", "pt", 10, NOON)


def passages(first: int, last: int) -> list[Passage]:
    return [
        Passage(f"p{n}", "chunk", f"o prazo do contrato {n} com o cliente {n % 17}", "pt", NOON)
        for n in range(first, last)
    ]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[tuple[QdrantEdgeIndex, asyncio.Runner]]:
    with asyncio.Runner() as runner:
        index = QdrantEdgeIndex(tmp_path, HashingEmbedder(), admin=True)
        yield index, runner
        runner.run(index.close())


async def ids(index: QdrantEdgeIndex, tenant: str = "acme", query: PassageQuery = QUERY) -> list[str]:
    return [hit.passage.id for hit in await index.search(tenant, "semantic", query)]


def test_passages_of_a_tenant_and_of_everybody_are_both_searched(index):
    store, runner = index
    law = [replace(each, id=f"law-{each.id}") for each in passages(0, 400)]

    async def story() -> list[str]:
        await store.upsert("acme", "semantic", passages(0, 400))
        await store.upsert("_public", "semantic", law)
        await store.upsert("beta", "semantic", passages(0, 400))
        return await ids(store, query=replace(QUERY, limit=4))

    assert {"p7", "law-p7"} <= set(runner.run(story()))


def size_of_log(directory: Path) -> int:
    return sum(each.stat().st_blocks * 512 for each in directory.glob("semantic/wal/*"))


@pytest.mark.parametrize("older", [False, True], ids=["new", "of an earlier version"])
def test_the_log_of_writes_keeps_little_of_what_is_flushed(tmp_path, monkeypatch, older):
    monkeypatch.setattr(qdrant_edge, "FLUSH_S", 0.0)
    large = [replace(each, fields={"document_id": "d" * 60_000}) for each in passages(0, 64)]

    async def story() -> tuple[int, list[str]]:
        if older:
            with monkeypatch.context() as before:
                before.setattr(index_layout, "LOG", {**index_layout.LOG, "segment_capacity": 32 << 20})
                await QdrantEdgeIndex(tmp_path, HashingEmbedder(), admin=True).close()
        index = QdrantEdgeIndex(tmp_path, HashingEmbedder(), admin=True)
        for _ in range(20):
            await index.upsert("acme", "semantic", large)
        size = size_of_log(tmp_path)
        await index.close()
        index = QdrantEdgeIndex(tmp_path, HashingEmbedder(), admin=True)
        found = await ids(index)
        await index.close()
        return size, found

    size, found = asyncio.run(story())
    assert size < 16 << 20 < 20 * 64 * 60_000
    assert found[0] == "p7"


def test_what_an_asker_may_see_is_found_among_much_that_is_nearer_and_anothers(index):
    store, runner = index
    anothers = [replace(passages(7, 8)[0], id=f"beto-{n}", user_id="beto") for n in range(600)]
    mine = [replace(each, user_id="ana") for each in passages(8, 12)]

    async def story() -> list[str]:
        await store.upsert("acme", "semantic", [*anothers, *mine])
        nothing_named = replace(QUERY, text="contratos", user_id="ana")
        found = await store.search("acme", "semantic", nothing_named)
        return [hit.passage.id for hit in found]

    assert sorted(runner.run(story())) == ["p10", "p11", "p8", "p9"]


def test_what_is_changed_is_found_as_it_is_now(index):
    store, runner = index

    async def story() -> tuple[list[str], list[str]]:
        await store.upsert("acme", "semantic", passages(0, 500))
        for number in range(20):
            changed = replace(passages(7, 8)[0], text=f"o foguete {number}")
            await store.upsert("acme", "semantic", [changed])
        found = await store.search("acme", "semantic", replace(QUERY, text="o foguete", limit=1))
        return [hit.passage.text for hit in found], await ids(store, query=replace(QUERY, limit=100_000))

    texts, everything = runner.run(story())
    assert texts == ["o foguete 19"]
    assert sorted(everything) == sorted(f"p{n}" for n in range(500))


def test_codes_find_nearly_all_that_comparing_every_passage_finds(index):
    store, runner = index
    choose = random.Random(7)
    words = ["".join(choose.choices("abcdefghilmnoprstuv", k=7)) for _ in range(300)]

    def some(count: int) -> list[str]:
        return [" ".join(choose.choices(words, k=8)) for _ in range(count)]

    texts, questions = some(800), some(40)
    stored = [Passage(str(n), "chunk", text, "pt", NOON) for n, text in enumerate(texts)]
    others = [replace(each, id=f"other-{each.id}") for each in stored]
    encode = HashingEmbedder().encode
    vectors = np.array(encode(texts))

    async def nearest(question: str) -> list[float]:
        hits = await store.search("acme", "semantic", replace(QUERY, text=question, limit=100))
        return sorted((hit.scores["dense"] for hit in hits if "dense" in hit.scores), reverse=True)[:10]

    async def story() -> list[float]:
        await store.upsert("acme", "semantic", stored)
        await store.upsert("beta", "semantic", others)
        found = []
        for question, vector in zip(questions, np.array(encode(questions)), strict=True):
            tenth = np.sort(vectors @ vector)[-10] - 1e-5
            found.append(sum(score >= tenth for score in await nearest(question)) / 10)
        return found

    recall = runner.run(story())
    assert sum(recall) / len(recall) > 0.99


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.stores.passages.vectors import HashingEmbedder
from tests.contract.test_stores_edge_at_size import passages

async def main(folder):
    store = QdrantEdgeIndex(folder, HashingEmbedder())
    await store.upsert("acme", "semantic", passages(0, 640))
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main(Path(sys.argv[1])))
"""


def test_a_death_right_after_a_write_loses_nothing(tmp_path):
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False, capture_output=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()

    async def story() -> list[str]:
        store = QdrantEdgeIndex(tmp_path, HashingEmbedder())
        found = await ids(store, query=replace(QUERY, limit=100_000))
        await store.close()
        return found

    assert len(asyncio.run(story())) == 640


def test_an_index_that_was_optimised_by_an_earlier_version_is_emptied_to_be_filled_again(tmp_path):
    (tmp_path / NOTE).write_text(f"HashingEmbedder 64 {TERMS}")
    (tmp_path / "semantic.at").write_text("semantic-0a1b2c3d")
    (tmp_path / "semantic-0a1b2c3d").mkdir()
    with pytest.raises(IncompatibleIndex, match=r"remove it, then fill it again with `fathom replay --mode rebuild`"):
        QdrantEdgeIndex(tmp_path, HashingEmbedder())
    assert clear_if_outdated(tmp_path)
    assert not list(tmp_path.glob("semantic*"))
    asyncio.run(QdrantEdgeIndex(tmp_path, HashingEmbedder()).close())
    assert (tmp_path / NOTE).read_text() == note_of("HashingEmbedder", 64)
    assert not clear_if_outdated(tmp_path)


def resident(directory: Path) -> int:
    """The bytes of files of a directory that this process has in memory."""
    found, ours = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if "-" in line.partition(" ")[0]:
            ours = str(directory) in line
        elif ours and line.startswith("Rss:"):
            found += 1024 * int(line.split()[1])
    return found


def test_a_reopened_index_holds_in_memory_what_is_read_of_its_files(tmp_path):
    """The engine opens each file by reading it: 4 MB for each field of each collection, mostly holes."""

    async def story() -> tuple[int, list[str]]:
        store = QdrantEdgeIndex(tmp_path, HashingEmbedder(), admin=True)
        await store.upsert("acme", "semantic", passages(0, 400))
        await store.close()
        store = QdrantEdgeIndex(tmp_path, HashingEmbedder(), admin=True)
        held, found = resident(tmp_path), await ids(store)
        await store.close()
        return held, found

    held, found = asyncio.run(story())
    assert held < 1 << 20
    assert found[0] == "p7"


def test_a_shard_of_an_earlier_version_gets_the_indexes_that_it_lacks(tmp_path):
    """A filter without an index reads the text of every passage: 53 ms of CPU at 10,000 instead of 3."""
    asyncio.run(QdrantEdgeIndex(tmp_path, HashingEmbedder()).close())
    shard = edge.EdgeShard.load(str(tmp_path / "semantic"))
    shard.update(edge.UpdateOperation.delete_field_index(OF_DOCUMENT))
    assert OF_DOCUMENT not in shard.info().payload_schema
    shard.close()
    asyncio.run(QdrantEdgeIndex(tmp_path, HashingEmbedder()).close())
    shard = edge.EdgeShard.load(str(tmp_path / "semantic"))
    assert OF_DOCUMENT in shard.info().payload_schema
    shard.close()
