"""The progress of one message, from the records of its pack, of its cognitive run and of its tool calls."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol, cast

from agents.core.packs import join
from agents.core.progress.pack_progress import PackEvents
from agents.core.progress.tool_progress import ToolEvents
from schemas.base import Conversation, Event
from schemas.cognition import CognitionStep
from schemas.envelope import Received
from schemas.packs import ContextPack
from schemas.progress import ProgressMade
from schemas.retrieval import PackInputs, PartFound, PartsFound, RetrievalPlan
from schemas.tools import ToolCallRequested, ToolCallResolved


class TimedEvent(NamedTuple):
    """An event of progress, and when its record was logged (ms)."""

    timestamp: int
    event: ProgressMade


class RunEvents(Protocol):
    """The events of the cognitive run for a message; `is_awaited` says whether one is opened."""

    job_id: str
    is_awaited: bool

    def of(self, step: CognitionStep) -> Iterable[ProgressMade]:
        """The events of a step, numbered."""


class MessageEvents:
    """The events of one message, each once, however often its records come.

    They and their numbers follow from the records alone: every process finds the same.
    """

    def __init__(self, plan: Received[RetrievalPlan], run: RunEvents | None) -> None:
        """`run` makes the events of the message's cognitive run; None where nothing knows of such runs."""
        self.plan = plan.event
        self.where: Conversation = plan.conversation(self.plan.client_id, self.plan.conversation_id)
        self.has_run = run is not None and run.is_awaited
        self._pack = PackEvents(self.plan, cognition=self.has_run)
        self._tools = ToolEvents(plan)
        self._run = run
        self.job_id = run.job_id if run is not None else ""
        self._last_of_run = 0
        self.first = TimedEvent(plan.timestamp, self._pack.planned)

    def of(self, record: Received[Event]) -> Iterator[TimedEvent]:
        """The new events that follow from a record; none from one of another message."""
        event = record.event
        if isinstance(event, CognitionStep):
            if self._run is not None and event.job_id == self.job_id:
                yield from self._of_run(record.timestamp, self._run.of(event))
        elif isinstance(event, ToolCallRequested | ToolCallResolved | RetrievalPlan):
            yield from self._of_tools(record)
        elif getattr(event, "pack_id", None) != self.plan.pack_id:
            return
        elif isinstance(event, PartFound | PartsFound | PackInputs):
            parts = join.parts_of(cast("Received[PartFound | PartsFound | PackInputs]", record))
            for part in sorted(parts, key=lambda part: part.timestamp):
                if (told := self._pack.part(part)) is not None:
                    yield TimedEvent(part.timestamp, told)
        elif isinstance(event, ContextPack):
            complete = self._pack.complete(cast("Received[ContextPack]", record))
            if complete is not None:
                yield TimedEvent(record.timestamp, complete)

    def _of_tools(self, record: Received[Event]) -> Iterator[TimedEvent]:
        """The events of the conversation's tool calls; a later message of it says which are for that one."""
        event: Any = record.event
        if record.conversation(event.client_id, event.conversation_id) != self.where:
            return
        if isinstance(event, RetrievalPlan):
            self._tools.next_message(record.timestamp)
            return
        told = self._tools.asked if isinstance(event, ToolCallRequested) else self._tools.verdict
        yield from (TimedEvent(*each) for each in told(cast("Any", record)))

    def _of_run(self, timestamp: int, events: Iterable[ProgressMade]) -> Iterator[TimedEvent]:
        for event in events:
            if event.seq > self._last_of_run:
                self._last_of_run = event.seq
                yield TimedEvent(timestamp, event)
