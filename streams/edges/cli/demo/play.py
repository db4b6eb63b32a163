"""Play a script step by step, and gather what every stage wrote about each message, call and query."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from schemas.assessment import AssessmentAsked, AssessmentMade
from schemas.packs import ContextPack
from schemas.tools import ToolCallRequested, ToolCallResolved, ToolConfirmation, ToolResult
from schemas.topics import (
    ASSESSMENTS_OUT,
    BY_NAME,
    CONTEXT_PACKS,
    CONVERSATION_TURNS,
    DEPTH_CLASSIFIED,
    DOCUMENTS_IN,
    MEMORY_CLAIMS,
    MEMORY_CORRECTIONS,
    MEMORY_KNOWLEDGE,
    PACKS_PARTIAL,
    RETRIEVAL_PLANS,
    TOOLS_CALLS_OUT,
    TOOLS_RESULTS_IN,
)
from streams.edges.cli.demo.report import Played, StepOutcome, Summary, Totals
from streams.edges.cli.demo.script import ScriptTurn, ToolStep
from streams.edges.client import clients
from streams.edges.client.errors import DOWN, CommandFailed
from streams.edges.client.records import OutgoingRecord
from streams.edges.client.send import deliver
from streams.edges.client.tail import DEAD_LETTERS

WATCHED = (DEPTH_CLASSIFIED, RETRIEVAL_PLANS, PACKS_PARTIAL, CONTEXT_PACKS, TOOLS_CALLS_OUT, ASSESSMENTS_OUT)
ANSWER_TIMEOUT_S, HANDLED_TIMEOUT_S = 15.0, 30.0
POLL_S, ASK_AGAIN_S = 0.05, 0.1
# What events call the message, the call and the query that they are about.
NAMES = ("message_id", "call_id", "request_id")


class Player:
    """Sends to one broker, and reads what its workers write."""

    def __init__(self, consumer: AIOKafkaConsumer, producer: AIOKafkaProducer, admin: AIOKafkaAdminClient) -> None:
        self._consumer = consumer
        self._producer = producer
        self._admin = admin
        self._counts: dict[str, int] = {}
        self._before: dict[TopicPartition, int] = {}

    @classmethod
    @asynccontextmanager
    async def on(cls, bootstrap: str) -> "AsyncIterator[Player]":
        """A player that sees everything written from now on."""
        counts = await clients.partition_counts(bootstrap)
        watched = clients.partitions_of(counts, [topic.name for topic in WATCHED])
        async with (
            clients.reading(bootstrap, watched) as consumer,
            clients.producing(bootstrap) as producer,
            clients.administering(bootstrap) as admin,
        ):
            player = cls(consumer, producer, admin)
            player._counts = counts
            player._before = await player._ends(player._recorded())
            yield player

    async def teach(self, knowledge: Iterable[OutgoingRecord]) -> None:
        """Send documents and wait until they can be found."""
        for prepared in knowledge:
            await deliver(self._producer, prepared)
        await self._handled("fathom.ingestion", DOCUMENTS_IN.name)
        await self._handled("fathom.index-writers", MEMORY_KNOWLEDGE.name)

    async def say(self, said: ScriptTurn) -> Played | None:
        """Send one turn; for a user's, wait for its pack and what led to it."""
        began = time.perf_counter()
        await deliver(self._producer, said.record)
        if said.role != "user":
            return None
        played = Played(said)

        def complete(event: Any) -> bool:
            played.add(event)
            if isinstance(event, ContextPack):
                played.seconds = time.perf_counter() - began
            return played.complete()

        await self._read_until(said.record, complete, "pack", "depth")
        return played

    async def act(self, acted: ToolStep) -> StepOutcome:
        """Send what an agent or its user did, and wait for what was decided about it; nothing is about a result."""
        if isinstance(acted.event, ToolCallRequested):
            # Results come by another topic: the session has them once the gate is through.
            await self._handled("fathom.tool-gate", TOOLS_RESULTS_IN.name)
        decided = StepOutcome(acted)

        def made(event: Any) -> bool:
            if isinstance(acted.event, ToolConfirmation) and getattr(event, "preview", None) is not None:
                return False  # the preview that is being answered, once more
            decided.made = event
            return isinstance(event, ToolCallResolved | AssessmentMade)

        began = time.perf_counter()
        await deliver(self._producer, acted.record)
        if isinstance(acted.event, ToolResult):
            return decided
        awaited = ("assessment", "assessor") if isinstance(acted.event, AssessmentAsked) else ("verdict", "tool-gate")
        await self._read_until(acted.record, made, *awaited)
        decided.seconds = time.perf_counter() - began
        return decided

    async def _read_until(self, sent: OutgoingRecord, enough: Callable[[Any], bool], what: str, stage: str) -> None:
        """Read events about what was sent until there are enough; raises `CommandFailed` when they do not come."""
        deadline = time.perf_counter() + ANSWER_TIMEOUT_S
        while True:
            done = False
            for record in await clients.poll(self._consumer, POLL_S):
                event = _event_about(record, sent)
                # Also those behind the last one waited for: what was polled is not read again.
                done = (event is not None and enough(event)) or done
            if done:
                return
            if time.perf_counter() > deadline:
                raise CommandFailed(
                    f"no {what} came within {ANSWER_TIMEOUT_S:g} s for {sent.name}; is a worker running on this "
                    f"broker? look at `fathom tail dead-letters.{stage} --from-beginning`",
                    DOWN,
                )

    async def sum_up(self, totals: Totals) -> Summary:
        """What was recorded, once the writers are through."""
        await self._handled("fathom.learning", CONVERSATION_TURNS.name)
        recorded: Counter[str] = Counter()
        for tp, end in (await self._ends(self._recorded())).items():
            kind = {MEMORY_CLAIMS.name: "claims", MEMORY_CORRECTIONS.name: "corrections"}.get(tp.topic, "dead_letters")
            recorded[kind] += end - self._before.get(tp, 0)
        return totals.summary(recorded)

    def _recorded(self) -> list[TopicPartition]:
        letters = [topic for topic in self._counts if topic.startswith(DEAD_LETTERS)]
        return clients.partitions_of(self._counts, [MEMORY_CLAIMS.name, MEMORY_CORRECTIONS.name, *letters])

    async def _ends(self, partitions: list[TopicPartition]) -> dict[TopicPartition, int]:
        ends: dict[TopicPartition, int] = await self._consumer.end_offsets(partitions)
        return ends

    async def _handled(self, group: str, topic: str) -> None:
        """Wait until a consumer group has committed all there is of a topic."""
        ends = await self._ends(clients.partitions_of(self._counts, [topic]))
        deadline = time.monotonic() + HANDLED_TIMEOUT_S
        while True:
            committed = await self._admin.list_consumer_group_offsets(group)
            behind = [tp for tp, end in ends.items() if end and (tp not in committed or committed[tp].offset < end)]
            if not behind:
                return
            if time.monotonic() > deadline:
                raise CommandFailed(
                    f"the group {group} did not get through {topic} within {HANDLED_TIMEOUT_S:g} s; "
                    "is a worker with that group running?",
                    DOWN,
                )
            await asyncio.sleep(ASK_AGAIN_S)


def _event_about(record: ConsumerRecord, sent: OutgoingRecord) -> Any:
    """The event of a record, if it is about what was sent."""
    if record.key != sent.key:
        return None
    event = BY_NAME[record.topic].adapter.validate_json(record.value, extra="ignore")
    return event if sent.name in (getattr(event, name, None) for name in NAMES) else None
