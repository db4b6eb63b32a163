"""All stores of a worker by URL: twins, embedded, or a clear refusal."""

import asyncio
import os
import signal
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agents.core.conversation.memory import Session, turn_of
from agents.errors import Unavailable
from agents.ports.passages import Passage, PassageQuery
from schemas.base import Conversation
from streams.runtime.stores import Stores, open_stores
from streams.stores.ownership import DirectoryInUse
from streams.stores.settings import StoreSettings, UnsupportedUrl

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
TALK = Conversation(tenant="acme", client_id="web", conversation_id="c1")


def settings(directory: Path, scheme: str = "embedded", **fields: Any) -> StoreSettings:
    urls = dict.fromkeys(("redis_url", "qdrant_url", "neo4j_url"), f"{scheme}://")
    return StoreSettings(**{"data_dir": directory, "embedder": "hashing", **urls, **fields})


async def use(stores: Stores) -> None:
    turn = turn_of("user", "oi", NOON, {"message_id": "m1", "seq": 1})
    await stores.working_sets.append(TALK, "f1", turn, Session(frame_id="f1"), b"done", 5)
    await stores.index.upsert("acme", "episodic", [Passage("p1", "message", "o prazo é dia 15", "pt", NOON)])


async def remembered(stores: Stores) -> tuple[bytes | None, list[str]]:
    opened = await stores.working_sets.open(TALK, "m1", 5)
    hits = await stores.index.search("acme", "episodic", PassageQuery("prazo", "pt", 5, NOON))
    return opened.outcome, [hit.passage.id for hit in hits]


@pytest.mark.parametrize("scheme", ["memory", "embedded"])
def test_opened_stores_are_ready_and_work_together(tmp_path, scheme):
    async def story() -> None:
        assert await stores.ready() == {"graph": None, "working_set": None, "index": None}
        await use(stores)
        assert await remembered(stores) == (b"done", ["p1"])
        assert stores.tokens.count("o prazo é dia 15") > 0
        await stores.close()

    stores = open_stores(settings(tmp_path, scheme))
    asyncio.run(story())
    assert {each.name for each in tmp_path.iterdir()} == (
        {"graph", "index", "valkey"} if scheme == "embedded" else set()
    )


def test_embedded_stores_remember_after_they_are_opened_again(tmp_path):
    async def first(stores: Stores) -> None:
        await use(stores)
        await stores.close()

    async def second(stores: Stores) -> None:
        assert await remembered(stores) == (b"done", ["p1"])
        await stores.close()

    asyncio.run(first(open_stores(settings(tmp_path))))
    asyncio.run(second(open_stores(settings(tmp_path))))


def test_no_other_user_of_the_machine_reads_a_store_whatever_its_directory_was_before(tmp_path):
    async def story() -> None:
        await use(stores)
        await stores.close()

    # As an earlier version left it, in a directory that `mkdir` made.
    for name in ("graph", "index", "valkey"):
        (tmp_path / name / "older").mkdir(parents=True)
        (tmp_path / name / "older" / "file").write_text("what was said")
        (tmp_path / name).chmod(0o755)
        (tmp_path / name / "older" / "file").chmod(0o644)
    before = os.umask(0o022)
    try:
        stores = open_stores(settings(tmp_path))
        asyncio.run(story())
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    paths = [path for path in tmp_path.rglob("*") if path.is_dir() or path.is_file()]
    assert len(paths) > 20
    assert {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in paths} == {(True, 0o700), (False, 0o600)}


def test_a_worker_that_needs_no_passages_opens_no_index(tmp_path):
    async def story() -> None:
        assert set(await stores.ready()) == {"graph", "working_set"}
        with pytest.raises(Unavailable, match="no stage of this worker needs it"):
            await stores.index.search("acme", "episodic", PassageQuery("prazo", "pt", 5, NOON))
        await stores.close()

    stores = open_stores(settings(tmp_path, neo4j_url="memory://", redis_url="memory://", passages=False))
    asyncio.run(story())
    assert not (tmp_path / "index").exists()


def test_a_url_names_another_directory(tmp_path):
    chosen = settings(
        tmp_path / "unused", neo4j_url=f"embedded://{tmp_path}/mine", redis_url="memory://", qdrant_url="memory://"
    )
    asyncio.run(open_stores(chosen).close())
    assert (tmp_path / "mine" / "graph").is_dir()
    assert not (tmp_path / "unused").exists()


@pytest.mark.parametrize(
    ("setting", "url"),
    [
        ("redis_url", "memcached://h"),
        ("redis_url", ""),
        ("qdrant_url", "http://user:secret@h:6333"),
        ("neo4j_url", "bolt://user:secret@h"),
    ],
)
def test_an_unknown_scheme_is_refused_by_name_and_leaves_nothing_open(tmp_path, setting, url):
    with pytest.raises(UnsupportedUrl, match=f"FATHOM_{setting.upper()}.*use embedded://") as refused:
        open_stores(settings(tmp_path, **{setting: url}))
    assert "secret" not in str(refused.value)
    asyncio.run(refused_while_a_loop_runs(settings(tmp_path, **{setting: url})))
    asyncio.run(open_stores(settings(tmp_path)).close())


async def refused_while_a_loop_runs(chosen: StoreSettings) -> None:
    with pytest.raises(UnsupportedUrl):
        open_stores(chosen)


def test_a_second_worker_is_refused_and_leaves_the_first_alone(tmp_path):
    async def story() -> None:
        await use(stores)
        assert await remembered(stores) == (b"done", ["p1"])
        await stores.close()

    stores = open_stores(settings(tmp_path))
    with pytest.raises(DirectoryInUse, match=f"pid {os.getpid()}"):
        open_stores(settings(tmp_path))
    asyncio.run(story())


def test_a_store_that_is_gone_is_named_and_the_others_go_on(tmp_path):
    async def story() -> None:
        os.kill(int((tmp_path / "valkey" / "valkey.pid").read_text()), signal.SIGSTOP)
        with pytest.raises(Unavailable, match="working_set is unavailable"):
            await stores.working_sets.open(TALK, "m1", 5)
        wrong = await stores.ready()
        assert [name for name, detail in wrong.items() if detail] == ["working_set"]
        os.kill(int((tmp_path / "valkey" / "valkey.pid").read_text()), signal.SIGCONT)
        await stores.close()

    stores = open_stores(settings(tmp_path))
    asyncio.run(story())
