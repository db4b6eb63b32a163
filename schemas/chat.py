"""Turns of conversations: as published by clients, and as accepted by the depth stage.

`messages.in` takes three shapes: the ask payload with its four fields, the full chat message, and the wish to forget a
conversation. All forbid unknown fields: history comes from memory, never from the client.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import AwareDatetime, BeforeValidator, Field

from schemas.base import Absent, Event, Id, Source, StatedTime, Value, derive
from schemas.depth import DepthLevel, Reference, RequestOptions

# Parts of a message that are text, in OpenAI's chats and responses. Others (images, files, sounds) are the model's.
TEXT_PARTS = ("text", "input_text", "output_text")
CONTENT = 'is a text, or a list of parts, of which those of text are {"type": "text", "text": "…"}'


def text_of(content: object) -> str:
    """The text of a message's content; empty where it has only parts of other kinds, or none of a known form."""
    if isinstance(content, str):
        return content.strip()
    return "\n".join(_texts(content)).strip() if isinstance(content, list) else ""


def _texts(parts: Sequence[object]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, dict) and part.get("type") in TEXT_PARTS and isinstance(part.get("text"), str):
            yield part["text"]


def _read(content: object) -> object:
    """The text of a list of parts; anything else as it is. Raises `ValueError` for a list of something else."""
    if not isinstance(content, list):
        return content
    if not all(map(_is_part, content)):
        raise ValueError(CONTENT)
    return text_of(content)


def _is_part(part: object) -> bool:
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        return False
    return part["type"] not in TEXT_PARTS or isinstance(part.get("text"), str)


# Text inside. The JSON Schema stays that of a text: readers of the topic from before parts were taken know no other.
Content = Annotated[
    str, BeforeValidator(_read), Field(description="a text; of a list of parts, that of its text parts")
]


NOTES = "memories"
MAX_ID_CHARS = 256


def notes_of(user_id: str) -> str:
    """The id of the conversation in which facts of a user are noted that were said in no other: `memories:ana`."""
    name = f"{NOTES}:{user_id}"
    return name if len(name) <= MAX_ID_CHARS else f"{NOTES}:{derive(NOTES, user_id)}"


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


class AskPayload(Event):
    """A user's question with exactly the four fields of the public contract."""

    TYPE: ClassVar[str] = "chat.question-asked.v1"
    question: Content = Field(min_length=1)
    conversation_id: Id
    nickname: str | None = None
    client_id: Id


class ChatMessage(RequestOptions, Event):
    """A turn with its own ids: user, assistant or system; options count for a user's.

    `pack` false: it is remembered as said at `created_at`, and no pack is made and no answer given to a client for it.
    """

    TYPE: ClassVar[str] = "chat.message-received.v1"
    message_id: Absent[Id] = None
    role: Role
    content: Content
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
    pack: Absent[Literal[False]] = None


class ConversationForgotten(Event):
    """A conversation to forget: all that was said in it before, in its order; said in again, it begins anew.

    With `user_id` also who that user is: the profile, and the votes on depth.
    """

    TYPE: ClassVar[str] = "chat.conversation-forgotten.v1"
    conversation_id: Id
    client_id: Id
    forgotten: Literal[True] = True
    user_id: Absent[Id] = None


class TurnLink(Value):
    """What a user's turn does to earlier ones, `to`, which stated `old`: those words hold no more, but `new`."""

    kind: Literal["corrects"]
    to: tuple[Id, ...]
    old: Absent[str] = None
    new: Absent[str] = None


class Turn(Event):
    """A turn accepted by the depth stage, validated once; ordered by `seq` in its conversation.

    An assistant's turn has the final answer as its content and the `depth_level` of the question; `references` are
    those of the turn itself, `segment` the probability that an assistant's begins something new (0-1), absent where it
    only answers. `user_named` is false where the record named no user: `user_id` is then the client's, or that of the
    question. `pack` is false for a turn without a pack: no depth is decided for it.
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
    link: Absent[TurnLink] = None
    pack: Absent[Literal[False]] = None
    segment: Absent[float] = None


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
