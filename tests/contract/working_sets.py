"""What the contract tests of working sets run on.

The twin, fakeredis, the embedded Valkey, a real Redis, and the copies that an owner holds of what is in a Redis.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import fakeredis
import pytest
from redis.asyncio import Redis

from agents.core.conversation.memory import ConversationTurn, Session, turn_of
from schemas.base import Conversation
from streams.stores.sessions.memory import MemoryWorkingSets
from streams.stores.sessions.redis_working_sets import RedisWorkingSets
from streams.stores.sessions.valkey import Valkey
from streams.views.restorable import RestorableWorkingSets
from streams.views.working_set_cache import HeldWorkingSets

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


@dataclass
class Kit:
    """A store and the loop its connections belong to."""

    store: RestorableWorkingSets
    runner: asyncio.Runner
    client: Redis | None = None

    def open(self, conversation, message_id="none", limit=20):
        return self.runner.run(self.store.open(conversation, message_id, limit))

    def append(self, conversation, number, frame="f1", session=None, keep=400, outcome=b""):
        session = session or Session(frame_id=frame, frames=(frame,), last_seq=number)
        return self.runner.run(self.store.append(conversation, frame, turn(number, frame), session, outcome, keep))

    def turns(self, conversation, frame="f1", up_to_seq=10**6, limit=100):
        found = self.runner.run(self.store.turns(conversation, frame, up_to_seq=up_to_seq, limit=limit))
        return [each.seq for each in found]

    def session_turns(self, conversation, up_to_seq=10**6, limit=100):
        found = self.runner.run(self.store.session_turns(conversation, up_to_seq=up_to_seq, limit=limit))
        return [each.seq for each in found]

    def frame_of(self, conversation, message_id):
        return self.runner.run(self.store.frame_of(conversation, message_id))


@pytest.fixture(scope="module")
def valkey(tmp_path_factory) -> Iterator[Valkey]:
    server = Valkey(tmp_path_factory.mktemp("valkey"))
    server.start()
    yield server
    server.stop()


def client_for(kind: str, request: pytest.FixtureRequest) -> Redis:
    match kind:
        case "fakeredis" | "held":
            return fakeredis.FakeAsyncRedis()
        case "valkey":
            return Redis(unix_socket_path=str(request.getfixturevalue("valkey").socket))
        case _:
            return Redis.from_url(request.getfixturevalue("redis_url"))


@pytest.fixture(params=["memory", "fakeredis", "held", "valkey", "redis-server"])
def kit(request) -> Iterator[Kit]:
    with asyncio.Runner() as runner:
        if request.param == "memory":
            yield Kit(MemoryWorkingSets(), runner)
            return
        client = client_for(request.param, request)
        sets: RestorableWorkingSets = RedisWorkingSets(client)
        if request.param == "held":
            sets = held = HeldWorkingSets(sets)
            held.own(range(8))
        yield Kit(sets, runner, client)
        runner.run(client.aclose())


def talk(tenant=None, client="web", conversation="c1") -> Conversation:
    return Conversation(tenant=tenant or f"t{uuid4().hex[:8]}", client_id=client, conversation_id=conversation)


def turn(number: int, frame="f1", content="olá, tudo bem?") -> ConversationTurn:
    return turn_of(
        role="user" if number % 2 == 0 else "assistant",
        content=content,
        created_at=NOON + timedelta(seconds=number),
        meta={"message_id": f"m{number}", "seq": number, "frame_id": frame, "lang": "pt", "offset": number},
    )
