"""What a worker that stands alone would find in its stores: claims, decisions and turns of the golden examples."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from agents.core.conversation.memory import ConversationTurn, Session
from deploy.docs import examples
from deploy.docs.examples import Example
from schemas.base import Conversation, entity_key
from schemas.topics import (
    COGNITION_STEPS,
    CONVERSATION_TURNS,
    CORRECTIONS_IN,
    FEEDBACK_IN,
    MEMORY_CLAIMS,
    MEMORY_DECISIONS,
    MESSAGES_IN,
)
from streams.runtime import stores
from streams.runtime.stores import Stores
from streams.stores.settings import StoreSettings

TALK = Conversation(tenant="aurora", client_id="intranet-web", conversation_id="farol-2025-03-10")


@contextmanager
def remembered() -> Iterator[None]:
    """Workers of this process open stores that hold it."""
    opened = stores.open_stores

    def filled(settings: StoreSettings, index: Any = None) -> Stores:
        found = opened(settings, index)
        asyncio.run(_fill(found))
        return found

    stores.open_stores = filled
    try:
        yield
    finally:
        stores.open_stores = opened


async def _fill(found: Stores) -> None:
    of = {topic: [each.received() for each in examples.load(topics=[topic])] for topic in (
        MEMORY_CLAIMS, MEMORY_DECISIONS, CONVERSATION_TURNS,
    )}  # fmt: skip
    await found.graph_writer.write_claims(of[MEMORY_CLAIMS])
    await found.graph_writer.write_decisions(of[MEMORY_DECISIONS])
    for received in of[CONVERSATION_TURNS]:
        turn: Any = received.event
        if received.conversation(turn.client_id, turn.conversation_id) == TALK:
            said = ConversationTurn(turn.role, turn.content, turn.created_at, turn.message_id, turn.seq, turn.frame_id)
            session = Session(turn.frame_id, (turn.frame_id,), last_seq=turn.seq)
            await found.working_sets.append(TALK, turn.frame_id, said, session, b"", 100)


def feedback() -> tuple[str, bytes, bytes, dict[str, str]]:
    """On the pack whose decision is remembered: topic, key, value, headers."""
    decided = _one(MEMORY_DECISIONS.name, "pack-d2-degraded-en").value
    said = _one(FEEDBACK_IN.name, None)
    assert isinstance(decided, dict)
    assert isinstance(said.value, dict)
    value = {**said.value, "message_id": decided["message_id"], "pack_id": decided["pack_id"]}
    return FEEDBACK_IN.name, said.key.encode(), json.dumps(value).encode(), said.headers


def retraction() -> tuple[str, bytes, bytes, dict[str, str]]:
    """A user takes the own claim back that is remembered."""
    claim, said = (
        _one(MEMORY_CLAIMS.name, "user-contradicts-pt").value,
        _one(CORRECTIONS_IN.name, "claim-with-value-pt"),
    )
    assert isinstance(claim, dict)
    value = {
        "claim_id": claim["claim_id"], "usuario_id": claim["user_id"], "tipo": "factual", "ruling": "retract",
        "texto": "Não é mais assim.",
    }  # fmt: skip
    key = entity_key(said.headers["tenant"], claim["claim_id"])
    return CORRECTIONS_IN.name, key.encode(), json.dumps(value).encode(), {**said.headers, "ce_id": str(uuid4())}


def message(name: str) -> tuple[str, bytes, bytes, dict[str, str]]:
    """A message of the golden examples as the first of a new conversation: those of others are remembered."""
    said = _one(MESSAGES_IN.name, name)
    assert isinstance(said.value, dict)
    talk, new = str(uuid4()), str(uuid4())
    value = {**said.value, "conversation_id": talk, "message_id": new}
    where = Conversation(tenant=said.headers["tenant"], client_id=value["client_id"], conversation_id=talk)
    return MESSAGES_IN.name, where.key().encode(), json.dumps(value).encode(), {**said.headers, "ce_id": new}


def step() -> tuple[str, bytes, bytes, dict[str, str]]:
    """The step of a new run before its last: what is left is to answer, and to keep that as a consultation."""
    checked = _one(COGNITION_STEPS.name, "verified-pt")
    assert isinstance(checked.value, dict)
    run, new = str(checked.value["job_id"]), str(uuid4())
    value = json.dumps(checked.value).replace(run, new)
    headers = {**checked.headers, "ce_id": str(uuid4())}
    return COGNITION_STEPS.name, checked.key.replace(run, new).encode(), value.encode(), headers


def _one(topic: str, name: str | None) -> Example:
    return next(each for each in examples.load() if each.topic.name == topic and name in (None, each.name))
