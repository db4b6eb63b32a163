"""Where a message is: its conversations, by its decisions in the graph, and without one in the log."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from agents.errors import Unavailable
from agents.ports.graph import Asker, DecisionReader, DecisionTrace
from schemas import codec
from schemas.base import Conversation, Source, entity_key
from schemas.codec import Undecodable
from schemas.envelope import Received
from schemas.memory import PackDecision
from schemas.topics import BY_NAME, MEMORY_DECISIONS
from streams.explanations.evidence import LogEvidence, milliseconds
from streams.explanations.excerpts import LogExcerpts, LoggedRecord
from streams.kafka.records import may_name

# What clocks of workers may differ by, or a worker may lag.
BEFORE = timedelta(seconds=5)
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


async def located(
    asked: ExplanationQuery, log: LogExcerpts, graph: DecisionReader | None, now: datetime
) -> AsyncGenerator[tuple[LogEvidence, int], None]:
    """The conversations with such a message, newest first, and the time (ms) from which on it is in the log."""
    traces: Sequence[DecisionTrace] = ()
    why = NO_GRAPH if graph is None else None
    if graph is not None:
        try:
            traces = await graph.decisions_on(asked.tenant, asked.message_id, asked.as_of or now)
        except Unavailable as error:
            why = f"{error}: decisions and corrections are those of the log"
    placed = [(where, trace) for trace in traces if (where := _conversation(asked, trace)) is not None]
    mine = [(where, trace) for where, trace in placed if _may_be_of(asked, where, trace.user_id)]
    for where, trace in mine:
        others = tuple(other for other, _ in mine if other != where)
        seq = trace.place.offset if trace.place else 0
        found = LogEvidence(asked.tenant, asked.message_id, where, seq, trace, others=others)
        sent = await keep_sent(found, log, trace.place, asked.as_of)
        since = milliseconds(trace.at) if sent is None else sent.timestamp
        yield found, since - span(BEFORE)
    seen = {where for where, _ in placed}
    async with aclosing(_decided(asked, log)) as batches:
        async for decided in batches:
            for where in [each for each in decided if each not in seen and _may_be_of(asked, each, None)]:
                event = decided[where].event
                others = tuple(other for other in decided if other != where and asked.whose == ANYBODY)
                found = LogEvidence(asked.tenant, asked.message_id, where, event.seq or 0, graph=why, others=others)
                yield found, decided[where].timestamp - event.latency_ms - span(BEFORE)
            seen |= decided.keys()


def _conversation(asked: ExplanationQuery, trace: DecisionTrace) -> Conversation | None:
    """The conversation of a decision whose message is stored; an earlier version stored no more of it."""
    if trace.client_id is None or trace.place is None:
        return None
    return Conversation(tenant=asked.tenant, client_id=trace.client_id, conversation_id=trace.conversation_id)


def _may_be_of(asked: ExplanationQuery, where: Conversation, user: str | None) -> bool:
    whose = asked.whose
    return (
        asked.where in (None, where)
        and whose.client_id in (None, where.client_id)
        and (None in (whose.user_id, user) or whose.user_id == user)
    )


async def _decided(
    asked: ExplanationQuery, log: LogExcerpts
) -> AsyncGenerator[dict[Conversation, Received[PackDecision]], None]:
    """The oldest decision of each conversation in the batches that have some on the message, newest first."""
    keys = [entity_key(asked.tenant, asked.where.conversation_id)] if asked.where else []
    async with aclosing(log.newest(MEMORY_DECISIONS.name, keys)) as batches:
        async for records in batches:
            found: dict[Conversation, Received[PackDecision]] = {}
            events = events_of(records, asked.message_id, asked.tenant, asked.as_of)
            decided = [each for each in events if isinstance(each.event, PackDecision)]
            for each in sorted(decided, key=lambda one: one.timestamp, reverse=True):
                if each.event.message_id == asked.message_id:
                    found[each.conversation(each.event.client_id, each.event.conversation_id)] = each
            yield found


async def keep_sent(
    found: LogEvidence, log: LogExcerpts, source: Source | None, as_of: datetime | None
) -> Received[Any] | None:
    """The message as it was sent, where its place still has it: a topic may have been made anew."""
    record = None if source is None else await log.at(source)
    for each in events_of([record] if record is not None else [], None, found.tenant, as_of):
        if (getattr(each.event, "message_id", None) or each.envelope.id) == found.message_id:
            found.events.append(each)
            return each
    return None


def events_of(
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


def span(of: timedelta) -> int:
    """A duration as records have times."""
    return round(of.total_seconds() * 1000)
