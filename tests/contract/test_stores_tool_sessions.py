"""The contract of tool sessions, on the twin, fakeredis, the embedded Valkey, and a real Redis."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from uuid import uuid4

import pytest

from agents.errors import Unavailable
from agents.ports import ToolSessions
from schemas.base import Conversation
from schemas.tool_session import Kept, ToolSession
from streams.stores.redis_working_sets import connect
from streams.stores.tool_sessions import MemoryToolSessions, RedisToolSessions
from tests.contract.working_sets import NOON, client_for


@dataclass
class Kit:
    """A store, and another worker's view of it."""

    store: ToolSessions
    other: Callable[[], ToolSessions]
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


def test_an_unreachable_redis_says_so() -> None:
    async def ask() -> None:
        client = connect("redis://127.0.0.1:1")
        with pytest.raises(Unavailable):
            await RedisToolSessions(client, timeout=0.5).load(about())
        await client.aclose()

    asyncio.run(ask())
