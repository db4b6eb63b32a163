"""Stores that a running process serves to a command: asked for the same, in turn, by its own user alone."""

import asyncio
import os
import socket
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agents.errors import FathomError, Unavailable
from deploy.docs import examples
from schemas.topics import MEMORY_CLAIMS
from streams.stores.graph.embedded.engine import EmbeddedGraph
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.vectors import HashingEmbedder
from streams.stores.remote import client
from streams.stores.remote.client import Calls, RemoteGraph, RemoteIndex, StoresGone, StoresNotServed, connected
from streams.stores.remote.server import StoresBusy, serving

PID, NOBODY = 4711, 65534
Story = Callable[[Path, EmbeddedGraph, MemoryPassageIndex], Awaitable[Any]]


def told(home: Path, story: Story) -> Any:
    """What happens while a process serves its stores."""

    async def run() -> Any:
        graph, index = EmbeddedGraph(admin=True), MemoryPassageIndex(HashingEmbedder())
        async with serving(home, graph, index) as path:
            return await asyncio.wait_for(story(path, graph, index), 20)

    return asyncio.run(run())


def asking(path: Path) -> Any:
    return connected(str(path), PID)


def test_the_graph_is_listed_written_and_mended_as_if_it_were_ours(tmp_path: Path) -> None:
    claims = [each.received() for each in examples.load(topics=[MEMORY_CLAIMS])]
    tenant = claims[0].envelope.tenant

    async def story(path: Path, graph: EmbeddedGraph, _: Any) -> None:
        async with asking(path) as calls:
            remote = RemoteGraph(calls)
            await remote.write_claims(claims)
            found = await remote.listed(tenant, "Claim")
            assert found == await graph.listed(tenant, "Claim")
            assert found
            await remote.remove(tenant, "Claim", [found[0].id])
            assert len(await graph.listed(tenant, "Claim")) == len(found) - 1

    told(tmp_path, story)


def test_an_error_of_a_store_arrives_as_it_was_and_the_next_call_is_answered(tmp_path: Path) -> None:
    async def story(path: Path, graph: EmbeddedGraph, index: MemoryPassageIndex) -> None:
        async def away(*_: Any, **__: Any) -> None:
            raise Unavailable("index", "it rests")

        listed, index.listed = index.listed, away  # type: ignore[method-assign,assignment]
        async with asking(path) as calls:
            with pytest.raises(Unavailable, match="it rests"):
                await RemoteIndex(calls).listed("acme", "semantic")
            index.listed = listed  # type: ignore[method-assign]
            assert (await RemoteIndex(calls).listed("acme", "semantic")).ids == ()

    told(tmp_path, story)


def test_nothing_else_of_the_stores_can_be_called(tmp_path: Path) -> None:
    async def story(path: Path, *_: Any) -> None:
        async with asking(path) as calls:
            for call in ("index.search", "graph.close", "graph.__class__", "nothing"):
                with pytest.raises(FathomError, match="no call"):
                    await calls.ask(call)

    told(tmp_path, story)


def test_a_second_client_is_refused_with_a_sentence_until_the_first_has_ended(tmp_path: Path) -> None:
    async def story(path: Path, *_: Any) -> None:
        async with asking(path):
            with pytest.raises(StoresBusy, match=r"another command works on these stores, .* wait until it has ended"):
                async with asking(path):
                    pass
        await _free(path)

    told(tmp_path, story)


async def _free(path: Path) -> None:
    """Once the server has noticed that its client has gone."""
    for _ in range(100):
        try:
            async with asking(path) as calls:
                await RemoteIndex(calls).listed("acme", "semantic")
            return
        except StoresBusy:
            await asyncio.sleep(0.02)
    raise AssertionError("it stays taken")


def test_a_client_that_ends_in_the_middle_of_a_write_leaves_it_whole(tmp_path: Path) -> None:
    """Ctrl-C on the command: the call under way is finished, no other begins, and the next client is served."""
    begun, done = [], []

    async def story(path: Path, _: Any, index: MemoryPassageIndex) -> None:
        async def slow(_tenant: str, _collection: str, passages: Any) -> None:
            begun.append(passages)
            await asyncio.sleep(0.2)
            done.append(passages)

        index.upsert = slow  # type: ignore[method-assign,assignment]
        async with asking(path) as calls:
            writing = [asyncio.create_task(RemoteIndex(calls).upsert("acme", "semantic", ())) for _ in range(2)]
            await asyncio.sleep(0.05)
            for task in writing:
                task.cancel()
        await _free(path)

    told(tmp_path, story)
    assert len(done) == len(begun)
    assert done


def test_packs_have_half_of_the_event_loop_while_stores_are_listed(tmp_path: Path) -> None:
    async def story(path: Path, _: Any, index: MemoryPassageIndex) -> float:
        listed = index.listed

        async def busy(*given: Any, **options: Any) -> Any:
            end = asyncio.get_running_loop().time() + 0.02
            while asyncio.get_running_loop().time() < end:
                pass
            return await listed(*given, **options)

        index.listed = busy  # type: ignore[method-assign]
        loop = asyncio.get_running_loop()
        async with asking(path) as calls:
            began = loop.time()
            for _ in range(20):
                await RemoteIndex(calls).listed("acme", "semantic")
            return loop.time() - began

    assert told(tmp_path, story) >= 2 * 20 * 0.02


def test_a_process_that_ends_is_told_from_a_store_that_is_away(tmp_path: Path) -> None:
    async def story() -> None:
        async with _ended(tmp_path) as calls:
            with pytest.raises(StoresGone, match="start it and run this again"):
                await RemoteIndex(calls).listed("acme", "semantic")

    asyncio.run(story())


@asynccontextmanager
async def _ended(home: Path) -> AsyncIterator[Calls]:
    serves = serving(home, EmbeddedGraph(), MemoryPassageIndex(HashingEmbedder()))
    path = await serves.__aenter__()
    async with asking(path) as calls:
        await asyncio.wait_for(serves.__aexit__(None, None, None), 10)
        assert not path.exists()
        yield calls


def test_another_release_is_refused_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def other(path: Path, *_: Any) -> None:
        monkeypatch.setattr(client, "version", lambda: "99.0")
        with pytest.raises(StoresNotServed, match=r"process 4711, is of release .*, not 99\.0.*kill 4711"):
            async with asking(path):
                pass

    told(tmp_path, other)

    async def earlier() -> None:
        async with connected("", PID):
            pass

    with pytest.raises(StoresNotServed, match=r"an earlier release.*kill 4711"):
        asyncio.run(earlier())


def test_a_socket_that_nobody_serves_is_said_to_be_so(tmp_path: Path) -> None:
    async def story() -> None:
        async with connected(str(tmp_path / "stores.sock"), PID):
            pass

    with pytest.raises(Unavailable, match="process 4711, does not answer"):
        asyncio.run(story())


def test_the_socket_is_its_users_alone_and_has_a_short_path_where_the_directory_has_a_long_one(tmp_path: Path) -> None:
    async def story(path: Path, *_: Any) -> None:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert len(os.fsencode(path)) <= 100

    told(tmp_path, story)
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    told(deep, story)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_another_user_of_the_machine_is_denied(tmp_path: Path) -> None:
    async def story(path: Path, *_: Any) -> None:
        for folder in (each for each in path.parents if "pytest" in str(each)):
            folder.chmod(0o755)  # it is the socket itself that is closed
        with socket.socket(socket.AF_UNIX) as stranger:
            os.seteuid(NOBODY)
            try:
                with pytest.raises(PermissionError):
                    stranger.connect(str(path))
                with pytest.raises(StoresNotServed, match=r"only the user who runs"):
                    async with asking(path):
                        pass
            finally:
                os.seteuid(0)

    told(tmp_path, story)
