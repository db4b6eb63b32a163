"""Which packs, answers and decisions used a source: the log is read from its beginning, in the order of time.

What was answered from such a pack stems from the source, too, and so does what was made from that answer.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from aiokafka import ConsumerRecord

from agents.core.quarantine.sources import Place, Quarantine
from schemas import codec
from schemas.chat import AnswerGiven, Role, Turn
from schemas.codec import Undecodable
from schemas.envelope import Received
from schemas.learning import ConsultationRecorded, QuarantinedMessage
from schemas.memory import ClaimAsserted, PackDecision
from schemas.packs import ContextPack
from schemas.topics import (
    ANSWERS_OUT,
    BY_NAME,
    CONTEXT_PACKS,
    CONVERSATION_TURNS,
    MEMORY_CLAIMS,
    MEMORY_CONSULTATIONS,
    MEMORY_DECISIONS,
    MEMORY_KNOWLEDGE,
    MEMORY_SUMMARIES,
)
from streams.replay.log import Log
from streams.replay.timeline import Timeline
from streams.usage.members import SourceMembers, ids_in, placed

UseKind = Literal["pack", "decision", "deep answer", "kept answer", "answer"]
SHARED = "_public"
# What stems from a source by itself, and what may be made of it; of equal times the cause comes first.
SOURCES = (MEMORY_KNOWLEDGE, CONVERSATION_TURNS, MEMORY_CLAIMS, MEMORY_SUMMARIES)
USERS = (CONTEXT_PACKS, CONVERSATION_TURNS, MEMORY_CLAIMS, MEMORY_CONSULTATIONS, ANSWERS_OUT)


@dataclass(frozen=True, slots=True)
class Use:
    """A record that has something of a source: where it is, whose message it is about, and what it has."""

    kind: UseKind
    topic: str
    partition: int
    offset: int
    at: datetime
    message_id: str
    conversation_id: str | None
    client_id: str | None
    items: tuple[str, ...] = ()


@dataclass(slots=True)
class UsageReport:
    """All uses of a source, in the order of time; `answers` are the messages that were answered from them."""

    members: SourceMembers
    uses: list[Use] = field(default_factory=list)
    answers: list[QuarantinedMessage] = field(default_factory=list)
    packs: set[str] = field(default_factory=set)
    messages: set[str] = field(default_factory=set)
    speakers: dict[Place, set[str]] = field(default_factory=dict)
    seconds: float = 0.0

    def count(self, kind: UseKind) -> int:
        """How many uses of a kind there are."""
        return sum(each.kind == kind for each in self.uses)

    def hidden_with_it(self) -> tuple[QuarantinedMessage, ...]:
        """The messages that a quarantine has to name; those of a user only where others speak, too."""
        answers = {each.message_id for each in self.answers}
        alone = {place for place, users in self.speakers.items() if len(users) == 1}
        return tuple(
            each
            for each in self.members.messages.values()
            if each.message_id in answers or (each.client_id, each.conversation_id) not in alone
        )


async def usage(log: Log, tenant: str, quarantine: Quarantine) -> UsageReport:
    """The uses of a source in a tenant's log; of everybody's source in that of all. Raises `Unavailable`."""
    found = UsageReport(SourceMembers(quarantine))
    for topic in SOURCES:
        async for batch in log.read(await log.spans(topic.name)):
            for received in _of_tenant(batch, tenant):
                _learn(found, received)
    timeline = await Timeline.of(log, [topic.name for topic in USERS])
    async for window in timeline.windows():
        # One by one: what a record adds to the source decides whether the next one matters.
        for record in window:
            for received in _of_tenant([record], tenant) if _matters(found, record) else ():
                _add(found, received)
    async for received in _decisions(log, found.packs):
        if tenant in (received.envelope.tenant, SHARED):
            found.uses.append(_use("decision", received, received.event))
    found.uses.sort(key=lambda each: (each.at, each.topic, each.partition, each.offset))
    return found


def _learn(found: UsageReport, received: Received[Any]) -> None:
    """What stems from the source by itself; a message and a claim are hidden with their places."""
    event, members = received.event, found.members
    if isinstance(event, Turn) and members.source.kind == "user":
        # Where others speak, too, a summary may be theirs.
        place = (event.client_id, event.conversation_id)
        found.speakers.setdefault(place, set()).add(event.user_id)
    if not members.learn(received):
        return
    if isinstance(event, Turn) and members.source.kind in ("user", "message"):
        members.add_message(placed(event))
    if isinstance(event, ClaimAsserted) and event.claim_id == members.source.id:
        members.add_message(placed(event))


def _matters(found: UsageReport, record: ConsumerRecord) -> bool:
    if record.topic in (CONTEXT_PACKS.name, MEMORY_CONSULTATIONS.name, MEMORY_CLAIMS.name):
        return found.members.may_be_in(record.value)
    return not found.messages.isdisjoint(ids_in(record.value or b"")) or found.members.may_be_in(record.value)


def _add(found: UsageReport, received: Received[Any]) -> None:
    match received.event:
        case ContextPack() as pack:
            if items := found.members.in_pack(pack):
                found.packs.add(pack.pack_id)
                found.messages.add(pack.message_id)
                found.uses.append(_use("pack", received, pack, items))
        case Turn() as turn:
            if turn.role is Role.ASSISTANT and turn.answers in found.messages:
                found.answers.append(placed(turn))
                found.members.add_message(placed(turn))
                found.uses.append(_use("answer", received, turn))
        case ConsultationRecorded() as kept:
            if items := found.members.in_consultation(kept):
                found.uses.append(_use("kept answer", received, kept, items))
        case AnswerGiven() as answer:
            if items := found.members.in_answer(answer):
                found.uses.append(_use("deep answer", received, answer, items))
        case _:
            found.members.learn(received)


def _use(kind: UseKind, received: Received[Any], event: Any, items: Sequence[str] = ()) -> Use:
    about = event.meta.answers if isinstance(event, AnswerGiven) else getattr(event, "message_id", "")
    return Use(
        kind=kind,
        topic=received.topic,
        partition=received.partition,
        offset=received.offset,
        at=received.logged_at,
        message_id=about or "",
        conversation_id=getattr(event, "conversation_id", None),
        client_id=getattr(event, "client_id", None),
        items=tuple(items),
    )


async def _decisions(log: Log, packs: set[str]) -> AsyncIterator[Received[PackDecision]]:
    """The decisions on these packs."""
    marks = {pack.encode() for pack in packs}
    async for batch in log.read(await log.spans(MEMORY_DECISIONS.name) if marks else []):
        wanted = [each for each in batch if _pack_of(each.value or b"") in marks]
        for received in _decoded(wanted):
            if isinstance(received.event, PackDecision):
                yield received


def _pack_of(value: bytes) -> bytes:
    """The id of the pack that a decision is on; pack ids are derived, and plain in JSON."""
    return value.partition(b'"pack_id":"')[2].partition(b'"')[0]


def _of_tenant(records: Sequence[ConsumerRecord], tenant: str) -> list[Received[Any]]:
    return [each for each in _decoded(records) if tenant == SHARED or each.envelope.tenant in (tenant, SHARED)]


def _decoded(records: Sequence[ConsumerRecord]) -> list[Received[Any]]:
    """The events; undecodable records are an outsider's and had no effect."""
    found: list[Received[Any]] = []
    for record in records:
        try:
            found.append(codec.decode_record(BY_NAME[record.topic], record))
        except Undecodable:
            continue
    return found
