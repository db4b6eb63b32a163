"""What the erasure of a conversation covers: a rule over positions, so that the order of records does not matter."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from schemas.base import Conversation, Event
from schemas.chat import Turn
from schemas.envelope import Received
from schemas.learning import ConsultationRecorded
from schemas.memory import (
    AuditDecision,
    ClaimAsserted,
    CorrectionIssued,
    KnowledgeRecorded,
    PackDecision,
    ProfileEntry,
    SummaryMade,
)


@dataclass(frozen=True, slots=True)
class Stem:
    """The conversation that a record stems from, its message's position if it has one, and its time."""

    conversation: Conversation
    seq: int | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Erasure:
    """A conversation is forgotten up to a position of its messages; what has no position, up to a time."""

    up_to_seq: int
    issued_at: datetime

    def covers(self, seq: int | None, at: datetime) -> bool:
        """Whether something of the conversation is erased."""
        return at <= self.issued_at if seq is None else seq <= self.up_to_seq


def person(tenant: str, user_id: str) -> Conversation:
    """The place under which the erasure of who a user is is noted: of a conversation in which nobody speaks."""
    return Conversation(tenant=tenant, client_id=user_id, conversation_id=f"who-is:{user_id}")


def stem_of(record: Received[Any]) -> Stem | None:
    """What a record stems from; None for one that stems from no conversation and is nobody's profile."""
    event = record.event
    if isinstance(event, KnowledgeRecorded):
        users = [each.profile.user_id for each in event.entries if isinstance(each, ProfileEntry)]
        return Stem(person(record.envelope.tenant, users[0]), None, event.recorded_at) if users else None
    client_id, conversation_id = getattr(event, "client_id", None), getattr(event, "conversation_id", None)
    place = _place(event)
    if client_id is None or conversation_id is None or place is None:
        return None
    return Stem(record.conversation(client_id, conversation_id), *place)


def _place(event: Event) -> tuple[int | None, datetime] | None:
    match event:
        case Turn() | PackDecision():
            return event.seq, event.created_at
        case ClaimAsserted():
            return event.seq, event.asserted_at
        case SummaryMade():
            return event.to_seq, event.made_at
        case CorrectionIssued():
            return event.seq, event.issued_at
        case AuditDecision():
            return None, event.created_at
        case ConsultationRecorded():
            return None, event.consulted_at
        case _:
            return None
