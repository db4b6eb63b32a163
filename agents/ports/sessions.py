"""Ports of the stores of conversations, votes and tool sessions; all are views of the log.

Every method takes the tenant, alone or in a `Conversation`; adapters raise `Unavailable` when a store does not answer.
"""

from typing import Protocol

from agents.core.conversation.memory import ConversationTurn, Opened, Session, Turns
from schemas.base import Conversation
from schemas.learning import DepthVote, Votes
from schemas.tool_session import ToolSession


class WorkingSets(Protocol):
    """Turns and session of each conversation: a view of the log, kept per frame."""

    async def open(self, conversation: Conversation, message_id: str, limit: int) -> Opened:
        """The session, its current frame's last `limit` turns, and the outcome if this message was seen before."""

    async def frame_of(self, conversation: Conversation, message_id: str) -> str | None:
        """The frame of an earlier message, while it is still stored."""

    async def append(
        self,
        conversation: Conversation,
        frame_id: str,
        turn: ConversationTurn,
        session: Session,
        outcome: bytes,
        keep: int,
    ) -> bytes | None:
        """Store a turn in its frame (the last `keep` are kept), the new session and the outcome, atomically.

        A message id that was stored before changes nothing: its first outcome is returned, of a new one None.
        """

    async def forget(self, conversation: Conversation, up_to_seq: int) -> None:
        """Erase all turns and outcomes, atomically; one forgotten up to there before keeps what was said since."""

    async def turns(self, conversation: Conversation, frame_id: str, *, up_to_seq: int, limit: int) -> Turns:
        """The last `limit` turns of a frame with `seq <= up_to_seq`, oldest first."""

    async def session_turns(self, conversation: Conversation, *, up_to_seq: int, limit: int) -> Turns:
        """The last `limit` turns of all frames with `seq <= up_to_seq`, ordered by seq."""


class SignalWeights(Protocol):
    """The users' votes on depth, by tenant: a view of `memory.votes`."""

    async def votes(self, tenant: str) -> Votes:
        """All votes of the tenant by pattern, with their times; may lag some seconds behind the log."""

    async def add(self, tenant: str, vote: DepthVote) -> None:
        """Store a vote; a repeat changes nothing."""

    async def remove(self, tenant: str, user_id: str) -> int:
        """Remove the votes of a user; how many these were."""


class ToolSessions(Protocol):
    """The state of each session for tool calls, with optimistic locking."""

    async def load(self, conversation: Conversation) -> tuple[ToolSession, str]:
        """The session, and its version for `save`."""

    async def save(self, conversation: Conversation, session: ToolSession, version: str) -> bool:
        """Replace the session of that version; False when it has changed meanwhile."""
