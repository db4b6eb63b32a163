"""Utterances from the log or the working set, which give the same claims."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from agents.core.conversation.memory import ConversationTurn
from agents.core.language.citations import without_citations
from schemas.base import Conversation, Source
from schemas.chat import Role, Turn, TurnLink

Author = Literal["user", "system"]


@dataclass(frozen=True, slots=True)
class Utterance:
    """A message with author, time and log position; `author` is system for everything not from the user."""

    conversation: Conversation
    message_id: str
    author: Author
    text: str
    lang: str
    seq: int
    frame_id: str
    user_id: str
    at: datetime
    source: Source
    link: TurnLink | None = None

    @classmethod
    def from_turn(cls, turn: Turn, tenant: str) -> "Utterance":
        """The utterance of an accepted turn."""
        return cls(
            conversation=Conversation(tenant=tenant, client_id=turn.client_id, conversation_id=turn.conversation_id),
            message_id=turn.message_id,
            author="user" if turn.role is Role.USER else "system",
            text=_said(turn.content, turn.role),
            lang=turn.lang,
            seq=turn.seq,
            frame_id=turn.frame_id,
            user_id=turn.user_id,
            at=turn.created_at,
            source=turn.source,
            link=turn.link,
        )

    @classmethod
    def from_memory(cls, turn: ConversationTurn, conversation: Conversation) -> "Utterance":
        """The utterance of a remembered turn; raises `ValueError` for one that was never stored."""
        return cls(
            conversation=conversation,
            message_id=turn.message_id,
            author="user" if turn.role == "user" else "system",
            text=_said(turn.content, turn.role),
            lang=turn.lang or "",
            seq=turn.seq,
            frame_id=turn.frame_id,
            user_id=turn.user_id or "",
            at=turn.created_at,
            source=turn.place,
            link=turn.link,
        )


def _said(content: str, role: str) -> str:
    """What is claimed: `14 days [2]` claims 14 days."""
    return content if role == Role.USER else without_citations(content)
