"""Conversational memory under a policy: what is loaded, kept, cut and expired (S1-01 to S1-07, S1-16 to S1-24)."""

import asyncio
from collections.abc import Awaitable
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest

from agents.context import ContextManager
from agents.core.conversation.memory import ConversationTurn, recent, storage_key, to_wire, turn_of
from schemas.base import Conversation
from schemas.policy import DEFAULT_POLICY, ContextPolicy
from streams.stores.sessions.memory import MemoryWorkingSets
from streams.testing.pipeline import Pipeline
from streams.topology import NAMED

AT = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
CONVERSATION = Conversation(tenant="acme", client_id="web", conversation_id="c1")
T = TypeVar("T")


def turn(number: int, content: str = "oi", role: Any = "user", seconds: float = 0) -> ConversationTurn:
    meta = {"message_id": f"m{number}", "seq": number, "frame_id": "f", "topic": "t", "partition": 0, "offset": number}
    return turn_of(role, content, AT + timedelta(seconds=seconds), meta)


def run(work: Awaitable[T]) -> T:
    async def whole() -> T:
        return await work

    return asyncio.run(whole())


def filled(policy: ContextPolicy, *turns: ConversationTurn) -> ContextManager:
    manager = ContextManager(MemoryWorkingSets(), policy)

    async def append() -> None:
        for one in turns:
            await manager.append_turn(CONVERSATION, one)

    asyncio.run(append())
    return manager


@pytest.mark.covers("S1-02")
def test_a_turn_has_exactly_four_fields_and_comes_back_from_them():
    [bare, filed] = ConversationTurn("user", "oi", AT), turn(1)
    assert [[*each] for each in to_wire([bare, filed])] == [["role", "content", "created_at", "meta"]] * 2
    assert [turn_of(**each) for each in to_wire([bare, filed])] == [bare, filed]
    assert to_wire([bare])[0]["meta"] is None


@pytest.mark.covers("S1-01")
def test_what_was_appended_is_loaded_in_order():
    manager = filled(DEFAULT_POLICY, *(turn(n, f"t{n}") for n in range(3)))
    assert [t.content for t in run(manager.load_recent(CONVERSATION, AT))] == ["t0", "t1", "t2"]


@pytest.mark.covers("S1-06", "S1-07")
def test_the_wire_form_is_the_four_attributes_and_nothing_more():
    manager = filled(DEFAULT_POLICY, turn(1))
    [wire] = manager.to_wire(run(manager.load_recent(CONVERSATION, AT)))
    assert set(wire) == {"role", "content", "created_at", "meta"}
    assert (wire["role"], wire["content"], wire["created_at"]) == ("user", "oi", AT)


@pytest.mark.covers("S1-16", "CF-61", "AC-46")
def test_the_storage_key_is_client_and_conversation_and_cannot_be_imitated():
    assert storage_key("web", "c1") == "web:c1"
    assert ContextManager._key("web", "c1") == "web:c1"
    assert storage_key("a:b", "c") != storage_key("a", "b:c")


@pytest.mark.covers("S1-20", "AC-39")
def test_only_the_last_turns_are_recent():
    policy = replace(DEFAULT_POLICY, max_turns=4)
    said = tuple(turn(n, f"t{n}") for n in range(6))
    manager = filled(policy, *said)
    for found in (run(manager.load_recent(CONVERSATION, AT)), manager.recent(said, AT)):
        assert [t.content for t in found] == ["t2", "t3", "t4", "t5"]


@pytest.mark.covers("S1-20", "CF-63", "AC-39")
def test_time_to_live_is_by_event_time_also_on_a_replay_next_day():
    policy = replace(DEFAULT_POLICY, ttl_seconds=60)
    manager = filled(policy, turn(1, "old"), turn(2, "new", seconds=120))
    assert [t.content for t in run(manager.load_recent(CONVERSATION, AT + timedelta(seconds=120)))] == ["new"]
    assert [t.content for t in run(manager.load_recent(CONVERSATION, AT + timedelta(seconds=60)))] == ["old", "new"]


@pytest.mark.covers("S1-23", "CF-62")
def test_characters_are_counted_together_and_the_oldest_goes_first():
    policy = replace(DEFAULT_POLICY, max_chars=10)
    turns = [turn(1, "aaaa"), turn(2, "bbbb"), turn(3, "cccc")]
    assert [t.content for t in recent(turns, policy, AT)] == ["bbbb", "cccc"]
    assert [t.content for t in recent([turn(1, "x" * 25)], policy, AT)] == ["x" * 10]
    assert [t.content for t in recent([turn(1, "aa"), turn(2, "x" * 25)], policy, AT)] == ["x" * 10]


@pytest.mark.covers("S1-04", "S1-22", "CF-64", "AC-40")
def test_disabled_memory_keeps_nothing_and_returns_nothing():
    manager = filled(replace(DEFAULT_POLICY, enabled=False), turn(1))
    assert run(manager.load_recent(CONVERSATION, AT)) == ()
    enabled = ContextManager(manager._store, DEFAULT_POLICY)
    assert run(enabled.load_recent(CONVERSATION, AT)) == ()


def test_redelivered_turn_is_kept_once():
    manager = filled(DEFAULT_POLICY, turn(1), turn(1), turn(2))
    assert [t.message_id for t in run(manager.load_recent(CONVERSATION, AT))] == ["m1", "m2"]


@pytest.mark.covers("S1-24")
def test_the_in_memory_backend_keeps_nothing_beyond_its_process():
    filled(DEFAULT_POLICY, turn(1))
    another = ContextManager(MemoryWorkingSets(), DEFAULT_POLICY)
    assert run(another.load_recent(CONVERSATION, AT)) == ()


@pytest.mark.covers("S1-05")
def test_conversations_clients_and_tenants_are_kept_apart():
    manager = filled(DEFAULT_POLICY, turn(1))
    for other in ({"tenant": "beta"}, {"client_id": "app"}, {"conversation_id": "c2"}):
        assert run(manager.load_recent(CONVERSATION.model_copy(update=other), AT)) == ()


@pytest.mark.covers("S1-03")
def test_all_stages_share_one_context_manager():
    with Pipeline() as fathom:
        built = fathom.dependencies()
        depth, retriever = (NAMED[name].handler(built) for name in ("depth", "retrieval-working-set"))
        for context in (depth._context, retriever._context):
            # Each reads through a view of its own, without what is quarantined, of one store under one policy.
            assert context.policy is built.context.policy
            assert context._store._sets is built.working_sets


@pytest.mark.covers("S1-17", "CF-78")
def test_the_default_policy_has_the_settled_numbers():
    assert (DEFAULT_POLICY.enabled, DEFAULT_POLICY.max_turns) == (True, 20)
    assert (DEFAULT_POLICY.ttl_seconds, DEFAULT_POLICY.max_chars) == (3600, 8000)
    assert [field.name for field in fields(DEFAULT_POLICY.planner)] == ["enabled"]
    assert [field.name for field in fields(DEFAULT_POLICY.narrator)] == [
        "enabled", "allowed_entities", "denied_entities",
    ]  # fmt: skip
    assert DEFAULT_POLICY.planner.enabled
