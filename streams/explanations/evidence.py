"""What the log and the graph were found to hold of one message; the input of an explanation."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast

from agents.core.packs.join import parts_of
from agents.ports.graph import ClaimContested, DecisionTrace
from schemas.base import Conversation, Event, time_of
from schemas.envelope import Received
from schemas.learning import QuarantineChanged
from schemas.retrieval import JoinOpened, PackInputs, PartFound, PartsFound
from schemas.topics import Topic

E = TypeVar("E", bound=Event)


@dataclass(frozen=True, slots=True)
class Missing:
    """A topic on which nothing of the message was found, and the time from which on it is kept, if it has records."""

    topic: Topic
    retention: timedelta
    kept_from: datetime | None
    expired: bool = True
    # Whether only some of the records were looked through.
    partly: bool = False


@dataclass(slots=True)
class LogEvidence:
    """The events of one message, oldest first, and where there should be some and are none."""

    tenant: str
    message_id: str
    where: Conversation
    seq: int
    trace: DecisionTrace | None = None
    events: list[Received[Any]] = field(default_factory=list)
    contested: Sequence[ClaimContested] = ()
    quarantines: list[Received[QuarantineChanged]] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    graph: str | None = None  # why there is nothing of the graph
    others: Sequence[Conversation] = ()  # what else of the asker's has a message of this id, as far as it was seen

    def of(self, event: type[E]) -> list[Received[E]]:
        """The events of one type."""
        return [each for each in self.events if isinstance(each.event, event)]

    def parts(self) -> list[Received[PartFound]]:
        """The parts of the plan, whether they were sent alone or together."""
        sent = (each for each in self.events if isinstance(each.event, PartFound | PartsFound | PackInputs))
        return [part for each in sent for part in parts_of(each)]

    def opened(self) -> Received[JoinOpened] | None:
        """The terms of the pack, sent alone or with all that it is made of; as of when its memories were asked."""
        if (whole := self.first(PackInputs)) is None:
            return self.first(JoinOpened)
        asked = round(whole.event.opened_at.timestamp() * 1000)
        return cast("Received[JoinOpened]", whole)._replace(event=whole.event.terms, timestamp=asked)

    def first(self, event: type[E]) -> Received[E] | None:
        """The first event of one type."""
        return next(iter(self.of(event)), None)


def moment(ms: int) -> datetime:
    """The time of a record."""
    return time_of(ms)


def milliseconds(at: datetime) -> int:
    """A time as records have it."""
    return round(at.timestamp() * 1000)
