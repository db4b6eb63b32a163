"""A data directory and its disk."""

import asyncio
import json
from functools import partial
from pathlib import Path

import pytest

from streams import config
from streams.runtime import data_dir
from streams.runtime.store_watch import DamageWatch
from streams.stores.damage import mark_unfilled


def test_a_directory_that_is_not_there_is_not_full(tmp_path: Path):
    assert data_dir.full(tmp_path / "none", least=2**62) is None
    assert str(data_dir.full(tmp_path, least=2**62)).startswith(f"the disk of {tmp_path} is full")


def test_what_was_set_aside_is_found_wherever_stores_lie_until_it_is_removed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    home, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    aside = [
        home / "valkey.damaged-20260302T120000",
        home / "broker" / "offsets.jsonl.damaged",
        home / "broker" / "logs" / "messages.in-0" / "00000000000000000000.4-5.damaged",
        elsewhere / "graph.damaged-20260302T120000",
    ]
    for path in aside:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (home / "broker" / "logs" / "messages.in-0" / "00000000000000000000.log").touch()
    urls = data_dir.inside(home) | {"neo4j_url": f"embedded://{elsewhere}", "qdrant_url": "http://h:6333"}
    watch = DamageWatch(partial(data_dir.damaged, config.load(**urls)))
    with caplog.at_level("WARNING"):
        asyncio.run(watch.look())
        asyncio.run(watch.look())
    assert watch.files == sorted(map(str, aside))
    assert [record.__dict__["fields"]["file"] for record in caplog.records] == sorted(map(str, aside))
    for path in aside:
        path.unlink()
    asyncio.run(watch.look())
    assert watch.files == []


@pytest.mark.parametrize(
    ("offset", "there", "lacking"),
    [(0, (), []), (3, ("graph", "index"), []), (3, ("graph",), ["index"]), (3, (), ["graph", "index"])],
)
def test_stores_that_were_lost_are_named(tmp_path: Path, offset: int, there: tuple[str, ...], lacking: list[str]):
    settings = config.load(**data_dir.inside(tmp_path))
    assert data_dir.unfilled(settings) == []
    (tmp_path / "broker").mkdir()
    line = json.dumps(["fathom.graph-writers", "conversation.turns", 0, offset, "", -1])
    (tmp_path / "broker" / "offsets.jsonl").write_text(f"no JSON\n{line}\n")
    for name in there:
        (tmp_path / name).mkdir()
        (tmp_path / name / "its file").touch()
    assert data_dir.unfilled(settings) == [str(tmp_path / name) for name in lacking]
    mark_unfilled(tmp_path / "graph")
    assert str(tmp_path / "graph") in data_dir.unfilled(settings)
