"""What a store must offer to be a view of the log that can be restored; only the plumbing asks for it.

The agents' own ports are in `agents.ports.sessions`: an agent reads and writes a view, and never restores it.
"""

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from datetime import timedelta
from typing import Protocol, TypeVar

from agents.core.conversation.session_state import TurnOutcome, WorkingSetState
from agents.ports.sessions import SignalWeights, ToolSessions, WorkingSets
from schemas.base import Conversation
from schemas.tool_session import ToolSession

R_co = TypeVar("R_co", covariant=True)
Place = Callable[[Conversation], int]


class RestorableView(Protocol):
    """A view that knows which partitions of the log it holds completely."""

    async def incomplete_partitions(self, partitions: Collection[int]) -> frozenset[int]:
        """Those never restored, emptied since, or of a server that may have lost its last writes."""

    async def start_restore(self, partition: int) -> str:
        """A token to restore with; the partition is incomplete from now on, and earlier tokens are void."""

    async def complete_restore(self, partition: int, token: str) -> None:
        """The partition is complete; raises `ViewIncomplete` for a void token."""


class RestorableWorkingSets(WorkingSets, RestorableView, Protocol):
    """Working sets that can be restored from `conversation.turns`."""

    def follow(self, partitions: int, place: Place) -> None:
        """From now on every call raises `ViewIncomplete` where the conversation's partition is incomplete."""

    async def load(self, conversation: Conversation, message_id: str) -> tuple[WorkingSetState, bytes | None]:
        """All that is stored of the session and its current frame, and the outcome if this message was seen before."""

    async def restore(
        self,
        conversation: Conversation,
        partition: int,
        token: str,
        outcomes: Sequence[TurnOutcome],
        keep: int,
        forgotten: int = -1,
    ) -> int:
        """Add the turns that a conversation lacks, and its session; how many it lacked.

        Turns that are there are kept, but for those up to `forgotten`, so a repeat changes nothing. Raises
        `ViewIncomplete` for a void token.
        """


class RestorableToolSessions(ToolSessions, RestorableView, Protocol):
    """Tool sessions that can be restored from the topics of tools."""

    def follow(self, partitions: int, place: Place) -> None:
        """From now on `load` raises `ViewIncomplete` where the partition is incomplete, and `save` is False."""

    async def restore(
        self,
        conversation: Conversation,
        partition: int,
        token: str,
        made: Callable[[ToolSession], ToolSession],
    ) -> bool:
        """Replace a session by what is made of it; whether that differs. Raises `ViewIncomplete` for a void token."""


class RestorableWeights(SignalWeights, RestorableView, Protocol):
    """Votes that can be restored from `memory.votes`: adding one again changes nothing."""

    def follow(self, partitions: int) -> None:
        """Set the number of partitions of `memory.votes`."""


class ViewLog(Protocol[R_co]):
    """The records that a view is restored from."""

    def read(
        self, partitions: Collection[int], span: timedelta | None
    ) -> AsyncGenerator[Mapping[int, Sequence[R_co]], None]:
        """The records of each partition: of its last `span` of time, with None all.

        In portions, each with all of some partitions. Raises `Unavailable` when the broker does not answer.
        """
