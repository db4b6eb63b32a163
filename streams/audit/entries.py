"""Decisions, claims and corrections as flat entries for an analyst, each with its record's place in the log; pure."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from pydantic import AwareDatetime

from schemas import codec
from schemas.base import Value
from schemas.codec import Undecodable, Written
from schemas.envelope import Received
from schemas.memory import AuditDecision, ClaimAsserted, CorrectionIssued, PackDecision
from schemas.topics import BY_NAME
from streams.kafka.records import may_name


class AuditEntry(Value):
    """One audited event; `event` is its whole value as JSON, and what a kind has not is absent."""

    at: AwareDatetime
    topic: str
    partition: int
    offset: int
    kind: str
    id: str
    tenant: str
    client_id: str | None = None
    conversation_id: str | None = None
    user_id: str | None = None
    message_id: str | None = None
    level: str | None = None
    signals: str | None = None
    tokens: int | None = None
    latency_ms: int | None = None
    degraded: bool | None = None
    target: str | None = None
    text: str | None = None
    new_value: str | None = None
    event: str

    @property
    def place(self) -> str:
        """`topic[partition]@offset`."""
        return f"{self.topic}[{self.partition}]@{self.offset}"


class AuditFilter(Value):
    """Whose entries, of which conversation, user and time; None for all."""

    tenant: str
    client_id: str | None = None
    conversation_id: str | None = None
    user_id: str | None = None
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None

    def has(self, entry: AuditEntry) -> bool:
        """Whether an entry is wanted: every stated field must be the entry's."""
        of = (self.client_id, self.conversation_id, self.user_id)
        has = (entry.client_id, entry.conversation_id, entry.user_id)
        fits = all(wanted in (None, found) for wanted, found in zip(of, has, strict=True))
        return fits and entry.tenant == self.tenant and self._in_time(entry.at)

    def _in_time(self, at: datetime) -> bool:
        return (self.since is None or at >= self.since) and (self.until is None or at < self.until)


def may_hold(record: Written, wanted: AuditFilter) -> bool:
    """Whether a raw record may be of the wanted tenant, application, conversation and user."""
    stated = (wanted.tenant, wanted.client_id, wanted.conversation_id, wanted.user_id)
    return all(may_name(record, each) for each in stated if each is not None)


def entries_of(topic: str, records: Sequence[Written], wanted: AuditFilter) -> tuple[list[AuditEntry], int]:
    """The wanted entries of some records, and how many of these cannot be read."""
    found, unreadable = [], 0
    for record in records:
        try:
            entry = _entry(codec.decode_record(BY_NAME[topic], record))
        except Undecodable:
            unreadable += 1
            continue
        if wanted.has(entry):
            found.append(entry)
    return found, unreadable


def _entry(received: Received[Any]) -> AuditEntry:
    event = received.event
    fields = dict(_fields(event))
    fields.setdefault("user_id", received.envelope.user_id)
    return AuditEntry(
        at=received.logged_at,
        topic=received.topic,
        partition=received.partition,
        offset=received.offset,
        tenant=received.envelope.tenant,
        client_id=event.client_id,
        conversation_id=event.conversation_id,
        event=codec.dump(event).decode(),
        **fields,
    )


def _fields(event: Any) -> Iterator[tuple[str, Any]]:
    match event:
        case PackDecision():
            yield from {"kind": "decision", "id": event.id, "message_id": event.message_id}.items()
            yield from {"level": event.depth_level.value, "signals": " ".join(event.detected_signals)}.items()
            yield from {"tokens": event.tokens_used, "latency_ms": event.latency_ms}.items()
            yield "degraded", event.degraded
        case AuditDecision():
            yield from {"kind": event.kind, "id": event.id, "target": event.subject_id, "text": event.actor}.items()
        case ClaimAsserted():
            yield from {"kind": "claim", "id": event.claim_id, "message_id": event.message_id}.items()
            yield from {"user_id": event.user_id, "text": event.text, "new_value": event.value}.items()
        case CorrectionIssued():
            yield from {"kind": "correction", "id": event.correction_id, "message_id": event.message_id}.items()
            yield from {"user_id": event.user_id, "text": event.text, "new_value": event.new_value}.items()
            yield "target", f"{event.kind}/{event.target_id}"
