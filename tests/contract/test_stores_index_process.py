"""The index in a process of its own: its life, its death, and what those who ask notice of them."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.errors import Rejected, Unavailable
from agents.ports.passages import Passage, PassageQuery
from streams.stores.ownership import DirectoryInUse
from streams.stores.passages.index_process import IndexProcess
from streams.stores.passages.qdrant_edge import QdrantEdgeIndex
from streams.stores.passages.vectors import HashingEmbedder

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
QUERY = PassageQuery("prazo", "pt", 500, NOON)


def passage(number: int) -> Passage:
    return Passage(f"p{number}", "chunk", "o prazo é dia 15", "pt", NOON)


def started(directory: Path) -> IndexProcess:
    index = IndexProcess(directory, "hashing")
    index.spawn()
    index.wait()
    return index


def test_a_killed_index_is_replaced_and_has_what_it_had_stored(tmp_path):
    async def story() -> None:
        await index.upsert("acme", "semantic", [passage(1), passage(2)])
        first = index.pid
        os.kill(first, signal.SIGKILL)
        found = ()
        async with asyncio.timeout(30):
            while not found:
                try:
                    found = await index.search("acme", "semantic", QUERY)
                except Unavailable:
                    await asyncio.sleep(0.1)
        assert {hit.passage.id for hit in found} == {"p1", "p2"}
        assert index.pid != first
        await index.close()

    index = started(tmp_path)
    asyncio.run(story())


def test_whoever_asks_while_it_dies_is_told_so_at_once(tmp_path):
    async def story() -> None:
        asked = [asyncio.create_task(index.search("acme", "semantic", QUERY)) for _ in range(20)]
        await asyncio.sleep(0)
        os.kill(index.pid, signal.SIGKILL)
        async with asyncio.timeout(4):  # below the call's own limit
            said = await asyncio.gather(*asked, return_exceptions=True)
        assert all(isinstance(one, Unavailable | tuple) for one in said)
        assert any(isinstance(one, Unavailable) for one in said)
        await index.close()

    index = started(tmp_path)
    asyncio.run(story())


def test_many_who_ask_while_it_is_away_get_one_new_index(tmp_path):
    async def asks() -> bool:
        try:
            await index.ping()
        except Unavailable:
            return False
        return True

    async def story() -> None:
        await index.ping()
        os.kill(index.pid, signal.SIGKILL)
        async with asyncio.timeout(30):
            while not all(await asyncio.gather(*(asks() for _ in range(20)))):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        pid = index.pid
        await asyncio.sleep(1.5)  # a second replacement would have begun by now
        assert all([await asks() for _ in range(20)])
        assert index.pid == pid
        await index.close()

    # As slow a start as a busy machine has, against callers who wait for a tenth of it.
    index = IndexProcess(tmp_path, "hashing", timeout=0.1)
    index.wait()
    asyncio.run(story())


def test_a_stopped_index_is_unavailable_and_not_waited_for_for_ever(tmp_path):
    async def story() -> None:
        await index.ping()
        os.kill(index.pid, signal.SIGSTOP)
        with pytest.raises(Unavailable, match="index"):
            await index.ping()
        os.kill(index.pid, signal.SIGCONT)
        await asyncio.sleep(1.1)  # the guard's pause
        await index.ping()
        await index.close()

    index = IndexProcess(tmp_path, "hashing", timeout=0.3)
    index.wait()
    asyncio.run(story())


def test_after_close_the_directory_is_free_and_everything_is_in_it(tmp_path):
    async def story() -> None:
        index = started(tmp_path)
        pid = index.pid
        await index.upsert("acme", "semantic", [passage(number) for number in range(100)])
        await index.close()
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        own = QdrantEdgeIndex(tmp_path, HashingEmbedder())
        assert len(await own.search("acme", "semantic", QUERY)) == 100
        await own.close()

    asyncio.run(story())


def test_a_second_owner_is_told_whom_to_stop(tmp_path):
    async def story() -> None:
        index = started(tmp_path)
        with pytest.raises(DirectoryInUse, match=f"in use by pid {os.getpid()}"):
            await asyncio.to_thread(IndexProcess(tmp_path, "hashing").wait)
        await index.close()

    asyncio.run(story())


def test_what_the_index_refuses_is_refused_here_in_the_same_words(tmp_path):
    async def story() -> None:
        index = started(tmp_path)
        with pytest.raises(Rejected, match="public_tenant_read_only"):
            await index.upsert("_public", "semantic", [passage(1)])
        with pytest.raises(RuntimeError, match="in the index process: KeyError"):
            await index.upsert("acme", "no such collection", [passage(1)])
        await index.close()

    asyncio.run(story())


def test_numpy_is_not_there_before_its_threads_are_limited():
    first = "import sys, streams.stores.passages.index_server; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", first], cwd=Path.cwd(), check=False).returncode == 0


def test_an_index_that_cannot_start_says_so(tmp_path):
    (tmp_path / "index").write_text("a file, not a directory")
    with pytest.raises(Unavailable, match="ended before it served"):
        IndexProcess(tmp_path / "index", "hashing").wait()


KILLED = """
import os, signal, sys
from pathlib import Path
from streams.stores.passages.index_process import IndexProcess

index = IndexProcess(Path(sys.argv[1]), "hashing")
index.wait()
print(index.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_parent_leaves_no_index_behind_and_the_next_gets_the_directory(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], cwd=Path.cwd(), check=False, capture_output=True, text=True
    )
    assert ended.returncode == -signal.SIGKILL
    index = started(tmp_path)  # waits for the orphan, should it still be there
    deadline = time.monotonic() + 5
    while Path(f"/proc/{ended.stdout.strip()}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{ended.stdout.strip()}").exists()
    asyncio.run(index.close())
