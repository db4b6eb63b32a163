"""Turns that are remembered without a pack, as those of a chat from before: accepted as others, and nothing decided."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from agents.core.conversation import memory as rules
from agents.core.conversation import turn_links
from agents.core.conversation.memory import Opened, Turns
from agents.core.conversation.session_state import TurnOutcome
from agents.core.depth import accept, levels
from agents.core.depth.accept import Message
from schemas.depth import Reference
from schemas.policy import ContextPolicy

# By how much the clock of a sender may be ahead.
TOLERATED = timedelta(minutes=1)


def is_from_the_future(message: Message, logged_at: datetime) -> bool:
    """Whether it states a time after it was sent: what was said already is dated before."""
    return message.answer is not None and message.answer.pack is False and message.created_at > logged_at + TOLERATED


def remembered(
    message: Message,
    opened: Opened,
    history: Turns,
    named: Sequence[Reference],
    *,
    lang: str,
    policy: ContextPolicy,
) -> TurnOutcome:
    """The outcome of a user's message without a pack: its subject as the words tell it, in the frame that is open."""
    session = opened.session
    frame_id = session.frame_id or rules.first_frame(message.conversation, session.forgotten)
    decision = levels.classify(message.content, history, lang=lang, anchor=session.anchor)
    about = accept.topic_of(decision, named, session, history, policy, message.created_at)
    return turn_links.linked(TurnOutcome(turn=accept.turn(message, frame_id, lang, about, None)), opened.turns)
