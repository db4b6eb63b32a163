"""Replay of recorded dialogues, turn by turn, through the real depth stage with its histories, frames and anchors."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from agents.context import ContextManager
from agents.ports.models import LanguageIdentifier
from agents.stages.depth import DepthAgent
from schemas.chat import ChatMessage, Role
from schemas.depth import DepthClassified, DepthLevel
from schemas.envelope import Envelope, Received
from schemas.policy import ContextPolicy
from schemas.topics import MESSAGES_IN
from streams import config, policies
from streams.stores.graph.memory import InMemoryGraph
from streams.stores.language import best_language
from streams.stores.sessions.memory import MemoryWorkingSets
from streams.telemetry.clock import SystemClock

SAID_AT = datetime(2026, 1, 1, tzinfo=UTC)
BETWEEN = timedelta(seconds=30)
TENANT, CLIENT, CONVERSATION = "eval", "eval", "dialogue"

Spoken = tuple[str, str]


def played(turns: Sequence[Spoken]) -> list[DepthClassified | None]:
    """The decision on each turn (role, text) of one dialogue; None for turns that are not classified."""
    return _runner().run(_play(turns))


@lru_cache(maxsize=1)
def _runner() -> asyncio.Runner:
    return asyncio.Runner()


@lru_cache(maxsize=1)
def _language() -> LanguageIdentifier:
    return best_language()


def _agent() -> DepthAgent:
    context = ContextManager(MemoryWorkingSets(), ContextPolicy())
    window = config.load({}).history_window
    return DepthAgent(context, _language(), InMemoryGraph(), SystemClock(), window=window, kinds=policies.shipped())


async def _play(turns: Sequence[Spoken]) -> list[DepthClassified | None]:
    agent = _agent()
    return [await _decided(agent, record) if record else None for record in _records(turns)]


async def _decided(agent: DepthAgent, record: Received[ChatMessage]) -> DepthClassified | None:
    made = [outgoing.event for outgoing in await agent.handle(record)]
    return next((event for event in made if isinstance(event, DepthClassified)), None)


def _records(turns: Sequence[Spoken]) -> Iterator[Received[ChatMessage] | None]:
    """The turns as records of `messages.in`; None for an empty user turn, which the stage rejects."""
    for number, (role, text) in enumerate(turns):
        at, name = SAID_AT + number * BETWEEN, f"turn-{number}"
        if role == Role.USER.value and not text.strip():
            yield None
            continue
        message = ChatMessage(
            message_id=name,
            role=Role(role),
            content=text,
            conversation_id=CONVERSATION,
            client_id=CLIENT,
            created_at=at,
        )
        envelope = Envelope(name, ChatMessage.TYPE, "urn:fathom:eval", at, TENANT, name)
        yield Received(message, envelope, "k", MESSAGES_IN.name, 0, number, int(at.timestamp() * 1000))


def strongest(decided: DepthClassified | None, level: DepthLevel, names: Sequence[str] = ()) -> float:
    """The weight of the strongest signal for a level, optionally among these names; 0 without one."""
    signs = decided.signals if decided else ()
    return max(
        (sign.weight for sign in signs if sign.level is level and (not names or sign.name in names)), default=0.0
    )
