"""What a stage is to whoever runs it: a handler of records, and what some handlers add to that.

A handler returns its steps and sends nothing itself: they are sent in order, awaited, and only then is the record
acknowledged. It must be safe to run twice with the same record.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from schemas.envelope import Outgoing, Received, Step


class Handler(Protocol):
    """One stage."""

    async def handle(self, record: Received[Any]) -> Sequence[Step]:
        """The steps that follow from one record; raises `Rejected` for a wrong one, `Unavailable` to be asked again."""


@runtime_checkable
class FilteringHandler(Handler, Protocol):
    """A stage that few of the records it reads concern: asked first, it spares a task for each of the others."""

    def wants(self, event: Any) -> bool:
        """Whether the event concerns the stage."""


@runtime_checkable
class JoiningHandler(Handler, Protocol):
    """A stage that holds its inputs: told of its partitions, and asked when it needs time."""

    def assigned(self, partition: int, emitted: Iterable[Received[Any]]) -> None:
        """Begin a partition anew, knowing what its output partition already holds."""

    def revoked(self, partition: int) -> None:
        """Forget a partition."""

    def due(self, partition: int, now: datetime) -> bool:
        """Whether something of the partition waits for time that only the wall clock tells."""

    def tick(self, partition: int, now: datetime) -> Outgoing:
        """Time, as a record of the partition."""
