"""The contract of tool sessions, on the twin, fakeredis, the embedded Valkey, and a real Redis."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest

from agents.errors import Unavailable, ViewIncomplete
from agents.ports.sessions import ToolSessions
from schemas.base import Conversation
from schemas.tool_session import Kept, ToolSession
from streams.stores.sessions.redis_working_sets import connect
from streams.stores.sessions.tool_sessions import MemoryToolSessions, RedisToolSessions
from streams.views.restorable import RestorableToolSessions
from tests.contract.working_sets import NOON, client_for


@dataclass
class Kit:
    """A store, and another worker's view of it."""

    store: RestorableToolSessions
    other: Callable[[], RestorableToolSessions]
    runner: asyncio.Runner

    def load(self, about: Conversation, store: ToolSessions | None = None) -> tuple[ToolSession, str]:
        return self.runner.run((store or self.store).load(about))

    def save(self, about: Conversation, report: str, version: str, store: ToolSessions | None = None) -> bool:
        return self.runner.run((store or self.store).save(about, session(report), version))


@pytest.fixture(params=["memory", "fakeredis", "valkey", "redis-server"])
def kit(request: pytest.FixtureRequest) -> Iterator[Kit]:
    with asyncio.Runner() as runner:
        if request.param == "memory":
            store = MemoryToolSessions()
            yield Kit(store, lambda: store, runner)
            return
        client = client_for(request.param, request)
        yield Kit(RedisToolSessions(client), lambda: RedisToolSessions(client), runner)
        runner.run(client.aclose())


def session(report: str) -> ToolSession:
    return ToolSession(values={"active_report_id": Kept(value=report, at=NOON, call_id="c1")})


def about(tenant: str | None = None, conversation: str = "s1") -> Conversation:
    return Conversation(tenant=tenant or f"t{uuid4().hex[:8]}", client_id="web", conversation_id=conversation)


def test_a_session_comes_back_whole_and_an_unknown_one_is_empty(kit: Kit) -> None:
    own = about()
    assert kit.load(own) == (ToolSession(), "")
    assert kit.save(own, "rel_1", "")
    for store in (kit.store, kit.other()):
        found, version = kit.load(own, store)
        assert (found, bool(version)) == (session("rel_1"), True)


@pytest.mark.covers("CF-54", "AC-57", "S4-44")
def test_what_another_worker_changed_is_seen_at_once_and_not_written_over(kit: Kit) -> None:
    own, other = about(), kit.other()
    assert kit.save(own, "rel_1", "")
    _, seen = kit.load(own)
    _, theirs = kit.load(own, other)
    assert kit.save(own, "rel_2", theirs, other)
    assert not kit.save(own, "rel_3", seen)
    found, version = kit.load(own)
    assert found == session("rel_2")
    assert kit.save(own, "rel_3", version)
    assert kit.load(own, other)[0] == session("rel_3")
    assert not kit.save(own, "rel_4", "")


def test_sessions_of_others_are_others(kit: Kit) -> None:
    own = about()
    assert kit.save(own, "rel_1", "")
    for stranger in (about(), about(own.tenant, "s2"), about(own.tenant, "s1|x")):
        assert kit.load(stranger) == (ToolSession(), "")


def emptied(kit: Kit) -> None:
    store: Any = kit.store
    store.clear() if isinstance(store, MemoryToolSessions) else kit.runner.run(store._client.flushall())


def restored(kit: Kit, own: Conversation, report: str) -> bool:
    async def story() -> bool:
        token = await kit.store.start_restore(0)
        changed = await kit.store.restore(own, 0, token, lambda known: known if known.values else session(report))
        await kit.store.complete_restore(0, token)
        return changed

    return kit.runner.run(story())


@pytest.mark.covers("CF-85")
def test_sessions_that_were_lost_are_not_taken_for_empty_ones(kit: Kit) -> None:
    own = about()
    kit.store.follow(3, lambda _: 0)
    emptied(kit)
    with pytest.raises(ViewIncomplete):
        kit.load(own)
    assert not kit.save(own, "rel_9", "")
    assert kit.runner.run(kit.store.incomplete_partitions({0, 1})) == {0, 1}
    assert restored(kit, own, "rel_1")
    assert kit.runner.run(kit.store.incomplete_partitions({0, 1})) == {1}
    found, version = kit.load(own)
    assert found == session("rel_1")
    assert kit.save(own, "rel_2", version)
    # What is there stays, and says that nothing changed.
    assert not restored(kit, own, "rel_1")
    assert kit.load(own)[0] == session("rel_2")
    emptied(kit)
    assert not kit.save(own, "rel_3", version)
    with pytest.raises(ViewIncomplete):
        kit.load(own)


def test_a_loss_that_nobody_noticed_yet_does_not_cost_the_token(kit: Kit) -> None:
    own, store = about(), kit.store
    if isinstance(store, RedisToolSessions):
        kit.runner.run(store._client.script_flush())
    store.follow(3, lambda _: 0)
    emptied(kit)
    with pytest.raises(ViewIncomplete):
        kit.load(own)
    kit.runner.run(store.start_restore(0))
    # From here on the server knows the script that begins, and none of those that follow it.
    emptied(kit)
    assert restored(kit, own, "rel_1")
    assert kit.load(own)[0] == session("rel_1")


def test_who_began_last_restores(kit: Kit) -> None:
    own = about()
    kit.store.follow(3, lambda _: 0)

    async def story() -> None:
        first = await kit.store.start_restore(0)
        second = await kit.store.start_restore(0)
        for call in (kit.store.restore(own, 0, first, lambda known: known), kit.store.complete_restore(0, first)):
            with pytest.raises(ViewIncomplete):
                await call
        await kit.store.complete_restore(0, second)
        assert await kit.store.incomplete_partitions({0}) == frozenset()

    kit.runner.run(story())


def test_an_unreachable_redis_says_so() -> None:
    async def ask() -> None:
        client = connect("redis://127.0.0.1:1")
        with pytest.raises(Unavailable):
            await RedisToolSessions(client, timeout=0.5).load(about())
        await client.aclose()

    asyncio.run(ask())
