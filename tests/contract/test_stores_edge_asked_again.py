"""The embedded index keeps what searches have read: a write shows in the next search all the same."""

import asyncio
import shutil
import struct
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agents.core.caching.budget import share_of
from agents.ports.passages import Passage, PassageQuery
from streams.stores.passages import edge_search, recent
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.stores.passages.vectors import HashingEmbedder

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
QUERY = PassageQuery("a vigência do contrato 7", "pt", 10, NOON)


def passages(first: int, last: int) -> list[Passage]:
    return [
        Passage(f"p{n}", "chunk", f"o prazo do contrato {n} com a vigência {n % 5}", "pt", NOON)
        for n in range(first, last)
    ]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[tuple[QdrantEdgeIndex, asyncio.Runner]]:
    with asyncio.Runner() as runner:
        index = QdrantEdgeIndex(tmp_path, HashingEmbedder(), admin=True)
        yield index, runner
        runner.run(index.close())


async def told(store: QdrantEdgeIndex, query: PassageQuery = QUERY) -> list[tuple[Any, ...]]:
    return [(hit.passage, hit.score, dict(hit.scores)) for hit in await store.search("acme", "semantic", query)]


def test_a_search_repeated_finds_the_same(index):
    store, runner = index
    runner.run(store.upsert("acme", "semantic", passages(0, 40)))
    first = runner.run(told(store))
    assert first
    assert runner.run(told(store)) == first


def test_a_write_shows_in_what_was_found_before_it(tmp_path):
    changed = [replace(each, text="o contrato 7 sem vigência") for each in passages(7, 9)]

    def opened() -> QdrantEdgeIndex:
        return QdrantEdgeIndex(tmp_path, HashingEmbedder(), admin=True)

    async def story() -> tuple[list[tuple[Any, ...]], ...]:
        store = opened()
        await store.upsert("acme", "semantic", passages(0, 40))
        for write in (
            lambda: store.upsert("acme", "semantic", changed),
            lambda: store.remove("acme", "semantic", ["p12"]),
            lambda: store.upsert("_public", "semantic", passages(40, 60)),
            lambda: store.upsert("beta", "semantic", passages(60, 90)),
        ):
            await told(store)
            await write()
        before, all_before = await told(store), await told(store, replace(QUERY, limit=100))
        await store.close()
        fresh = opened()
        after, all_after = await told(fresh), await told(fresh, replace(QUERY, limit=100))
        await fresh.close()
        return before, after, all_before, all_after

    before, after, everything, everything_after = asyncio.run(story())
    assert (before, everything) == (after, everything_after)
    found = {passage.id: passage.text for passage, _, _ in everything}
    assert (found["p7"], found["p8"]) == ("o contrato 7 sem vigência",) * 2
    assert "p12" not in found


def test_few_passages_compared_at_once_are_those_that_codes_find_among_many(index, monkeypatch):
    store, runner = index
    law = [replace(each, id=f"law-{each.id}") for each in passages(0, 300)]
    mine = [replace(each, user_id="ana") for each in passages(300, 330)]
    queries = [QUERY, replace(QUERY, user_id="ana"), replace(QUERY, text="contratos", limit=60)]

    async def story() -> list[Any]:
        return [await told(store, each) for each in queries]

    runner.run(store.upsert("acme", "semantic", [*passages(0, 300), *mine]))
    runner.run(store.upsert("_public", "semantic", law))
    at_once = runner.run(story())
    monkeypatch.setattr(edge_search, "FEW", 0)
    assert runner.run(story()) == at_once


def test_more_texts_and_terms_than_are_kept_are_found_as_ever(index, monkeypatch):
    store, runner = index
    queries = [replace(QUERY, text=f"o prazo do contrato {n}") for n in range(30)]

    async def story() -> list[Any]:
        return [await told(store, each) for each in (*queries, *queries)]

    runner.run(store.upsert("acme", "semantic", passages(0, 40)))
    kept = runner.run(story())
    monkeypatch.setattr(share_of("index_texts"), "allowed", 10_000)
    for name in ("TENANTS", "TERMS"):
        monkeypatch.setattr(recent, name, 2)
    assert runner.run(story()) == kept


@pytest.mark.covers("B24")
def test_a_compacted_index_has_no_byte_of_what_was_removed_and_finds_the_best(tmp_path):
    def held(word: str) -> int:
        return sum(path.read_bytes().count(word.encode()) for path in tmp_path.rglob("*") if path.is_file())

    async def story() -> None:
        store = QdrantEdgeIndex(tmp_path, HashingEmbedder(), admin=True)
        secret = Passage("gone", "chunk", "o zircônio do cofre", "pt", NOON)
        await store.upsert("acme", "semantic", [*passages(0, 450), secret])
        [vector] = await store.vectors([secret.text])
        floats = struct.pack(f"<{len(vector)}f", *vector)
        await store.remove("acme", "semantic", ["gone"])
        best = (await told(store))[0][0]  # of those that score alike another one may come first
        assert held("zirc") > 0
        assert any(floats in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        await store.compact()
        assert (await told(store))[0][0] == best
        await store.upsert("acme", "semantic", [Passage("new", "chunk", "o contrato novo", "pt", NOON)])
        await store.close()
        assert (held("zirc"), held("contrato 7 ") > 0) == (0, True)
        assert not any(floats in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        again = QdrantEdgeIndex(tmp_path, HashingEmbedder(), admin=True)
        assert len((await again.listed("acme", "semantic", limit=1000)).ids) == 451
        await again.close()

    asyncio.run(story())


@pytest.mark.parametrize("cut", ["copying", "renaming"])
def test_a_compaction_that_was_cut_short_loses_nothing(tmp_path, cut: str):
    async def story() -> None:
        store = QdrantEdgeIndex(tmp_path, HashingEmbedder(), admin=True)
        await store.upsert("acme", "semantic", passages(0, 40))
        before = await told(store)
        await store.close()
        place = tmp_path / "semantic"
        if cut == "copying":
            shutil.copytree(place, tmp_path / "semantic.fresh")
            (tmp_path / "semantic.fresh" / "edge_config.json").unlink()
        else:
            place.rename(tmp_path / "semantic.old")
        again = QdrantEdgeIndex(tmp_path, HashingEmbedder(), admin=True)
        assert await told(again) == before
        await again.close()
        assert sorted(each.name for each in tmp_path.glob("semantic*")) == ["semantic"]

    asyncio.run(story())
