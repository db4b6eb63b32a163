"""Gathering of what log and graph hold of one message: its decision tells where to look, and little is read there.

A message is located by its decision in the graph, without one by a search of `memory.decisions` backwards. Each topic
is then read from the message's time on, in the one partition of its key, until what it should hold is found.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import Any

from agents.errors import Unavailable
from agents.ports.graph import Asker, DecisionReader
from schemas.base import PUBLIC_TENANT, entity_key
from schemas.chat import Turn
from schemas.depth import DepthClassified
from schemas.envelope import Received
from schemas.items import ClaimItem
from schemas.memory import ClaimAsserted, CorrectionIssued, PackDecision
from schemas.packs import ContextPack
from schemas.retrieval import RetrievalPlan
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
from streams.explanations.evidence import LogEvidence, Missing, moment
from streams.explanations.excerpts import LogExcerpts, LoggedRecord
from streams.explanations.locating import BEFORE, ExplanationQuery, events_of, keep_sent, located, span
from streams.kafka.records import may_name

# How long a worker may lag.
AFTER = timedelta(minutes=10)
# How long, and how many records, are looked through for what comes after the answer: verdicts, claims, corrections.
PATH_RECORDS, LATER_RECORDS = 50_000, 5_000
# What a decided message must have on the log, for as long as it is kept.
EXPECTED = (MESSAGES_IN, CONVERSATION_TURNS, DEPTH_CLASSIFIED, RETRIEVAL_PLANS, PACKS_PARTIAL, CONTEXT_PACKS)


async def gather(
    asked: ExplanationQuery, log: LogExcerpts, graph: DecisionReader | None, now: datetime
) -> LogEvidence | None:
    """What there is of the message; None where the asker has no such message. Raises `Unavailable`.

    Of several conversations of the asker with a message of this id the newest, or the one that the asker names.
    """
    async with aclosing(located(asked, log, graph, now)) as messages:
        async for found, since in messages:
            reading = _MessageReading(found, log, asked.as_of)
            if not await _is_erased(found, log):
                await reading.read_path(since)
                if _is_of(found, asked.whose):
                    return await _whole(asked, reading, since, graph, now)
    return None


async def _whole(
    asked: ExplanationQuery, reading: "_MessageReading", since: int, graph: DecisionReader | None, now: datetime
) -> LogEvidence:
    found = reading.found
    await reading.read_later(since)
    await reading.read_quarantines()
    claims = tuple(reading.claims())
    if graph is not None and found.graph is None:
        try:
            found.contested = await graph.contested(asked.tenant, claims, asked.as_of or now)
        except Unavailable as error:
            found.graph = f"{error}: corrections are those of the log"
    await reading.note_missing(since + span(BEFORE))
    return found


class _MessageReading:
    """The reads of one message, topic by topic."""

    def __init__(self, found: LogEvidence, log: LogExcerpts, as_of: datetime | None) -> None:
        self.found = found
        self._log = log
        self._as_of = as_of
        self._key = found.where.key()
        self._cut: set[str] = set()

    async def read_path(self, since: int) -> None:
        """What became of the message up to its pack, and the decision."""
        found = self.found
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
            await keep_sent(found, self._log, classified.event.source, self._as_of)

    async def read_later(self, since: int) -> None:
        """What came of the pack: the answer, tool calls, claims and corrections."""
        found = self.found
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
                for tenant in (self.found.tenant, PUBLIC_TENANT):
                    self.found.quarantines += events_of(records, None, tenant, self._as_of)
        if read >= LATER_RECORDS:
            self._cut.add(MEMORY_QUARANTINES.name)

    def claims(self) -> list[str]:
        """The claims of the message and its answers, and those that its pack shows."""
        own = [each.event.claim_id for each in self.found.of(ClaimAsserted)]
        sent = [item for part in self.found.parts() for item in part.event.items]
        shown = [item.claim_id for item in sent if isinstance(item, ClaimItem)]
        return list(dict.fromkeys((*own, *shown)))

    async def note_missing(self, message_at: int) -> None:
        """Note the topics that no longer have what they had, and those that were not read to their end."""
        there = {each.topic for each in self.found.events}
        for topic in EXPECTED:
            if topic.name not in there:
                begin = await self._log.kept_from(topic.name, [self._key])
                retention = await self._log.retention(topic.name) or topic.retention
                since = None if begin is None else moment(begin)
                reaches = begin is not None and begin <= message_at
                self.found.missing.append(Missing(topic, retention, since, expired=not reaches))
        for name in sorted(self._cut):
            self.found.missing.append(Missing(BY_NAME[name], BY_NAME[name].retention, None, expired=False, partly=True))

    async def _read(
        self, topic: Topic, keys: str | Collection[str], since: int, done: Callable[[], bool], *named: str
    ) -> None:
        """Read a topic until it has what is wanted, and keep the events that name the message or what came of it."""
        if not named:
            return
        read = 0
        until = None if done is _never else since + span(BEFORE + AFTER)
        most = LATER_RECORDS if until is None else PATH_RECORDS
        wanted = [keys] if isinstance(keys, str) else keys
        async with aclosing(self._log.after(topic.name, wanted, since, most)) as batches:
            async for records in batches:
                read += len(records)
                self.found.events += self._wanted(topic, records, named)
                if done() or (until is not None and records and records[-1].timestamp > until):
                    return
        if read >= most:
            self._cut.add(topic.name)

    def _wanted(self, topic: Topic, records: Sequence[LoggedRecord], named: Sequence[str]) -> list[Received[Any]]:
        known = {(each.topic, each.partition, each.offset) for each in self.found.events if each.topic == topic.name}
        possible = [
            record
            for record in records
            if any(may_name(record, name) for name in named)
            and (record.topic, record.partition, record.offset) not in known
        ]
        events = events_of(possible, None, self.found.tenant, self._as_of)
        return [each for each in events if self._concerns(each)]

    def _concerns(self, each: Received[Any]) -> bool:
        """Whether an event is of this message, answers it, or contests what it says."""
        event, found = each.event, self.found
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
        opened = self.found.opened()
        have = {each.event.memory_class for each in self.found.parts()}
        return opened is not None and have.issuperset(opened.event.wanted)

    def _has_packs(self) -> bool:
        """Whether no revision can come: nothing is missing in the newest one."""
        return any(all(part.status != "missing" for part in each.event.parts) for each in self.found.of(ContextPack))

    def _has_decisions(self) -> bool:
        found = self.found
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
            events = events_of(mine, None, found.tenant, None)
            if any(found.seq <= each.event.up_to_seq for each in events):
                return True
    return False
