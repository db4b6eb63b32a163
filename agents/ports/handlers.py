"""The interface of a stage: a handler of records, with optional extensions.

A handler returns its steps and sends nothing itself: they are sent in order, awaited, and only then is the record
acknowledged. It must be safe to run twice with the same record.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from schemas.base import Event
from schemas.envelope import Outgoing, Received, Step

Take = Callable[[Received[Any]], None]


class Handler(Protocol):
    """One stage."""

    async def handle(self, record: Received[Any]) -> Sequence[Step]:
        """The steps that follow from one record; raises `Rejected` for a bad record, `Unavailable` for a retry."""


@runtime_checkable
class FilteringHandler(Handler, Protocol):
    """A stage that needs few of the records it reads: a filter that saves a task for each of the others."""

    def wants(self, event: Event) -> bool:
        """Whether the stage handles the event."""


@runtime_checkable
class LedgerHandler(Handler, Protocol):
    """A stage that reads its own output when it starts a partition."""

    def assigned(self, partition: int) -> Take:
        """Start a partition with empty state; returns what takes each recent record of its output, oldest first.

        A record is released as soon as it is taken: an output partition may hold gigabytes of decoded records.
        """

    def revoked(self, partition: int) -> None:
        """Drop the state of a partition."""


@runtime_checkable
class LookbackHandler(LedgerHandler, Protocol):
    """A join that may be asked for what has been in its output for longer than was read when it started."""

    def unknown_since(self, record: Received[Any]) -> datetime | None:
        """The time since which the output is to be known before the record is handled, where it is not."""

    def look_back(self, partition: int) -> Take:
        """What takes each record of the output since then, oldest first; what is known already changes nothing."""

    def remember(self, partition: int, since: datetime) -> None:
        """Know the output since a time, now that all of it was taken."""


@runtime_checkable
class FailureHandler(Handler, Protocol):
    """A stage of which others wait for what it makes of a record: they are told where nothing will come."""

    def failed(self, record: Received[Any], why: str) -> Sequence[Outgoing]:
        """What to send after a record became a dead letter; the same for the same record."""


@runtime_checkable
class JoinHandler(LedgerHandler, Protocol):
    """A stage that waits for several inputs by a deadline: it needs ticks."""

    def due(self, partition: int, now: datetime) -> bool:
        """Whether the partition needs a tick: a deadline has passed by the wall clock only."""

    def tick(self, partition: int, now: datetime) -> Outgoing:
        """A tick record for the partition."""
