"""What is said in a conversation: what outsiders publish, and the turn the depth stage accepted.

`messages.in` takes two shapes: the ask payload with its four fields, and the full chat message.
Both forbid fields they do not know: history comes from memory, never from the client.
"""

from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import AwareDatetime, Field

from schemas.base import Absent, Event, Id, Source
from schemas.depth import DepthLevel
from schemas.references import Reference


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


class AskPayload(Event):
    """A user's question with exactly the four fields of the public contract."""

    TYPE: ClassVar[str] = "chat.question-asked.v1"
    question: str = Field(min_length=1)
    conversation_id: Id
    nickname: str | None = None
    client_id: Id


class ChatMessage(Event):
    """A turn with its own ids: user, assistant or system.

    `look_up`: `always` where memory is searched whatever the words, also for what seems to need nothing of it.
    """

    TYPE: ClassVar[str] = "chat.message-received.v1"
    message_id: Absent[Id] = None
    role: Role
    content: str
    conversation_id: Id
    client_id: Id
    created_at: Absent[AwareDatetime] = None
    answers: Absent[Id] = None
    pack_id: Absent[Id] = None
    status: Absent[str] = None
    intent: Absent[str] = None
    entity: Absent[str] = None
    results: Absent[object] = None
    legacy_answer: Absent[str] = None
    narrator_failed: Absent[bool] = None
    unroutable: Absent[bool] = None
    look_up: Absent[Literal["always"]] = None


class Turn(Event):
    """A turn as the depth stage accepted it, validated once: one order per conversation by `seq`.

    The content of an assistant's is what was answered in the end, its `depth_level` that of the question;
    `references` are what the turn itself names.
    """

    TYPE: ClassVar[str] = "chat.turn-accepted.v1"
    message_id: Id
    role: Role
    content: str
    conversation_id: Id
    client_id: Id
    user_id: Id
    created_at: AwareDatetime
    seq: int = Field(ge=0)
    frame_id: Id
    lang: str
    source: Source
    depth_level: Absent[DepthLevel] = None
    request_id: Absent[str] = None
    answers: Absent[Id] = None
    pack_id: Absent[Id] = None
    status: Absent[str] = None
    intent: Absent[str] = None
    entity: Absent[str] = None
    results: Absent[object] = None
    legacy_answer: Absent[str] = None
    narrator_failed: Absent[bool] = None
    unroutable: Absent[bool] = None
    references: Absent[tuple[Reference, ...]] = None
