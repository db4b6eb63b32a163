"""Turns of conversations: as published by clients, and as accepted by the depth stage.

`messages.in` takes three shapes: the ask payload with its four fields, the full chat message, and the wish to forget a
conversation. All forbid unknown fields: history comes from memory, never from the client.
"""

from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import AwareDatetime, Field

from schemas.base import Absent, Event, Id, Source, StatedTime, Value
from schemas.depth import DepthLevel, Reference, RequestOptions


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


class ChatMessage(RequestOptions, Event):
    """A turn with its own ids: user, assistant or system; options count for a user's."""

    TYPE: ClassVar[str] = "chat.message-received.v1"
    message_id: Absent[Id] = None
    role: Role
    content: str
    conversation_id: Id
    client_id: Id
    created_at: Absent[StatedTime] = None
    answers: Absent[Id] = None
    pack_id: Absent[Id] = None
    status: Absent[str] = None
    intent: Absent[str] = None
    entity: Absent[str] = None
    results: Absent[object] = None
    legacy_answer: Absent[str] = None
    narrator_failed: Absent[bool] = None
    unroutable: Absent[bool] = None


class ConversationForgotten(Event):
    """A conversation to forget: all that was said in it before, in its order; said in again, it begins anew.

    With `user_id` also who that user is: the profile, and the votes on depth.
    """

    TYPE: ClassVar[str] = "chat.conversation-forgotten.v1"
    conversation_id: Id
    client_id: Id
    forgotten: Literal[True] = True
    user_id: Absent[Id] = None


class Turn(Event):
    """A turn accepted by the depth stage, validated once; ordered by `seq` in its conversation.

    An assistant's turn has the final answer as its content and the `depth_level` of the question; `references` are
    those of the turn itself. `user_named` is false where the record named no user: `user_id` is then the client's, or
    that of the question.
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
    user_named: Absent[Literal[False]] = None
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


class AnswerMeta(Value):
    """The subject of an answer and its question; ids and names, never the text of a turn."""

    intent: str | None = None
    entity: str | None = None
    lang: str
    frame_id: Id
    depth_level: Absent[DepthLevel] = None
    answers: Absent[Id] = None
    pack_id: Absent[Id] = None


class AnswerGiven(Event):
    """The answer to one question: exactly these four fields. Empty for an unroutable question."""

    TYPE: ClassVar[str] = "chat.answer-given.v1"
    status: str
    results: object = None
    meta: AnswerMeta
    answer: str
