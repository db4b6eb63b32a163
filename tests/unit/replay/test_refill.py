"""Damaged stores filled again from the log: reads are refused until it is done, a failure begins again."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agents.errors import Unavailable
from agents.ports.passages import Passage, PassageQuery
from streams.replay import refill
from streams.replay.refill import Refilling
from streams.runtime.stores import Stores
from streams.stores.damage import is_unfilled, mark_unfilled
from streams.stores.graph.memory import InMemoryGraph
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.vectors import HashingEmbedder
from streams.testing.pipeline import Pipeline
from tests.builders.replay_log import LogInMemory
from tests.unit.replay.test_views import GUIDE, TALK, graph_of, passages_of

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        pipeline.document("guia", "Guia", GUIDE, tenant="acme")
        for role, text in TALK:
            pipeline.say(text, role=role, conversation="c1", tenant="acme")
            pipeline.wait(5)
        yield pipeline


async def answers() -> None:
    """A store that answers."""


class Damaged:
    """Emptied stores of a process that are to be filled, over a log that may fail first."""

    def __init__(self, fathom: Pipeline, data: Path, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
        for name in names:
            mark_unfilled(data / name)
        self.fathom, self.graph = fathom, InMemoryGraph()
        self.index = MemoryPassageIndex(HashingEmbedder())
        built = fathom.dependencies()
        self.stores = Stores(
            working_sets=built.working_sets,  # type: ignore[arg-type]
            weights=built.weights,  # type: ignore[arg-type]
            tool_sessions=built.tool_sessions,  # type: ignore[arg-type]
            index=self.index,
            graph=self.graph,
            graph_writer=self.graph,
            decisions=self.graph,
            tokens=built.tokens,
            checks=dict.fromkeys(("graph", "index", "working_set"), answers),
            unfilled={name: data / name for name in names},
        )
        self.filling = Refilling(built.settings, self.stores)
        self.failures: list[Exception] = []
        self.told: list[str | None] = []
        monkeypatch.setattr(refill, "RETRY_S", 0.0)
        monkeypatch.setattr(refill, "opened", self._opened)

    @asynccontextmanager
    async def _opened(self, *_: object) -> AsyncIterator[LogInMemory]:
        self.told.append((await self.wrong())["graph"])
        if self.failures:
            raise self.failures.pop()
        yield LogInMemory(self.fathom.log)

    async def wrong(self) -> dict[str, str | None]:
        return await self.filling.stores.ready()

    async def search(self) -> object:
        query = PassageQuery("reembolso", "pt", 5, NOON)
        return await self.filling.stores.index.search("acme", "semantic", query)

    async def persona(self) -> object:
        return await self.filling.stores.graph.persona("acme", "web", NOON)


@pytest.mark.parametrize("names", [("graph",), ("index",), ("graph", "index")])
def test_a_store_is_read_again_when_it_has_what_the_log_says(
    fathom: Pipeline, tmp_path: Path, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = Damaged(fathom, tmp_path, names, monkeypatch)

    async def story() -> None:
        reads: dict[str, Any] = {"graph": damaged.persona, "index": damaged.search}
        for name, read in reads.items():
            if name in names:
                with pytest.raises(Unavailable, match="it is filled again from the log"):
                    await read()
            else:
                await read()
        wrong = await damaged.wrong()
        assert {name for name, why in wrong.items() if why} == {*names}
        await damaged.filling.run("nowhere:1")
        assert not any((await damaged.wrong()).values())
        for read in reads.values():
            await read()

    asyncio.run(story())
    if "graph" in names:
        assert graph_of(damaged.graph) == graph_of(fathom.graph)
    assert passages_of(damaged.index) == (passages_of(fathom.index) if "index" in names else {})
    assert not any(is_unfilled(tmp_path / name) for name in names)


def test_what_is_written_meanwhile_is_stored(fathom: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = Damaged(fathom, tmp_path, ("graph", "index"), monkeypatch)
    passage = Passage("p1", "message", "dito entretanto", "pt", NOON)

    async def story() -> object:
        await damaged.filling.stores.index.upsert("acme", "episodic", [passage])
        await damaged.filling.run("nowhere:1")
        query = PassageQuery("dito entretanto", "pt", 50, NOON)
        return [hit.passage.id for hit in await damaged.filling.stores.index.search("acme", "episodic", query)]

    assert "p1" in str(asyncio.run(story()))


@pytest.mark.parametrize("failure", [Unavailable("broker", "away"), KeyError("a bug")])
def test_a_filling_that_fails_is_begun_again_and_the_store_stays_closed(
    fathom: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    damaged = Damaged(fathom, tmp_path, ("graph",), monkeypatch)
    damaged.failures = [failure, failure]

    asyncio.run(damaged.filling.run("nowhere:1"))
    assert [("could not be filled" in str(why)) for why in damaged.told] == [False, True, True]
    assert graph_of(damaged.graph) == graph_of(fathom.graph)


def test_a_process_that_dies_while_it_fills_a_store_begins_again(
    fathom: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = Damaged(fathom, tmp_path, ("graph",), monkeypatch)

    async def story() -> None:
        running = asyncio.create_task(damaged.filling.run("nowhere:1"))
        await asyncio.sleep(0)
        running.cancel()
        await asyncio.wait({running})

    asyncio.run(story())
    assert is_unfilled(tmp_path / "graph")
