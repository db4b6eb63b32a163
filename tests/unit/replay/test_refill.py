"""Damaged stores filled again from the log: reads are refused until it is done, a failure begins again."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiokafka.structs import OffsetAndMetadata, TopicPartition

from agents.errors import Unavailable
from agents.ports.passages import Passage, PassageQuery
from streams.replay import refill
from streams.replay.refill import Refilling, refilling
from streams.runtime.stores import Stores
from streams.stores.damage import is_unfilled, mark_missing, mark_unfilled
from streams.stores.graph.embedded.engine import EmbeddedGraph
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
        self.fathom, self.graph = fathom, EmbeddedGraph()
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


class Offsets:
    """What the groups of a broker have committed, of one partition each."""

    def __init__(self, committed: dict[str, int], error: Exception | None = None) -> None:
        self.committed, self.error = committed, error

    @asynccontextmanager
    async def administering(self, *_: object) -> AsyncIterator["Offsets"]:
        if self.error is not None:
            raise self.error
        yield self

    async def list_consumer_group_offsets(self, group: str) -> dict[TopicPartition, OffsetAndMetadata]:
        at = self.committed.get(group)
        return {} if at is None else {TopicPartition("t", 0): OffsetAndMetadata(at, "")}


@pytest.mark.parametrize(
    ("committed", "error", "filled"),
    [
        ({}, None, []),
        ({"fathom.graph-writers": 0, "fathom.depth": 7}, None, []),
        ({"fathom.graph-writers": 3}, None, ["graph"]),
        ({"fathom.index-writers": 3}, None, ["graph", "index"]),
        ({"fathom.graph-writers": 3, "fathom.index-writers": 3}, None, ["graph", "index"]),
        ({}, Unavailable("broker", "away"), ["graph", "index"]),
    ],
)
def test_a_store_that_is_not_there_is_filled_if_its_writers_have_stored_before(
    fathom: Pipeline,
    tmp_path: Path,
    committed: dict[str, int],
    error: Exception | None,
    filled: list[str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    names = ("graph", "index")
    monkeypatch.setattr(refill, "administering", Offsets(committed, error).administering)
    assert mark_missing({name: tmp_path / name for name in names}) == [*names]
    damaged = Damaged(fathom, tmp_path, names, monkeypatch)

    async def story() -> dict[str, str | None]:
        filling = await refilling(fathom.dependencies().settings, damaged.stores, names, "nowhere:1")
        return {} if filling is None else await filling.stores.ready()

    assert sorted(name for name, wrong in asyncio.run(story()).items() if wrong) == filled
    assert [name for name in names if is_unfilled(tmp_path / name)] == filled
    said = [vars(each) for each in caplog.records if each.message == "store.missing"]
    assert len(said) == len(filled)


def test_a_store_that_is_there_is_not_missing(tmp_path: Path) -> None:
    (tmp_path / "graph").mkdir()
    (tmp_path / "graph" / "owner.lock").touch()
    (tmp_path / "index" / "episodic").mkdir(parents=True)
    assert mark_missing({name: tmp_path / name for name in ("graph", "index")}) == ["graph"]
    assert not is_unfilled(tmp_path / "index")


def test_a_store_that_was_damaged_is_filled_whatever_was_committed(
    fathom: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refill, "administering", Offsets({}).administering)
    damaged = Damaged(fathom, tmp_path, ("graph",), monkeypatch)
    assert asyncio.run(refilling(fathom.dependencies().settings, damaged.stores, (), "nowhere:1")) is not None
    assert is_unfilled(tmp_path / "graph")
