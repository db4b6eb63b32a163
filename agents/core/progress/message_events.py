"""The progress of one message, from the records of its pack and of its cognitive run."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, cast

from agents.core.cognition import planner
from agents.core.cognition.opening import CognitionOptions, job_id_of
from agents.core.packs import join
from agents.core.progress.cognition_progress import cognition_events
from agents.core.progress.pack_progress import PackEvents
from schemas.base import Conversation, Event
from schemas.cognition import CognitionStep
from schemas.envelope import Received
from schemas.packs import ContextPack
from schemas.progress import ProgressMade
from schemas.retrieval import PackInputs, PartFound, PartsFound, RetrievalPlan


class TimedEvent(NamedTuple):
    """An event of progress, and when its record was logged (ms)."""

    timestamp: int
    event: ProgressMade


class MessageEvents:
    """The events of one message, each once, however often its records come.

    They and their numbers follow from the records alone: every process finds the same.
    """

    def __init__(self, plan: Received[RetrievalPlan], options: CognitionOptions) -> None:
        """`options` say whether a cognitive run is opened for the message."""
        self.plan = plan.event
        self.where: Conversation = plan.conversation(self.plan.client_id, self.plan.conversation_id)
        self.has_run = planner.opens_run(self.plan, options)
        self._pack = PackEvents(self.plan, cognition=self.has_run)
        self.job_id = job_id_of(self.plan)
        self._last_of_run = 0
        self.first = TimedEvent(plan.timestamp, self._pack.planned)

    def of(self, record: Received[Event]) -> Iterator[TimedEvent]:
        """The new events that follow from a record; none from one of another message."""
        event = record.event
        if isinstance(event, CognitionStep):
            if event.job_id == self.job_id:
                yield from self._of_run(record.timestamp, cognition_events(event))
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

    def _of_run(self, timestamp: int, events: Iterable[ProgressMade]) -> Iterator[TimedEvent]:
        for event in events:
            if event.seq > self._last_of_run:
                self._last_of_run = event.seq
                yield TimedEvent(timestamp, event)
