"""Views of the log that can be made whole again, and the logs that they are made from: what only the plumbing asks for.

The agents' own ports are in `agents.ports.sessions`: an agent reads and writes a view, and never restores it.
"""

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any, Protocol

from agents.core.conversation.session_state import RecordedOutcome, TurnOutcome
from agents.ports.sessions import SignalWeights, ToolSessions, WorkingSets
from schemas.base import Conversation
from schemas.envelope import Received
from schemas.learning import DepthVote
from schemas.tool_session import ToolSession

Place = Callable[[Conversation], int]


class RestorableView(Protocol):
    """A view that knows of which partitions it lacks nothing that the log has."""

    async def missing(self, partitions: Collection[int]) -> frozenset[int]:
        """Those that are not whole: never restored, or emptied, or the server may have lost writes since."""

    async def begin(self, partition: int) -> str:
        """A token to restore with; the partition is not whole from now on, and an earlier token is worth nothing."""

    async def finish(self, partition: int, token: str) -> None:
        """The partition is whole; raises `Behind` when the token is worth nothing any more."""


class Restorable(WorkingSets, RestorableView, Protocol):
    """Working sets that can be made whole again from `conversation.turns` (CF-85)."""

    def follow(self, partitions: int, place: Place) -> None:
        """From now on every call raises `Behind` where the conversation's partition is not whole."""

    async def restore(
        self, conversation: Conversation, partition: int, token: str, outcomes: Sequence[TurnOutcome], keep: int
    ) -> int:
        """Add what is lacking of a conversation, and its session; how many turns were lacking.

        What is there is kept, so it may be repeated. Raises `Behind` when the token is worth nothing any more.
        """


class TurnLog(Protocol):
    """What the depth stage has decided, as the log has it."""

    def read(
        self, partitions: Collection[int], span: timedelta | None
    ) -> AsyncGenerator[Mapping[int, Sequence[RecordedOutcome]], None]:
        """The turns of each partition, with their depth: of its last `span` of time, with None all.

        In portions, each the whole of some partitions. Raises `Unavailable` when the broker does not answer.
        """


class RestorableToolSessions(ToolSessions, RestorableView, Protocol):
    """Tool sessions that can be made whole again from the topics of tools (CF-54)."""

    def follow(self, partitions: int, place: Place) -> None:
        """From now on `load` raises `Behind` where the conversation's partition is not whole, and `save` is False."""

    async def restore(
        self,
        conversation: Conversation,
        partition: int,
        token: str,
        made: Callable[[ToolSession], ToolSession],
    ) -> bool:
        """Replace a session by what is made of it; whether that differs. Raises `Behind` for a token worth nothing."""


class ToolLog(Protocol):
    """What tools were asked, answered and allowed, as the log has it."""

    async def read(self, partitions: Collection[int], span: timedelta | None) -> Mapping[int, Sequence[Received[Any]]]:
        """Verdicts, confirmations and results of each partition: of its last `span` of time, with None all.

        Raises `Unavailable` when the broker does not answer.
        """


class RestorableWeights(SignalWeights, RestorableView, Protocol):
    """Votes that can be made whole again from `memory.decisions`: each is added once more, which changes nothing."""

    def follow(self, partitions: int) -> None:
        """How many partitions `memory.decisions` has."""


class VoteLog(Protocol):
    """What users said about depth, as the log has it."""

    def read(self, partitions: Collection[int]) -> AsyncGenerator[tuple[str, DepthVote], None]:
        """All votes of these partitions of `memory.decisions`, each with its tenant.

        Raises `Unavailable` when the broker does not answer.
        """
