"""Records of `messages.in`, in either of their two shapes, the turns made from them, and what these carry over."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from agents.core.conversation.answers import final_answer
from agents.core.conversation.memory import ConversationTurn, Session, Turns
from agents.core.depth.levels import D1_NAMES, DECIDING, DepthDecision, segment_of_answer
from schemas.base import Conversation, Source
from schemas.chat import ChatMessage, Role, Turn
from schemas.depth import AppliedOptions, DepthLevel, Parameter, Reference
from schemas.policy import ContextPolicy

SAID = ("answers", "pack_id", "status", "results", "legacy_answer", "narrator_failed", "unroutable", "pack")
# The weight above which a signal decides alone; a weaker one counts only for a message without content words.
SURE = 0.7


@dataclass(frozen=True, slots=True)
class Message:
    """A message with its author and log position; `answer` holds the fields that only an answer has.

    `seq` orders the conversation: the offset, but always behind what was said before, also where the topic was made
    again or got more partitions and its offsets are lower than those that the memory knows.
    """

    conversation: Conversation
    message_id: str
    role: Role
    content: str
    created_at: datetime
    user_id: str
    user_named: bool
    source: Source
    seq: int
    request_id: str | None
    tier: Literal["minimal", "standard", "deep"] | None
    locale: str | None
    answer: ChatMessage | None
    options: AppliedOptions | None = None

    @property
    def wants_pack(self) -> bool:
        """Whether it is a user's, and not only to be remembered."""
        return self.role == Role.USER and (self.answer is None or self.answer.pack is not False)


@dataclass(frozen=True, slots=True)
class CarriedTopic:
    """The subject of a message; `parameters` have their origin, the message's own at the end."""

    intent: str
    entity: str | None
    parameters: tuple[Parameter, ...]


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


def turn(message: Message, frame_id: str, lang: str, about: CarriedTopic, level: DepthLevel | None) -> Turn:
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
    message: Message,
    frame_id: str,
    lang: str,
    question: ConversationTurn | None,
    references: tuple[Reference, ...],
    history: Turns,
) -> Turn:
    """The accepted turn of an assistant or of the system; an answer has the depth level of its question."""
    said, level = message.answer, question.depth_level if question else None
    speaks = message.role == Role.ASSISTANT
    known = {
        "intent": said.intent if said else None,
        "entity": said.entity if said else None,
        "depth_level": level if speaks else None,
        "references": references or None,
        "segment": (segment_of_answer(message.content, history, lang) or None) if speaks else None,
    }
    return _accepted(message, frame_id, lang, known)


def _accepted(message: Message, frame_id: str, lang: str, known: Mapping[str, object]) -> Turn:
    said = {name: getattr(message.answer, name) for name in SAID} if message.answer is not None else {}
    return Turn(
        message_id=message.message_id,
        role=message.role,
        content=message.content,
        conversation_id=message.conversation.conversation_id,
        client_id=message.conversation.client_id,
        user_id=message.user_id,
        created_at=message.created_at,
        seq=message.seq,
        frame_id=frame_id,
        lang=lang,
        source=message.source,
        user_named=None if message.user_named else False,
        request_id=message.request_id,
        **known,
        **said,
    )


def topic_of(
    decision: DepthDecision,
    named: Sequence[Reference],
    session: Session,
    history: Turns,
    policy: ContextPolicy,
    as_of: datetime,
) -> CarriedTopic:
    """The subject from the message itself and, for a follow-up, from earlier turns."""
    own = [_parameter(each, "message") for each in named]
    if not policy.planner.enabled or not continues(decision, history):
        return CarriedTopic(decision.intent, decision.entity, tuple(own))
    oldest = as_of - timedelta(seconds=policy.ttl_seconds)
    kinds = {each.kind for each in named}
    recent = [each for each in session.references if each.kind not in kinds and each.at >= oldest]
    # "e o dividendo?" asks for something only as the message before it did.
    intends_nothing = all(sign.name in D1_NAMES for sign in decision.signals)
    return CarriedTopic(
        intent=(session.last_intent if intends_nothing else None) or decision.intent,
        entity=decision.entity or session.last_entity,
        parameters=(*(_parameter(each, "history") for each in recent), *own),
    )


def continues(decision: DepthDecision, history: Turns) -> bool:
    """Whether a message is a follow-up; a change of subject and a greeting are not."""
    if not history or decision.level is DepthLevel.D4:
        return False
    least = DECIDING if decision.intent in D1_NAMES or not decision.terms else SURE
    return any(sign.name in D1_NAMES and sign.weight >= least for sign in decision.signals)


def _parameter(reference: Reference, source: str) -> Parameter:
    return Parameter.model_validate({**reference.model_dump(), "source": source})
