"""Join each plan with its parts and send one context pack, complete or at its deadline.

reads   packs.partial      key conversation, strictly in partition order; inputs are held until their pack is durable
writes  context-packs.out  on the partition it reads, which is thereby the ledger of what was emitted
        memory.decisions   one decision per pack; one audit record per late part
        packs.partial      ticks, where a quiet partition has deadlines to meet
state   the uncommitted suffix of its partitions; after a crash it is read again
"""

import heapq
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import cast

from agents.core import assembly, packing, summaries
from agents.core.assembly import Join
from agents.core.conversation import ConversationTurn
from agents.ports import TokenCounter
from schemas.base import derive, entity_key
from schemas.envelope import SOURCE, Envelope, Outgoing, Received, Refused, Settled
from schemas.items import MessageItem
from schemas.memory import AuditDecision, PackDecision
from schemas.packs import ContextPack
from schemas.retrieval import JoinOpened, JoinTicked, PartFound
from schemas.topics import CONTEXT_PACKS, MEMORY_DECISIONS, PACKS_PARTIAL

Step = Outgoing | Settled | Refused
Partial = JoinOpened | PartFound | JoinTicked

LONG_AGO = datetime.min.replace(tzinfo=UTC)
LEDGER_SIZE = 50_000
REMEMBERED_CONVERSATIONS = 5_000
TICK_MARGIN = timedelta(milliseconds=20)
# How far back "the pack before" may lie. The runner reads the output partition at least this far back on assignment,
# so that a restart knows the same packs as a run without one.
REPEAT_WINDOW = timedelta(minutes=2)


@dataclass(slots=True)
class _Partition:
    """The joins of one partition, its time, and what it has emitted (pack id -> classes that were missing)."""

    joins: dict[str, Join] = field(default_factory=dict)
    deadlines: list[tuple[datetime, str]] = field(default_factory=list)
    time: datetime = LONG_AGO
    ledger: OrderedDict[str, frozenset[str]] = field(default_factory=OrderedDict)
    last: OrderedDict[tuple[str, str], ContextPack] = field(default_factory=OrderedDict)
    ticked: datetime = LONG_AGO


class Assembler:
    """`skip_repeated` leaves out what the pack before already carried; `max_open` bounds the joins of a partition."""

    def __init__(self, tokens: TokenCounter, *, skip_repeated: bool = True, max_open: int = 10_000) -> None:
        self._tokens = tokens
        self._skip_repeated = skip_repeated
        self.max_open = max_open
        self._partitions: dict[int, _Partition] = {}

    def assigned(self, partition: int, emitted: Iterable[Received[ContextPack]]) -> None:
        """Start a partition anew, knowing what its output partition already holds."""
        state = self._partitions[partition] = _Partition()
        for pack in emitted:
            self._remember(state, pack.envelope.tenant, pack.event)

    def revoked(self, partition: int) -> None:
        """Forget a partition: whoever has it next reads its uncommitted suffix again."""
        self._partitions.pop(partition, None)

    def open_joins(self, partition: int) -> int:
        """How many packs are in the making."""
        state = self._partitions.get(partition)
        return len(state.joins) if state else 0

    async def handle(self, record: Received[Partial]) -> AsyncIterator[Step]:
        """Add one record to its join, then settle every join that is over."""
        state = self._partitions.setdefault(record.partition, _Partition())
        state.time = max(state.time, record.logged_at)
        event = record.event
        if isinstance(event, JoinTicked):
            yield Settled((record.position,))
        elif event.pack_id in state.ledger:
            for step in self._after_emission(state, record):
                yield step
        else:
            self._add(state, cast("Received[JoinOpened | PartFound]", record))
        for step in self._settle(state, record):
            yield step

    def due(self, partition: int, now: datetime) -> bool:
        """Whether a deadline lies behind the wall clock that the partition's own time has not reached."""
        state = self._partitions.get(partition)
        if state is None or not state.joins:
            return False
        earliest = state.deadlines[0][0]
        return earliest + TICK_MARGIN < now and state.ticked <= earliest

    def tick(self, partition: int, now: datetime) -> Outgoing:
        """Time for a quiet partition, as a record of it: deadlines are then met by the log (CF-68)."""
        self._partitions[partition].ticked = now
        envelope = Envelope(
            id=derive("tick", partition, now.isoformat()),
            type=JoinTicked.TYPE,
            source=SOURCE,
            time=now,
            tenant="fathom",
            correlation_id=derive("tick", partition),
        )
        return Outgoing(PACKS_PARTIAL, "", JoinTicked(at=now), envelope, partition=partition)

    def _add(self, state: _Partition, record: Received[JoinOpened | PartFound]) -> None:
        pack_id = record.event.pack_id
        join = state.joins.get(pack_id) or assembly.start(pack_id, record.logged_at)
        if isinstance(record.event, JoinOpened):
            added = assembly.add_terms(join, cast("Received[JoinOpened]", record))
        else:
            added = assembly.add_part(join, cast("Received[PartFound]", record))
        if pack_id not in state.joins or added.deadline != join.deadline:
            heapq.heappush(state.deadlines, (added.deadline, pack_id))
        state.joins[pack_id] = added

    def _settle(self, state: _Partition, record: Received[Partial]) -> Iterable[Step]:
        """The record's own join if that is now complete, then every join whose deadline has passed, oldest first."""
        event = record.event
        if not isinstance(event, JoinTicked) and event.pack_id in state.joins:
            yield from self._close(state, record.partition, event.pack_id, state.time)
        while state.deadlines:
            deadline, pack_id = state.deadlines[0]
            join = state.joins.get(pack_id)
            if join is None or join.deadline != deadline:
                heapq.heappop(state.deadlines)  # settled, or its terms came and moved the deadline
            elif deadline < state.time or len(state.joins) > self.max_open:
                # Too many open joins freeze the commit: the oldest goes out as if its deadline had come.
                yield from self._close(state, record.partition, pack_id, max(state.time, deadline + TICK_MARGIN))
            else:
                return

    def _close(self, state: _Partition, partition: int, pack_id: str, now: datetime) -> Iterable[Step]:
        join = state.joins[pack_id]
        why = assembly.settled(join, now)
        if why is None:
            return
        del state.joins[pack_id]
        if why == "orphaned":
            yield Refused(join.holds, "orphan_part", "the terms of this part's plan did not come within a minute")
        else:
            yield from self._emit(state, partition, join, why)

    def _emit(self, state: _Partition, partition: int, join: Join, why: str) -> Iterable[Step]:
        opened, cause = join.opened, join.cause
        assert opened is not None  # settled() says so: complete and deadline need terms
        assert cause is not None
        at = assembly.settled_at(join, why)
        terms = packing.Terms(why, at, self._carried(state, cause.tenant, opened, at))
        pack = packing.pack(opened, join.parts, assembly.report(join), terms, self._tokens, _summarise)
        # The decision first: the pack settles the inputs, so nothing may be left to send after it.
        yield Outgoing(
            MEMORY_DECISIONS,
            entity_key(cause.tenant, opened.conversation_id),
            _decision(pack, opened.classifier, cause.time),
            cause,
            discriminator=f"pack:{pack.revision}",
        )
        yield Outgoing(
            CONTEXT_PACKS,
            join.key,
            pack,
            cause,
            discriminator=str(pack.revision),
            partition=partition,
            settles=join.holds,
        )
        self._remember(state, cause.tenant, pack)

    def _after_emission(self, state: _Partition, record: Received[Partial]) -> Iterable[Step]:
        """A record of a pack that is out: a repeat, or a late part, which is audited (CF-75)."""
        part = record.event
        if isinstance(part, PartFound) and part.memory_class.value in state.ledger[part.pack_id]:
            # Once per class, and the same whenever it is told again: a part that comes twice may differ.
            state.ledger[part.pack_id] -= {part.memory_class.value}
            audit = AuditDecision(
                kind="late-part",
                id=derive("late-part", part.pack_id, part.memory_class.value),
                actor="assembler",
                subject_id=part.pack_id,
                detail={"memory_class": part.memory_class.value},
                created_at=record.envelope.time,
            )
            yield Outgoing(
                MEMORY_DECISIONS, entity_key(record.envelope.tenant, part.pack_id), audit, record.envelope, "late-part"
            )
        yield Settled((record.position,))

    def _carried(self, state: _Partition, tenant: str, opened: JoinOpened, at: datetime) -> Mapping[str, str]:
        previous = state.last.get(_subject(tenant, opened))
        if not self._skip_repeated or previous is None or at - previous.assembled_at > REPEAT_WINDOW:
            return {}
        return _injected(previous)

    def _remember(self, state: _Partition, tenant: str, pack: ContextPack) -> None:
        state.ledger[pack.pack_id] = frozenset(
            report.memory_class.value for report in pack.parts if report.status == "missing"
        )
        state.last[_subject(tenant, pack)] = pack
        state.last.move_to_end(_subject(tenant, pack))
        if len(state.ledger) > LEDGER_SIZE:
            state.ledger.popitem(last=False)
        if len(state.last) > REMEMBERED_CONVERSATIONS:
            state.last.popitem(last=False)


def _subject(tenant: str, about: JoinOpened | ContextPack) -> tuple[str, str]:
    return derive(tenant, about.client_id, about.conversation_id), about.frame_id


def _injected(pack: ContextPack) -> Mapping[str, str]:
    """The items a pack injected that need no repeating: not what every pack needs anew."""
    items = (
        *(pack.episodic.conversation_summaries if pack.episodic else ()),
        *(pack.episodic.relevant_events if pack.episodic else ()),
        *(pack.semantic.concepts if pack.semantic else ()),
        *(pack.semantic.knowledge_chunks if pack.semantic else ()),
        *(pack.semantic.definitions if pack.semantic else ()),
        *(pack.procedural.relevant_processes if pack.procedural else ()),
        *(pack.procedural.playbook_steps if pack.procedural else ()),
    )
    return {item.id: pack.pack_id for item in items if not item.truncated}


def _summarise(messages: Iterable[MessageItem], lang: str, max_chars: int) -> str:
    turns = [ConversationTurn(m.role, m.content, m.created_at) for m in messages]
    return summaries.summarise(turns, lang=lang, max_chars=max_chars)


def _decision(pack: ContextPack, classifier: str, created_at: datetime) -> PackDecision:
    retrieved = tuple(report.memory_class.value for report in pack.parts if report.status in ("ok", "empty"))
    return PackDecision(
        id=derive("decision", pack.pack_id, pack.revision),
        conversation_id=pack.conversation_id,
        client_id=pack.client_id,
        message_id=pack.message_id,
        pack_id=pack.pack_id,
        plan_id=pack.plan_id,
        detected_signals=tuple(dict.fromkeys(signal.name for signal in pack.signals)),
        depth_level=pack.depth_level,
        query_profile_used=pack.query_profile_used,
        sources_retrieved=retrieved,
        tokens_used=pack.total_tokens_estimated,
        latency_ms=round(pack.latency_ms),
        created_at=created_at,
        confidence=pack.confidence,
        classifier=classifier,
        strategy=pack.strategy,
        degraded=pack.degraded,
    )
