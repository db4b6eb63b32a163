"""Gathering of what log and graph hold of one message: its decision tells where to look, and little is read there.

A message is located by its decision in the graph, without one by a search of `memory.decisions` backwards. Each topic
is then read from the message's time on, in the one partition of its key, until what it should hold is found.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from agents.errors import Unavailable
from agents.ports.graph import Asker, DecisionReader
from schemas import codec
from schemas.base import PUBLIC_TENANT, Conversation, Source, entity_key
from schemas.chat import Turn
from schemas.codec import Undecodable
from schemas.depth import DepthClassified
from schemas.envelope import Received
from schemas.items import ClaimItem
from schemas.memory import ClaimAsserted, CorrectionIssued, PackDecision
from schemas.packs import ContextPack
from schemas.retrieval import JoinOpened, RetrievalPlan
from schemas.tools import ToolCallRequested, ToolCallResolved
from schemas.topics import (
    BY_NAME,
    CONTEXT_PACKS,
    CONVERSATION_TURNS,
    DEPTH_CLASSIFIED,
    MEMORY_CLAIMS,
    MEMORY_CORRECTIONS,
    MEMORY_DECISIONS,
    MEMORY_ERASURES,
    MEMORY_QUARANTINES,
    MESSAGES_IN,
    PACKS_PARTIAL,
    RETRIEVAL_PLANS,
    TOOLS_CALLS_IN,
    TOOLS_CALLS_OUT,
    Topic,
)
from streams.explanations.evidence import LogEvidence, Missing, milliseconds, moment
from streams.explanations.excerpts import LogExcerpts, LoggedRecord
from streams.kafka.records import may_name

# How long after its decision a pack may be revised; and what clocks of workers may differ by, or a worker may lag.
REVISED_FOR, BEFORE, AFTER = timedelta(minutes=2), timedelta(seconds=5), timedelta(minutes=10)
# How long, and how many records, are looked through for what comes after the answer: verdicts, claims, corrections.
PATH_RECORDS, LATER_RECORDS = 50_000, 5_000
# What a decided message must have on the log, for as long as it is kept.
EXPECTED = (MESSAGES_IN, CONVERSATION_TURNS, DEPTH_CLASSIFIED, RETRIEVAL_PLANS, PACKS_PARTIAL, CONTEXT_PACKS)
ANYBODY = Asker()
NO_GRAPH = "no graph was read: decisions and corrections are those of the log"


@dataclass(frozen=True, slots=True)
class ExplanationQuery:
    """One message; `where` is its conversation, where the asker knows it, and `as_of` the time to look back from."""

    tenant: str
    message_id: str
    whose: Asker = ANYBODY
    where: Conversation | None = None
    as_of: datetime | None = None


async def gather(
    asked: ExplanationQuery, log: LogExcerpts, graph: DecisionReader | None, now: datetime
) -> LogEvidence | None:
    """What there is of the message; None where the asker has no such message. Raises `Unavailable`."""
    found, since = await _located(asked, log, graph, now)
    if found is None or await _is_erased(found, log):
        return None
    reading = _MessageReading(found, log, asked.as_of)
    await reading.read_path(since)
    if not _is_of(found, asked.whose):
        return None
    await reading.read_later(since)
    await reading.read_quarantines()
    claims = tuple(reading.claims())
    if graph is not None and found.graph is None:
        try:
            found.contested = await graph.contested(asked.tenant, claims, asked.as_of or now)
        except Unavailable as error:
            found.graph = f"{error}: corrections are those of the log"
    await reading.note_missing(since + _span(BEFORE))
    return found


async def _located(
    asked: ExplanationQuery, log: LogExcerpts, graph: DecisionReader | None, now: datetime
) -> tuple[LogEvidence | None, int]:
    """The conversation of the message, and the time (ms) from which on it is in the log."""
    trace, why = None, NO_GRAPH if graph is None else None
    if graph is not None:
        try:
            trace = await graph.decision_on(asked.tenant, asked.message_id, asked.as_of or now)
        except Unavailable as error:
            why = f"{error}: decisions and corrections are those of the log"
    if trace is not None and trace.client_id is not None:
        where = Conversation(tenant=asked.tenant, client_id=trace.client_id, conversation_id=trace.conversation_id)
        seq = trace.place.offset if trace.place else 0
        found = LogEvidence(asked.tenant, asked.message_id, where, seq, trace)
        sent = await _keep_sent(found, log, trace.place, asked.as_of)
        since = milliseconds(trace.at) if sent is None else sent.timestamp
        return (found if asked.where in (None, where) else None), since - _span(BEFORE)
    decided = await _decided(asked, log)
    if decided is None:
        return None, 0
    event = decided.event
    where = decided.conversation(event.client_id, event.conversation_id)
    found = LogEvidence(asked.tenant, asked.message_id, where, event.seq or 0, graph=why)
    since = decided.timestamp - event.latency_ms - _span(BEFORE)
    return (found if asked.where in (None, where) else None), since


async def _decided(asked: ExplanationQuery, log: LogExcerpts) -> Received[PackDecision] | None:
    """The oldest decision on the message in the newest batch that has one."""
    keys = [entity_key(asked.tenant, asked.where.conversation_id)] if asked.where else []
    async with aclosing(log.newest(MEMORY_DECISIONS.name, keys)) as batches:
        async for records in batches:
            events = _events(records, asked.message_id, asked.tenant, asked.as_of)
            decided = [each for each in events if isinstance(each.event, PackDecision)]
            if mine := [each for each in decided if each.event.message_id == asked.message_id]:
                return min(mine, key=lambda each: each.timestamp)
    return None


class _MessageReading:
    """The reads of one message, topic by topic."""

    def __init__(self, found: LogEvidence, log: LogExcerpts, as_of: datetime | None) -> None:
        self._found = found
        self._log = log
        self._as_of = as_of
        self._key = found.where.key()
        self._cut: set[str] = set()

    async def read_path(self, since: int) -> None:
        """What became of the message up to its pack, and the decision."""
        found = self._found
        tenant, where = found.tenant, found.where
        for topic, wanted in (
            (CONVERSATION_TURNS, lambda: found.first(Turn) is not None),
            (DEPTH_CLASSIFIED, lambda: found.first(DepthClassified) is not None),
            (RETRIEVAL_PLANS, lambda: found.first(RetrievalPlan) is not None),
            (PACKS_PARTIAL, self._has_parts),
            (CONTEXT_PACKS, self._has_packs),
        ):
            await self._read(topic, self._key, since, wanted, found.message_id)
        decision_key = entity_key(tenant, where.conversation_id)
        await self._read(MEMORY_DECISIONS, decision_key, since, self._has_decisions, found.message_id)
        classified = found.first(DepthClassified)
        if classified is not None and not any(each.topic == MESSAGES_IN.name for each in found.events):
            await _keep_sent(found, self._log, classified.event.source, self._as_of)

    async def read_later(self, since: int) -> None:
        """What came of the pack: the answer, tool calls, claims and corrections."""
        found = self._found
        pack = found.first(ContextPack)
        answers = [pack.event.pack_id] if pack else []
        await self._read(CONVERSATION_TURNS, self._key, since, _never, *answers)
        await self._read(TOOLS_CALLS_IN, self._key, since, _never, found.message_id)
        calls = [each.event.call_id for each in found.of(ToolCallRequested)]
        await self._read(TOOLS_CALLS_OUT, self._key, since, _never, found.message_id, *calls)
        said = [found.message_id, *(each.event.message_id for each in found.of(Turn))]
        own = entity_key(found.tenant, self._key)
        await self._read(MEMORY_CLAIMS, own, since, _never, *dict.fromkeys(said))
        claims = self.claims()
        keys = [own, *(entity_key(found.tenant, each) for each in claims)]
        await self._read(MEMORY_CORRECTIONS, keys, since, _never, *claims)

    async def read_quarantines(self) -> None:
        """What was quarantined and lifted, a few records for all time; of what every tenant reads, too."""
        read = 0
        async with aclosing(self._log.after(MEMORY_QUARANTINES.name, (), 0, LATER_RECORDS)) as batches:
            async for records in batches:
                read += len(records)
                for tenant in (self._found.tenant, PUBLIC_TENANT):
                    self._found.quarantines += _events(records, None, tenant, self._as_of)
        if read >= LATER_RECORDS:
            self._cut.add(MEMORY_QUARANTINES.name)

    def claims(self) -> list[str]:
        """The claims of the message and its answers, and those that its pack shows."""
        own = [each.event.claim_id for each in self._found.of(ClaimAsserted)]
        sent = [item for part in self._found.parts() for item in part.event.items]
        shown = [item.claim_id for item in sent if isinstance(item, ClaimItem)]
        return list(dict.fromkeys((*own, *shown)))

    async def note_missing(self, message_at: int) -> None:
        """Note the topics that no longer have what they had, and those that were not read to their end."""
        there = {each.topic for each in self._found.events}
        for topic in EXPECTED:
            if topic.name not in there:
                begin = await self._log.kept_from(topic.name, [self._key])
                retention = await self._log.retention(topic.name) or topic.retention
                since = None if begin is None else moment(begin)
                reaches = begin is not None and begin <= message_at
                self._found.missing.append(Missing(topic, retention, since, expired=not reaches))
        for name in sorted(self._cut):
            self._found.missing.append(
                Missing(BY_NAME[name], BY_NAME[name].retention, None, expired=False, partly=True)
            )

    async def _read(
        self, topic: Topic, keys: str | Collection[str], since: int, done: Callable[[], bool], *named: str
    ) -> None:
        """Read a topic until it has what is wanted, and keep the events that name the message or what came of it."""
        if not named:
            return
        read = 0
        until = None if done is _never else since + _span(BEFORE + AFTER)
        most = LATER_RECORDS if until is None else PATH_RECORDS
        wanted = [keys] if isinstance(keys, str) else keys
        async with aclosing(self._log.after(topic.name, wanted, since, most)) as batches:
            async for records in batches:
                read += len(records)
                self._found.events += self._wanted(topic, records, named)
                if done() or (until is not None and records and records[-1].timestamp > until):
                    return
        if read >= most:
            self._cut.add(topic.name)

    def _wanted(self, topic: Topic, records: Sequence[LoggedRecord], named: Sequence[str]) -> list[Received[Any]]:
        known = {(each.topic, each.partition, each.offset) for each in self._found.events if each.topic == topic.name}
        possible = [
            record
            for record in records
            if any(may_name(record, name) for name in named)
            and (record.topic, record.partition, record.offset) not in known
        ]
        events = _events(possible, None, self._found.tenant, self._as_of)
        return [each for each in events if self._concerns(each)]

    def _concerns(self, each: Received[Any]) -> bool:
        """Whether an event is of this message, answers it, or contests what it says."""
        event, found = each.event, self._found
        if isinstance(event, CorrectionIssued):
            return event.target_id in self.claims() or event.message_id == found.message_id
        where = (
            each.conversation(event.client_id, event.conversation_id) if hasattr(event, "client_id") else found.where
        )
        if where != found.where:
            return False
        pack = found.first(ContextPack)
        if isinstance(event, Turn):
            return event.message_id == found.message_id or (pack is not None and event.answers == pack.event.pack_id)
        if isinstance(event, ToolCallResolved):
            calls = {call.event.call_id for call in found.of(ToolCallRequested)}
            taken = any(one.evidence == found.message_id for one in event.injections)
            return event.call_id in calls or taken
        if isinstance(event, ClaimAsserted):
            return event.message_id in {found.message_id, *(turn.event.message_id for turn in found.of(Turn))}
        return bool(event.message_id == found.message_id)

    def _has_parts(self) -> bool:
        opened = self._found.first(JoinOpened)
        have = {each.event.memory_class for each in self._found.parts()}
        return opened is not None and have.issuperset(opened.event.wanted)

    def _has_packs(self) -> bool:
        """Whether no revision can come: nothing is missing in the newest one."""
        return any(all(part.status != "missing" for part in each.event.parts) for each in self._found.of(ContextPack))

    def _has_decisions(self) -> bool:
        found = self._found
        return len({each.event.id for each in found.of(PackDecision)}) >= max(len(found.of(ContextPack)), 1)


def _never() -> bool:
    return False


def _is_of(found: LogEvidence, whose: Asker) -> bool:
    """Whether the asker may see the message: those of one client or one user see their own only."""
    told = (each.event for each in found.events if isinstance(each.event, DepthClassified | ContextPack))
    users = {event.user_id for event in told}
    if found.trace is not None and found.trace.user_id is not None:
        users.add(found.trace.user_id)
    of_client = whose.client_id in (None, found.where.client_id)
    return of_client and (whose.user_id is None or users == {whose.user_id})


async def _is_erased(found: LogEvidence, log: LogExcerpts) -> bool:
    key = found.where.key()
    async with aclosing(log.newest(MEMORY_ERASURES.name, [key])) as batches:
        async for records in batches:
            mine = [record for record in records if record.key == key.encode()]
            events = _events(mine, None, found.tenant, None)
            if any(found.seq <= each.event.up_to_seq for each in events):
                return True
    return False


async def _keep_sent(
    found: LogEvidence, log: LogExcerpts, source: Source | None, as_of: datetime | None
) -> Received[Any] | None:
    """The message as it was sent, where its place still has it: a topic may have been made anew."""
    record = None if source is None else await log.at(source)
    for each in _events([record] if record is not None else [], None, found.tenant, as_of):
        if (getattr(each.event, "message_id", None) or each.envelope.id) == found.message_id:
            found.events.append(each)
            return each
    return None


def _events(
    records: Sequence[LoggedRecord], named: str | None, tenant: str, as_of: datetime | None
) -> list[Received[Any]]:
    """The events of the tenant that were known by then, of records that may name an id."""
    events = []
    for record in records:
        if (named is not None and not may_name(record, named)) or (
            as_of is not None and record.timestamp > milliseconds(as_of)
        ):
            continue
        try:
            received = codec.decode_record(BY_NAME[record.topic], record)
        except Undecodable:
            continue
        if received.envelope.tenant == tenant:
            events.append(received)
    return events


def _span(of: timedelta) -> int:
    return round(of.total_seconds() * 1000)
