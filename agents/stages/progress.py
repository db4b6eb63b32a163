"""Tell what each message's pack and cognitive run have reached, for those who watch.

reads   retrieval.plans   which memory classes are asked
        packs.partial     the answer of each
        context-packs.out the pack
        cognition.steps   the state of a run after a node
writes  progress.events   key conversation
state   the numbers of recent packs' events, read from its own output on assignment

Nobody waits for it, and what was told is not told again.
"""

from collections.abc import Sequence
from typing import cast

from agents.core.cognition import planner
from agents.core.cognition.opening import CognitionOptions
from agents.core.packs import join
from agents.core.progress.cognition_progress import cognition_events
from agents.core.progress.pack_progress import PackTable
from agents.ports.handlers import Take
from schemas.base import Event
from schemas.cognition import CognitionStep
from schemas.envelope import Outgoing, Received, Settled, Step
from schemas.packs import ContextPack
from schemas.progress import ProgressMade
from schemas.retrieval import PartFound, PartsFound, RetrievalPlan
from schemas.topics import PROGRESS_EVENTS

TOLD = (RetrievalPlan, PartFound, PartsFound, ContextPack, CognitionStep)


class ProgressTeller:
    """One table of packs per partition; steps of cognition need none."""

    def __init__(self, cognition: CognitionOptions, *, enabled: bool = True) -> None:
        self._cognition = cognition
        self._enabled = enabled
        self._tables: dict[int, PackTable] = {}

    def assigned(self, partition: int) -> Take:
        """Start a partition with what its output tells of packs."""
        table = self._tables[partition] = PackTable()

        def take(emitted: Received[Event]) -> None:
            if isinstance(emitted.event, ProgressMade) and emitted.event.stage == "pack":
                table.restore(emitted.event)

        return take

    def revoked(self, partition: int) -> None:
        """Forget the packs of a partition."""
        self._tables.pop(partition, None)

    def wants(self, event: Event) -> bool:
        """All that is told of, while enabled."""
        return self._enabled and isinstance(event, TOLD)

    async def handle(self, record: Received[Event]) -> Sequence[Step]:
        """The events that follow from one record."""
        return (*(_outgoing(record, event) for event in self._told(record)), Settled((record.position,)))

    def _told(self, record: Received[Event]) -> Sequence[ProgressMade]:
        event = record.event
        if isinstance(event, CognitionStep):
            return cognition_events(event)
        table = self._tables.setdefault(record.partition, PackTable())
        if isinstance(event, RetrievalPlan):
            opened = planner.opens_run(event, self._cognition)
            made = table.planned(cast("Received[RetrievalPlan]", record), cognition=opened)
        elif isinstance(event, PartFound | PartsFound):
            parts = join.parts_of(cast("Received[PartFound | PartsFound]", record))
            return [told for each in parts if (told := table.part(each)) is not None]
        elif isinstance(event, ContextPack):
            made = table.complete(cast("Received[ContextPack]", record))
        else:
            made = None
        return (made,) if made is not None else ()


def _outgoing(record: Received[Event], made: ProgressMade) -> Outgoing:
    key = record.conversation(made.client_id, made.conversation_id).key()
    return Outgoing(PROGRESS_EVENTS, key, made, record.envelope, f"{made.job_id}:{made.seq}")
