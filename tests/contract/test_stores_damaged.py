"""Embedded stores whose files are damaged: set aside whole, begun empty, marked to be filled; and what is no damage."""

import asyncio
import os
import shutil
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.errors import Unavailable
from agents.ports.passages import Passage
from streams.runtime.stores import Stores, open_stores, open_whole_stores
from streams.stores.damage import DamagedStore, is_unfilled, means_damage, set_aside
from streams.stores.graph import queries
from streams.stores.graph.embedded.engine import EmbeddedGraph
from streams.stores.graph.embedded.tables import FILE, GraphTables
from streams.stores.graph.rows import NodeInsert, batch
from streams.stores.guard import PAUSE_S
from streams.stores.passages import index_process
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.stores.passages.vectors import HashingEmbedder
from streams.stores.settings import StoreSettings
from tests.contract.test_stores_open import NOON, remembered, settings, use

Change = Callable[[bytes], bytes]


def halved(raw: bytes) -> bytes:
    return raw[: len(raw) // 2]


def flipped(raw: bytes) -> bytes:
    at = len(raw) // 2
    return raw[:at] + bytes(each ^ 0xFF for each in raw[at : at + 8]) + raw[at + 8 :]


def emptied(_: bytes) -> bytes:
    return b""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory whose stores hold something and were closed in order."""
    directory = tmp_path_factory.mktemp("whole")

    async def story() -> None:
        await use(stores)
        await stores.close()

    stores = open_stores(settings(directory))
    asyncio.run(story())
    return directory


@pytest.fixture
def data(whole: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A copy of it, of the store that a test is about, or of the graph."""
    store = request.node.callspec.params.get("store", "graph") if hasattr(request.node, "callspec") else "graph"
    return copied(whole, store, tmp_path / "data")


@pytest.fixture
def index(whole: Path, tmp_path: Path) -> Path:
    """A copy of the index."""
    return copied(whole, "index", tmp_path / "data") / "index"


def copied(whole: Path, store: str, to: Path) -> Path:
    shutil.copytree(whole / store, to / store, ignore=shutil.ignore_patterns("*.sock"))
    return to


def only(data: Path, store: str) -> StoreSettings:
    """The settings of one embedded store, the others in memory."""
    fields = {"graph": "neo4j_url", "index": "qdrant_url", "valkey": "redis_url"}
    return settings(data, **{field: "memory://" for name, field in fields.items() if name != store})


@pytest.mark.parametrize(
    ("store", "file", "change"),
    [
        ("graph", FILE, halved),
        ("graph", FILE, flipped),
        ("graph", FILE, emptied),
        ("graph", FILE, lambda _: b"no graph at all"),
        ("index", "episodic/edge_config.json", halved),
        ("valkey", "appendonlydir/appendonly.aof.manifest", flipped),
        ("valkey", "appendonlydir/appendonly.aof.manifest", emptied),
        ("valkey", "appendonlydir/appendonly.aof.1.base.rdb", lambda _: b"\x17" * 100),
    ],
)
def test_a_damaged_store_is_set_aside_whole_and_begins_empty(
    data: Path, store: str, file: str, change: Change, caplog: pytest.LogCaptureFixture
) -> None:
    path = data / store / file
    path.write_bytes(change(path.read_bytes()))
    damaged = path.read_bytes()
    stores = open_whole_stores(only(data, store))
    # Valkey's content is restored from the log by the stages that use it.
    assert dict(stores.unfilled) == ({} if store == "valkey" else {store: data / store})
    assert asyncio.run(after(stores)) == (None, [])
    [aside] = data.glob(f"{store}.damaged-*")
    assert (aside / file).read_bytes() == damaged
    [said] = [each for each in caplog.records if each.message == "store.damaged"]
    assert str(aside) in str(vars(said))


async def after(stores: Stores) -> tuple[bytes | None, list[str]]:
    found = await remembered(stores)
    await stores.close()
    return found


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("edge_config.json", flipped),
        ("segments/*/segment.json", halved),
        ("segments/*/payload_index/config.json", emptied),
        # Its engine panics.
        ("segments/*/payload_index/*-null/has_values/status.dat", emptied),
    ],
)
def test_an_index_that_its_engine_cannot_open_is_damaged(index: Path, file: str, change: Change) -> None:
    path = sorted((index / "episodic").glob(file))[0]
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(DamagedStore, match="fathom replay --mode rebuild"):
        QdrantEdgeIndex(index, HashingEmbedder())


def test_a_store_that_was_not_filled_is_still_to_be_filled_at_the_next_start(data: Path) -> None:
    (data / "graph" / FILE).write_bytes(b"no graph")
    for _ in range(2):
        stores = open_whole_stores(only(data, "graph"))
        assert dict(stores.unfilled) == {"graph": data / "graph"}
        asyncio.run(stores.close())
    assert len([*data.glob("graph.damaged-*")]) == 1


def test_a_graph_that_left_out_a_part_of_its_log_keeps_the_rest_and_is_to_be_filled(tmp_path: Path) -> None:
    async def story() -> int:
        graph = EmbeddedGraph(tmp_path / "first")
        for number in range(20):
            await graph.engine.write(batch([NodeInsert("Message", f"t{number}", "acme", {"text": "x" * 100})]))
        # As a kill leaves it: what was written since the last checkpoint is in the log of writes.
        (tmp_path / "graph").mkdir()
        wal = f"{FILE}-wal"
        (tmp_path / "graph" / FILE).write_bytes((tmp_path / "first" / FILE).read_bytes())
        (tmp_path / "graph" / wal).write_bytes(flipped((tmp_path / "first" / wal).read_bytes()))
        await graph.close()
        damaged = EmbeddedGraph(tmp_path / "graph")
        found = await damaged.engine.read(queries.ALL_NODES, {})
        await damaged.close()
        return len(found)

    assert 0 < asyncio.run(story()) < 20
    assert is_unfilled(tmp_path / "graph")


@pytest.mark.parametrize(
    "change",
    [
        lambda wal: wal.unlink(),
        lambda wal: wal.write_bytes(b""),
        lambda wal: [each.unlink() for each in wal.parent.glob(f"{FILE}*")],
    ],
)
def test_a_graph_whose_log_of_writes_is_gone_after_a_kill_is_to_be_filled(
    tmp_path: Path, change: Callable[[Path], object]
) -> None:
    async def story() -> None:
        graph = EmbeddedGraph(tmp_path / "first")
        await graph.engine.write(batch([NodeInsert("Message", "t1", "acme", {"text": "x" * 100})]))
        shutil.copytree(tmp_path / "first", tmp_path / "graph")  # as a kill leaves it
        await graph.close()
        change(tmp_path / "graph" / f"{FILE}-wal")
        (tmp_path / "graph" / f"{FILE}-shm").unlink(missing_ok=True)
        await EmbeddedGraph(tmp_path / "graph").close()

    asyncio.run(story())
    assert is_unfilled(tmp_path / "graph")


def test_a_graph_whose_commit_failed_can_be_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: GraphTables) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    async def story() -> list[str]:
        graph = EmbeddedGraph(tmp_path)
        rows = batch([NodeInsert("Message", "t1", "acme", {})])
        with monkeypatch.context() as broken:
            broken.setattr(GraphTables, "commit", full)
            with pytest.raises(Unavailable, match="disk is full"):
                await graph.engine.write(rows)
        await asyncio.sleep(PAUSE_S)
        await graph.engine.write(rows)
        found = [*graph.engine.nodes["Message"]]
        await graph.close()
        return found

    assert asyncio.run(story()) == ["t1"]


def test_a_database_of_something_else_is_no_graph(tmp_path: Path) -> None:
    (tmp_path / "graph").mkdir()
    with sqlite3.connect(tmp_path / "graph" / FILE) as other:
        other.execute("CREATE TABLE x (a)")
    other.close()
    with pytest.raises(DamagedStore, match="no graph of Fathom"):
        EmbeddedGraph(tmp_path / "graph")


def test_what_is_no_damage_is_not_set_aside(data: Path) -> None:
    (data / "graph" / FILE).chmod(0)
    if os.access(data / "graph" / FILE, os.R_OK):
        return  # the superuser reads it anyway
    with pytest.raises(sqlite3.Error) as refused:
        open_whole_stores(only(data, "graph"))
    assert not isinstance(refused.value, DamagedStore)
    assert [*data.glob("*.damaged-*")] == []


@pytest.mark.parametrize(
    ("error", "damage"),
    [
        (ValueError("checksum mismatch"), True),
        (OSError("bad magic"), True),
        (OSError(28, "No space left on device"), False),
        (Exception("IO Error: No space left on device (os error 28)"), False),
        (Exception("IO Error: Permission denied (os error 13)"), False),
        (Exception("IO Error: No such file or directory (os error 2)"), True),
        (MemoryError(), False),
        (Unavailable("graph", "away"), False),
        (KeyboardInterrupt(), False),
        (type("PanicException", (BaseException,), {})("index out of bounds"), True),
    ],
)
def test_damage_is_told_from_what_an_engine_meets_in_sound_files(error: BaseException, damage: bool) -> None:
    assert means_damage(error) is damage


@pytest.mark.parametrize(
    ("file", "lacks"), [(None, False), ("segments/*/mutable_id_tracker.mappings", True), ("points", True)]
)
def test_an_index_that_opens_with_fewer_passages_than_it_was_closed_with_is_to_be_filled(
    tmp_path: Path, file: str | None, lacks: bool
) -> None:
    # More than the engine has in its own log of writes.
    passages = [Passage(f"p{number}", "message", f"o prazo é dia {number}", "pt", NOON) for number in range(300)]
    index = tmp_path / "index"

    async def closed(*written: Passage) -> None:
        opened = QdrantEdgeIndex(index, HashingEmbedder())
        await opened.upsert("acme", "episodic", written)
        await opened.close()

    asyncio.run(closed(*passages))
    asyncio.run(closed())
    assert not is_unfilled(index)
    if file is not None:
        [path] = [*(index / "episodic").glob(file), *index.glob(file)]
        path.write_bytes(b"")
    asyncio.run(closed())
    assert is_unfilled(index) is lacks


def test_an_index_process_that_dies_of_its_files_means_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_process, "SERVER", "tests.contract.dies_of_a_signal")
    with pytest.raises(DamagedStore, match=f"died of {signal.SIGBUS.name}"):
        index_process.IndexProcess(tmp_path / "index", "hashing").wait()


def test_two_directories_set_aside_in_one_second_do_not_meet(tmp_path: Path) -> None:
    asides = set()
    for number in range(3):
        (tmp_path / "graph").mkdir()
        (tmp_path / "graph" / str(number)).touch()
        asides.add(set_aside(tmp_path / "graph"))
    assert len(asides) == 3
    assert {path.name for aside in asides for path in aside.iterdir()} == {"0", "1", "2"}
