"""Sources to quarantine: whether the log knows one, which are quarantined, and the records that change it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, get_args
from uuid import uuid4

from aiokafka import AIOKafkaProducer

from agents.core.quarantine.sources import SourceName
from schemas import codec
from schemas.base import derive, entity_key
from schemas.envelope import Envelope, Outgoing
from schemas.learning import QuarantineChanged, QuarantinedMessage, SourceKind
from schemas.memory import AuditDecision
from schemas.topics import (
    CONVERSATION_TURNS,
    MEMORY_CLAIMS,
    MEMORY_DECISIONS,
    MEMORY_KNOWLEDGE,
    MEMORY_QUARANTINES,
    Topic,
)
from streams.edges.client import log_lookup
from streams.edges.client.errors import USAGE, CommandFailed, nearest
from streams.edges.client.log_lookup import UnknownId

KINDS: tuple[SourceKind, ...] = get_args(SourceKind)
URN = "urn:fathom:cli"
STAGE = "quarantine"
# So many messages fit into one record with room.
MESSAGES_A_RECORD = 1_000
MAX_NAMES = 100_000
# What the log names a source by: the topic, and the names that one of its events has.
NAMES: Mapping[SourceKind, tuple[Topic, Callable[[Any], str]]] = {
    "document": (MEMORY_KNOWLEDGE, lambda event: str(event.document_id)),
    "feed": (MEMORY_KNOWLEDGE, lambda event: str(event.document_id)),
    "conversation": (CONVERSATION_TURNS, lambda event: str(event.conversation_id)),
    "user": (CONVERSATION_TURNS, lambda event: str(event.user_id)),
    "message": (CONVERSATION_TURNS, lambda event: str(event.message_id)),
    "claim": (MEMORY_CLAIMS, lambda event: str(event.claim_id)),
}


@dataclass(slots=True)
class KnownSource:
    """What the log knows of a source: an event of it, if any, and other names of its kind."""

    event: Any = None
    names: set[str] = field(default_factory=set)


def source_of(text: str, client: str) -> SourceName:
    """The source that a text names as KIND:ID; raises `CommandFailed`."""
    kind, _, name = text.partition(":")
    found = next((each for each in KINDS if each == kind), None)
    if found is None or not name.strip():
        raise CommandFailed(
            f"--source {text}: write KIND:ID, with one of {', '.join(KINDS)} as the kind, as in document:ID"
            f"{nearest(kind, KINDS) if found is None and name else ''}",
            USAGE,
        )
    return SourceName(found, name.strip(), client if found == "conversation" else None)


async def look_up(bootstrap: str, tenant: str, source: SourceName) -> Any:
    """The newest event of a source; None where the log is too long to be searched.

    Raises `UnknownId` for one that the whole log does not know, with a near one.
    """
    topic, name = NAMES[source.kind]
    found, whole = KnownSource(), False
    async with aclosing(log_lookup.newest_first(bootstrap, topic)) as windows:
        async for records, last in windows:
            whole = last
            for one in log_lookup.of_tenant(topic, records, tenant, None):
                if _is_of(source, one.event, name(one.event)):
                    return one.event
                if len(found.names) < MAX_NAMES:
                    found.names.add(name(one.event))
    if whole:
        of = f" of client {source.client_id!r}" if source.client_id else ""
        raise UnknownId(
            f"tenant {tenant!r} has no {source.kind} {source.id!r}{of}{nearest(source.id, found.names)}; nothing was "
            "changed: name it as the explanation of a message or a pack does (`fathom explain`)"
        )
    return None


def _is_of(source: SourceName, event: Any, name: str) -> bool:
    if source.kind == "feed":
        return name.startswith(source.id)
    return name == source.id and source.client_id in (None, getattr(event, "client_id", None))


@dataclass(frozen=True, slots=True)
class QuarantineOrder:
    """Who wants what of a source, and why."""

    tenant: str
    source: SourceName
    asked_by: str
    reason: str = ""

    def changes(
        self, *, lifted: bool, at: datetime, messages: Sequence[QuarantinedMessage] = ()
    ) -> Iterator[QuarantineChanged]:
        """The events that bring it about: one, or more where there are many messages."""
        for start in range(0, max(len(messages), 1), MESSAGES_A_RECORD):
            yield QuarantineChanged(
                source_kind=self.source.kind,
                source_id=self.source.id,
                client_id=self.source.client_id,
                state="lifted" if lifted else "quarantined",
                messages=tuple(messages[start : start + MESSAGES_A_RECORD]),
                reason=self.reason,
                asked_by=self.asked_by,
                issued_at=at,
            )

    def audit(self, *, lifted: bool, at: datetime) -> AuditDecision:
        """The record of it for audit; of the source its name only."""
        detail = {"source_kind": self.source.kind, "reason": self.reason}
        if self.source.client_id is not None:
            detail["of_client"] = self.source.client_id
        return AuditDecision(
            kind="quarantine-lifted" if lifted else "quarantine",
            id=derive("quarantine", self.tenant, *_parts(self.source), lifted, at.isoformat()),
            actor=self.asked_by,
            subject_id=self.source.id,
            detail=detail,
            created_at=at,
        )


def _parts(source: SourceName) -> tuple[str, str, str]:
    return source.kind, source.client_id or "", source.id


async def send(
    producer: AIOKafkaProducer,
    order: QuarantineOrder,
    *,
    lifted: bool = False,
    messages: Sequence[QuarantinedMessage] = (),
    audited: bool = True,
) -> None:
    """Write a change, and its audit; the broker has them when this returns."""
    at = datetime.now(UTC)
    key = entity_key(order.tenant, derive(*_parts(order.source)))
    steps = [(MEMORY_QUARANTINES, event) for event in order.changes(lifted=lifted, at=at, messages=messages)]
    sent: list[tuple[Topic, QuarantineChanged | AuditDecision]] = [*steps]
    if audited:
        sent.append((MEMORY_DECISIONS, order.audit(lifted=lifted, at=at)))
    for number, (topic, event) in enumerate(sent):
        named = str(uuid4())
        cause = Envelope(named, event.TYPE, URN, at, order.tenant, named)
        record_key, value, headers = codec.encode(Outgoing(topic, key, event, cause, str(number)), STAGE)
        await producer.send_and_wait(topic.name, value, key=record_key, headers=headers)
