"""Warm-up: process two messages through all stages in memory before the first real one.

Lazy loading, compilation and connections (word tables, validators, stores) cost half a second, more than the deadline
of a simple question: the first pack would have missing sections.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from agents.context import ContextManager
from schemas import codec
from schemas.base import Conversation
from schemas.chat import AskPayload
from schemas.envelope import Envelope, Outgoing
from schemas.topics import MESSAGES_IN, Topic
from streams.dependencies import Dependencies
from streams.models.open import NONE
from streams.stores.sessions.memory import MemoryWorkingSets
from streams.topology import STAGES

TENANT = "rehearsal"
QUESTIONS = (
    "Bom dia! Explica melhor qual é a diferença entre o prazo do projeto e o da proposta.",
    "How do I ask for a refund? No, the deadline moved to the 20th.",
)

_Record = tuple[Topic, bytes, bytes, Sequence[tuple[str, bytes]]]


async def warm_up(real: Dependencies) -> int:
    """Run every stage but the writers against the real stores, read-only; the number of records handled."""
    twin = MemoryWorkingSets()
    # Models and engines are for messages of users, not for the warm-up.
    context = ContextManager(twin, real.context.policy)
    dependencies = replace(real, working_sets=twin, context=context, models=NONE, tables={})
    stages = [(stage, stage.handler(dependencies)) for stage in STAGES if stage.writes]
    waiting: deque[_Record] = deque(_asked(text, dependencies) for text in QUESTIONS)
    handled = 0
    while waiting:
        topic, key, value, headers = waiting.popleft()
        now = int(real.clock.now().timestamp() * 1000)
        received = codec.decode(topic, key, value, headers, partition=0, offset=handled, timestamp=now)
        handled += 1
        for stage, handler in stages:
            if topic in stage.reads:
                steps = await handler.handle(received)
                waiting.extend(_encoded(step, stage.name) for step in steps if isinstance(step, Outgoing))
    return handled


def _asked(text: str, dependencies: Dependencies) -> _Record:
    question = AskPayload(question=text, conversation_id=TENANT, client_id=TENANT)
    now = dependencies.clock.now()
    envelope = Envelope(TENANT, question.TYPE, "urn:fathom", now, TENANT, TENANT)
    key = Conversation(tenant=TENANT, client_id=TENANT, conversation_id=TENANT).key()
    return _encoded(Outgoing(MESSAGES_IN, key, question, envelope, discriminator=text), TENANT)


def _encoded(step: Outgoing, stage: str) -> _Record:
    key, value, headers = codec.encode(step, stage)
    return step.topic, key, value, headers
