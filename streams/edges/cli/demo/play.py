"""Playing a script step by step, and collecting the events of all stages about each message, call and query."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from aiokafka import ConsumerRecord, TopicPartition

from schemas import topics
from schemas.assessment import AssessmentAsked, AssessmentMade
from schemas.base import Event
from schemas.depth import DepthClassified
from schemas.packs import ContextPack
from schemas.retrieval import PackInputs, PartFound, PartsFound, RetrievalPlan
from schemas.tools import ToolCallRequested, ToolCallResolved, ToolConfirmation, ToolResult
from streams.edges.cli.demo.script import ScriptStep
from streams.edges.client import clients
from streams.edges.client.clients import Connected
from streams.edges.client.errors import DOWN, CommandFailed
from streams.edges.client.records import OutgoingRecord
from streams.edges.client.send import deliver

WATCHED = (
    topics.DEPTH_CLASSIFIED,
    topics.RETRIEVAL_PLANS,
    topics.PACKS_PARTIAL,
    topics.CONTEXT_PACKS,
    topics.TOOLS_CALLS_OUT,
    topics.ASSESSMENTS_OUT,
)
AWAITED = (
    topics.DOCUMENTS_IN,
    topics.MEMORY_KNOWLEDGE,
    topics.TOOLS_RESULTS_IN,
    topics.CONVERSATION_TURNS,
    topics.CORRECTIONS_IN,
    topics.MEMORY_CORRECTIONS,
)
RECORDED = {topics.MEMORY_CLAIMS.name: "claims", topics.MEMORY_CORRECTIONS.name: "corrections"}
DEAD_LETTERS = "dead-letters."
ANSWER_TIMEOUT_S, HANDLED_TIMEOUT_S = 15.0, 30.0
POLL_S, ASK_AGAIN_S = 0.05, 0.1
# The field by which events refer to their message, call or query.
NAMES = ("message_id", "call_id", "request_id")
E = TypeVar("E")


@dataclass(slots=True)
class StepOutcome:
    """A step and all its events; `seconds` from sending it to reading its answer."""

    step: ScriptStep
    events: list[Event] = field(default_factory=list)
    seconds: float = 0.0

    def last(self, kind: type[E]) -> E | None:
        """The newest event of a kind."""
        return next((event for event in reversed(self.events) if isinstance(event, kind)), None)

    @property
    def answer(self) -> ContextPack | ToolCallResolved | AssessmentMade | None:
        """The pack of a message, the verdict of a call or confirmation, the assessment of a query; None for results."""
        return self.last(ContextPack) or self.last(ToolCallResolved) or self.last(AssessmentMade)

    @property
    def parts(self) -> list[PartFound]:
        found: list[PartFound] = []
        for event in self.events:
            found += (event,) if isinstance(event, PartFound) else ()
            found += event.parts if isinstance(event, PartsFound | PackInputs) else ()
        return found

    def complete(self) -> bool:
        """Whether the answer is there and, for a pack, all events that led to it."""
        pack = self.last(ContextPack)
        if pack is None or not (self.last(DepthClassified) and self.last(RetrievalPlan)):
            return not self.step.is_turn and self.answer is not None
        asked = {report.memory_class for report in pack.parts if report.status != "missing"}
        return {part.memory_class for part in self.parts} >= asked


@dataclass(slots=True)
class Player:
    """Sends to one broker, and reads the events of its workers."""

    broker: Connected
    counted: Sequence[str]
    before: Mapping[TopicPartition, int]

    @classmethod
    @asynccontextmanager
    async def on(cls, bootstrap: str) -> "AsyncIterator[Player]":
        """A player that reads all events from now on."""
        counts = await clients.partition_counts(bootstrap)
        counted = [name for name in counts if name in RECORDED or name.startswith(DEAD_LETTERS)]
        # Read by nobody here, but assigned: the ends of a topic that the consumer does not know take it 0.2 s to learn.
        silent = [*counted, *(topic.name for topic in AWAITED)]
        async with clients.connected(bootstrap, [*(topic.name for topic in WATCHED), *silent]) as broker:
            broker.consumer.pause(*clients.partitions_of(counts, silent))
            yield cls(broker, counted, await broker.ends(counted))

    async def teach(self, knowledge: Iterable[OutgoingRecord]) -> None:
        """Send documents and wait until they are searchable."""
        for prepared in knowledge:
            await deliver(self.broker.producer, prepared)
        await self.handled("fathom.ingestion", topics.DOCUMENTS_IN.name)
        await self.handled("fathom.index-writers", topics.MEMORY_KNOWLEDGE.name)

    async def play(self, step: ScriptStep) -> StepOutcome:
        """Send one step and wait for its answer and all its events; raises `CommandFailed` on a timeout."""
        outcome = StepOutcome(step)
        if isinstance(step.event, ToolCallRequested):
            # Results arrive by another topic: the session has them once the gate has read them.
            await self.handled("fathom.tool-gate", topics.TOOLS_RESULTS_IN.name)
        began = time.perf_counter()
        await deliver(self.broker.producer, step.record)
        if step.by_assistant or isinstance(step.event, ToolResult):
            return outcome
        while not outcome.complete():
            for record in await clients.poll(self.broker.consumer, POLL_S):
                event = _event_about(record, step)
                if event is None:
                    continue
                answered = outcome.answer
                outcome.events.append(event)
                if outcome.answer is not answered:
                    outcome.seconds = time.perf_counter() - began
            if time.perf_counter() > began + ANSWER_TIMEOUT_S and not outcome.complete():
                raise _no_answer(step)
        return outcome

    async def recorded(self) -> dict[str, int]:
        """The numbers of recorded claims, corrections and dead letters, once the writers have caught up."""
        await self.handled("fathom.learning", topics.CONVERSATION_TURNS.name)
        found: Counter[str] = Counter()
        for tp, end in (await self.broker.ends(self.counted)).items():
            found[RECORDED.get(tp.topic, "dead_letters")] += end - self.before.get(tp, 0)
        return found

    async def handled(self, group: str, topic: str) -> None:
        """Wait until a consumer group has committed the end of a topic."""
        deadline = time.monotonic() + HANDLED_TIMEOUT_S
        while not await self.broker.committed(group, [topic]):
            if time.monotonic() > deadline:
                raise CommandFailed(
                    f"the group {group} did not get through {topic} within {HANDLED_TIMEOUT_S:g} s; "
                    "is a worker with that group running?",
                    DOWN,
                )
            await asyncio.sleep(ASK_AGAIN_S)


def _event_about(record: ConsumerRecord, step: ScriptStep) -> Event | None:
    """The event of a record, if it is about a step; without the repeated preview that a confirmation answers."""
    if record.key != step.record.key:
        return None
    event = topics.BY_NAME[record.topic].adapter.validate_json(
        record.value, extra="ignore", by_alias=True, by_name=False
    )
    if isinstance(step.event, ToolConfirmation) and getattr(event, "preview", None) is not None:
        return None
    return event if step.record.name in (getattr(event, name, None) for name in NAMES) else None


def _no_answer(step: ScriptStep) -> CommandFailed:
    what, stage = ("pack", "depth") if step.is_turn else ("verdict", "tool-gate")
    if isinstance(step.event, AssessmentAsked):
        what, stage = "assessment", "assessor"
    return CommandFailed(
        f"no {what} came within {ANSWER_TIMEOUT_S:g} s for {step.record.name}; is a worker running on this "
        f"broker? look at `fathom tail dead-letters.{stage} --from-beginning`",
        DOWN,
    )
