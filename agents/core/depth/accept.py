"""Records of `messages.in`, in either of their two shapes, and the turns made from them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from agents.core.conversation.answers import final_answer
from agents.core.conversation.memory import ConversationTurn, Turns
from agents.core.depth.carry_over import CarriedTopic
from schemas.base import Conversation, Source
from schemas.chat import ChatMessage, Role, Turn
from schemas.depth import DepthLevel
from schemas.policy import ContextPolicy
from schemas.references import Reference

SAID = ("answers", "pack_id", "status", "results", "legacy_answer", "narrator_failed", "unroutable")


@dataclass(frozen=True, slots=True)
class Message:
    """A message with its author and log position; `answer` holds the fields that only an answer has."""

    conversation: Conversation
    message_id: str
    role: Role
    content: str
    created_at: datetime
    user_id: str
    user_named: bool
    source: Source
    request_id: str | None
    tier: Literal["minimal", "standard", "deep"] | None
    locale: str | None
    answer: ChatMessage | None


def asked(message: Message, turns: Turns) -> ConversationTurn | None:
    """The question of an answer; the last one where the answer names no known question."""
    questions = [turn for turn in reversed(turns) if turn.role == "user" and turn.message_id]
    answers = message.answer.answers if message.answer else None
    return next((turn for turn in questions if turn.message_id == answers), questions[0] if questions else None)


def answering(message: Message, question: ConversationTurn | None, policy: ContextPolicy) -> Message:
    """The answer with its final text; without a user of its own it gets the user of the question."""
    if message.role == Role.ASSISTANT and message.answer is not None:
        message = replace(message, content=final_answer(message.answer, policy))
    if message.user_named or question is None or question.user_id is None:
        return message
    return replace(message, user_id=question.user_id)


def turn(message: Message, frame_id: str, lang: str, about: CarriedTopic, level: DepthLevel) -> Turn:
    """The accepted turn of a user; fields given by the message take precedence over derived ones."""
    said = message.answer
    own = tuple(
        Reference.model_validate(each.model_dump(exclude={"source"}))
        for each in about.parameters
        if each.source == "message"
    )
    known = {
        "intent": (said.intent if said else None) or about.intent,
        "entity": (said.entity if said else None) or about.entity,
        "depth_level": level,
        "references": own or None,
    }
    return _accepted(message, frame_id, lang, known)


def answer(
    message: Message, frame_id: str, lang: str, question: ConversationTurn | None, references: tuple[Reference, ...]
) -> Turn:
    """The accepted turn of an assistant or of the system; an answer has the depth level of its question."""
    said, level = message.answer, question.depth_level if question else None
    known = {
        "intent": said.intent if said else None,
        "entity": said.entity if said else None,
        "depth_level": level if message.role == Role.ASSISTANT else None,
        "references": references or None,
    }
    return _accepted(message, frame_id, lang, known)


def _accepted(message: Message, frame_id: str, lang: str, known: Mapping[str, Any]) -> Turn:
    said = {name: getattr(message.answer, name) for name in SAID} if message.answer is not None else {}
    return Turn(
        message_id=message.message_id,
        role=message.role,
        content=message.content,
        conversation_id=message.conversation.conversation_id,
        client_id=message.conversation.client_id,
        user_id=message.user_id,
        created_at=message.created_at,
        seq=message.source.offset,
        frame_id=frame_id,
        lang=lang,
        source=message.source,
        request_id=message.request_id,
        **known,
        **said,
    )
