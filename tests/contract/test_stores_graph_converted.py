"""A graph in the file of the engine of 0.1.0 is the same graph in the file of this version."""

import asyncio
from pathlib import Path

import kglite
import pytest

from streams.stores.damage import DamagedStore, is_unfilled
from streams.stores.graph import queries
from streams.stores.graph.embedded.conversion import LEFT_OUT, OLD
from streams.stores.graph.embedded.engine import EmbeddedGraph
from streams.stores.graph.embedded.tables import FILE
from tests.contract.test_stores_graph import HISTORY, Kit, contents
from tests.servers.cypher_graph import CypherGraph


def kept_by_the_old_engine(directory: Path, *, stopped: bool = True) -> CypherGraph:
    """The graph of a history, in an old file, of which a part is in its log of writes: as a kill leaves it."""
    graph = CypherGraph(admin=True)
    graph.engine._graph = kglite.open(str(directory / OLD), durable="normal", lock=False)
    with asyncio.Runner() as runner:
        kit = Kit(graph, runner)
        kit.write(*HISTORY[: len(HISTORY) // 2])
        if stopped:
            graph.engine._graph.save()
        kit.write(*HISTORY[len(HISTORY) // 2 :])
    return graph


@pytest.mark.parametrize("stopped", [True, False])
def test_a_graph_of_an_older_release_is_the_same_in_the_new_file(tmp_path: Path, stopped: bool) -> None:
    old = kept_by_the_old_engine(tmp_path, stopped=stopped)
    before = asyncio.run(contents(old))
    new = EmbeddedGraph(tmp_path, admin=True)
    assert asyncio.run(contents(new)) == before
    assert len(new.engine.links) == len(asyncio.run(old.engine.read(queries.ALL_LINKS, {})))
    asyncio.run(new.close())
    assert sorted(each.name for each in tmp_path.iterdir()) == [FILE, "owner.lock"]


def test_what_a_killed_conversion_left_is_made_anew(tmp_path: Path) -> None:
    before = asyncio.run(contents(kept_by_the_old_engine(tmp_path)))
    (tmp_path / f"{FILE}.new").write_bytes(b"half of it")
    new = EmbeddedGraph(tmp_path, admin=True)
    assert asyncio.run(contents(new)) == before
    asyncio.run(new.close())


def test_what_the_old_engine_left_out_of_its_damaged_log_is_kept_and_filled(tmp_path: Path) -> None:
    kept_by_the_old_engine(tmp_path, stopped=False)
    log = tmp_path / f"{OLD}-wal"
    middle = log.stat().st_size // 2
    log.write_bytes(log.read_bytes()[:middle] + b"\xff" * 8 + log.read_bytes()[middle + 8 :])
    asyncio.run(EmbeddedGraph(tmp_path).close())
    assert is_unfilled(tmp_path)
    assert [*tmp_path.glob(LEFT_OUT)]


def test_an_old_file_that_cannot_be_read_is_damaged(tmp_path: Path) -> None:
    (tmp_path / OLD).write_bytes(b"no graph at all")
    with pytest.raises(DamagedStore, match="start `fathom up`"):
        EmbeddedGraph(tmp_path)
