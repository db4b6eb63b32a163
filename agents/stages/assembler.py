"""Join each plan with its parts and send one context pack, complete or at its deadline.

reads   packs.partial      key conversation, strictly in partition order; inputs are held until their pack is durable
writes  context-packs.out  on the partition it reads, which is thereby the ledger of what was emitted; where packs are
                           revised, one more per late part
        memory.decisions   one decision per pack and revision; one audit record per late part
        packs.partial      ticks, where a quiet partition has deadlines to meet
state   the uncommitted suffix of its partitions; after a crash it is read again
"""

import heapq
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import NamedTuple, cast

from agents.core.claims import summaries
from agents.core.conversation.memory import ConversationTurn
from agents.core.packs import assembly, packing
from agents.core.packs.assembly import Join
from agents.core.packs.revisions import Incomplete
from agents.ports.models import TokenCounter
from schemas.base import derive, entity_key
from schemas.envelope import SOURCE, Envelope, Outgoing, Received, Refused, Settled
from schemas.items import MessageItem
from schemas.memory import AuditDecision, PackDecision
from schemas.packs import ContextPack
from schemas.retrieval import JoinOpened, JoinTicked, MemoryClass, PartFound
from schemas.topics import CONTEXT_PACKS, MEMORY_DECISIONS, PACKS_PARTIAL

Step = Outgoing | Settled | Refused
Partial = JoinOpened | PartFound | JoinTicked

LONG_AGO = datetime.min.replace(tzinfo=UTC)
LEDGER_SIZE = 50_000
MAX_CONVERSATIONS = 5_000
# Packs of a partition that a late part may still revise; beyond it the oldest is let go, and its inputs with it.
MAX_INCOMPLETE = 200
TICK_MARGIN = timedelta(milliseconds=20)
# How far back "the pack before" may lie, and how long a late part can revise a pack. The runner reads the output
# partition at least this far back on assignment, so that a restart knows the same packs as a run without one.
REPEAT_WINDOW = timedelta(minutes=2)


class _Before(NamedTuple):
    """What of a pack counts for the next one of its conversation: the items that its newest revision carried."""

    pack_id: str
    assembled_at: datetime
    items: tuple[str, ...]


@dataclass(slots=True)
class _Partition:
    """The joins of one partition, its time, and what it has emitted (pack id -> classes that are still missing)."""

    joins: dict[str, Join] = field(default_factory=dict)
    deadlines: list[tuple[datetime, str]] = field(default_factory=list)
    time: datetime = LONG_AGO
    ledger: OrderedDict[str, frozenset[MemoryClass]] = field(default_factory=OrderedDict)
    last: OrderedDict[tuple[str, str], _Before] = field(default_factory=OrderedDict)
    incomplete: OrderedDict[str, Incomplete] = field(default_factory=OrderedDict)
    ticked: datetime = LONG_AGO

    def earliest(self) -> datetime | None:
        """The next time at which something is over, if anything waits for time."""
        over = [self.deadlines[0][0]] if self.joins else []
        over += [incomplete.until for incomplete in islice(self.incomplete.values(), 1)]
        return min(over, default=None)


class Assembler:
    """`skip_repeated` leaves out what the pack before already carried (None: as was usual when its plan was made);
    `revise` gives a pack again with a late part;
    `max_open` and `max_incomplete` bound the joins of a partition.
    """

    def __init__(
        self,
        tokens: TokenCounter,
        *,
        skip_repeated: bool | None = None,
        revise: bool = False,
        max_open: int = 10_000,
        max_incomplete: int = MAX_INCOMPLETE,
    ) -> None:
        self._tokens = tokens
        self._skip_repeated = skip_repeated
        self._revises = revise
        self.max_open = max_open
        self.max_incomplete = max_incomplete
        self._partitions: dict[int, _Partition] = {}

    def assigned(self, partition: int, emitted: Iterable[Received[ContextPack]]) -> None:
        """Start a partition anew, knowing what its output partition already holds."""
        state = self._partitions[partition] = _Partition()
        for pack in emitted:
            if self._revises:
                self._expect_again(state, pack)
            self._remember(state, pack.envelope.tenant, pack.event)

    def revoked(self, partition: int) -> None:
        """Forget a partition: whoever has it next reads its uncommitted suffix again."""
        self._partitions.pop(partition, None)

    async def handle(self, record: Received[Partial]) -> AsyncIterator[Step]:
        """Add one record to its join, then settle every join that is over."""
        state = self._partitions.setdefault(record.partition, _Partition())
        state.time = max(state.time, record.logged_at)
        event = record.event
        if isinstance(event, JoinTicked):
            yield Settled((record.position,))
        elif event.pack_id in state.ledger:
            for step in self._after_emission(state, cast("Received[JoinOpened | PartFound]", record)):
                yield step
        else:
            self._add(state, cast("Received[JoinOpened | PartFound]", record))
        for step in self._settle(state, record):
            yield step
        for step in self._release(state):
            yield step

    def due(self, partition: int, now: datetime) -> bool:
        """Whether a deadline lies behind the wall clock that the partition's own time has not reached."""
        state = self._partitions.get(partition)
        earliest = state.earliest() if state else None
        return state is not None and earliest is not None and state.ticked <= earliest < now - TICK_MARGIN

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
        terms = packing.Settlement(why, at, self._carried(state, cause.tenant, opened, at))
        yield from self._send(state, partition, join, terms)
        if self._revises and (missing := assembly.missing(join)):
            state.incomplete[join.pack_id] = Incomplete(join, missing, at + REPEAT_WINDOW, terms.previous, at)

    def _send(self, state: _Partition, partition: int, join: Join, terms: packing.Settlement) -> Iterable[Step]:
        opened, cause = join.opened, join.cause
        assert opened is not None
        assert cause is not None
        pack = packing.pack(opened, join.parts, assembly.report(join), terms, self._tokens, _summarise)
        # The decision first: the pack settles the inputs, so nothing may be left to send after it.
        yield Outgoing(
            MEMORY_DECISIONS,
            entity_key(cause.tenant, opened.conversation_id),
            _decision(pack, opened, cause.time),
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
            settles=() if self._revises and assembly.missing(join) else join.holds,
        )
        self._remember(state, cause.tenant, pack)

    def _after_emission(self, state: _Partition, record: Received[JoinOpened | PartFound]) -> Iterable[Step]:
        """A record of a pack that is out: a repeat, or a late part, which is audited and may revise it (CF-75)."""
        event = record.event
        if isinstance(event, PartFound) and event.memory_class in state.ledger[event.pack_id]:
            # Once per class, and the same whenever it is told again: a part that comes twice may differ.
            state.ledger[event.pack_id] -= {event.memory_class}
            yield _late(record, event)
        incomplete = state.incomplete.get(event.pack_id)
        if incomplete is not None and incomplete.wants(record):
            yield from self._revise(state, record.partition, incomplete.add(record))
        else:
            yield Settled((record.position,))

    def _revise(self, state: _Partition, partition: int, revised: Incomplete) -> Iterable[Step]:
        """The next revision, unless it is out already and its inputs are only read again."""
        join, missing = revised.join, assembly.missing(revised.join)
        if revised.revision > revised.emitted:
            why = "deadline" if missing else "complete"
            terms = packing.Settlement(why, revised.at, revised.previous, revised.revision)
            yield from self._send(state, partition, join, terms)
        if missing:
            state.incomplete[join.pack_id] = revised
        else:
            del state.incomplete[join.pack_id]

    def _release(self, state: _Partition) -> Iterable[Step]:
        """Let go of the inputs of packs that are not revised any more, oldest first."""
        while state.incomplete:
            oldest = next(iter(state.incomplete.values()))
            if oldest.until >= state.time and len(state.incomplete) <= self.max_incomplete:
                return
            del state.incomplete[oldest.join.pack_id]
            if oldest.join.holds:
                yield Settled(oldest.join.holds)

    def _expect_again(self, state: _Partition, record: Received[ContextPack]) -> None:
        """Where a pack of the ledger lacks parts, its inputs may be read again, and a late part after them."""
        pack = record.event
        missing, incomplete = _missing(pack), state.incomplete.get(pack.pack_id)
        if incomplete is not None:
            state.incomplete[pack.pack_id] = replace(incomplete, emitted=max(incomplete.emitted, pack.revision))
            if not missing:
                del state.incomplete[pack.pack_id]
        elif pack.revision == 1 and missing and pack.pack_id not in state.ledger:
            at = pack.assembled_at
            previous = self._carried(state, record.envelope.tenant, pack, at)
            join = assembly.start(pack.pack_id, at)
            state.incomplete[pack.pack_id] = Incomplete(join, missing, at + REPEAT_WINDOW, previous, at)

    def _carried(
        self, state: _Partition, tenant: str, about: JoinOpened | ContextPack, at: datetime
    ) -> Mapping[str, str]:
        before = state.last.get(_subject(tenant, about))
        if not self._skips(about) or before is None or at - before.assembled_at > REPEAT_WINDOW:
            return {}
        return dict.fromkeys(before.items, before.pack_id)

    def _skips(self, about: JoinOpened | ContextPack) -> bool:
        if self._skip_repeated is not None:
            return self._skip_repeated
        # Before 0.2 it was on by default: whoever builds a prompt from one pack alone lost its evidence.
        return isinstance(about, JoinOpened) and about.looks_up is None

    def _remember(self, state: _Partition, tenant: str, pack: ContextPack) -> None:
        missing, subject = _missing(pack), _subject(tenant, pack)
        state.ledger[pack.pack_id] = missing & state.ledger.get(pack.pack_id, missing)
        before = state.last.get(subject)
        if pack.revision == 1:
            state.last[subject] = _Before(pack.pack_id, pack.assembled_at, packing.injected(pack))
            state.last.move_to_end(subject)
        elif before is not None and before.pack_id == pack.pack_id:
            # Still the pack before by its first time; an older pack's revision does not become the pack before.
            state.last[subject] = before._replace(items=packing.injected(pack))
        if len(state.ledger) > LEDGER_SIZE:
            state.ledger.popitem(last=False)
        if len(state.last) > MAX_CONVERSATIONS:
            state.last.popitem(last=False)


def _late(record: Received[JoinOpened | PartFound], part: PartFound) -> Outgoing:
    audit = AuditDecision(
        kind="late-part",
        id=derive("late-part", part.pack_id, part.memory_class.value),
        actor="assembler",
        subject_id=part.pack_id,
        detail={"memory_class": part.memory_class.value},
        created_at=record.envelope.time,
    )
    key = entity_key(record.envelope.tenant, part.pack_id)
    return Outgoing(MEMORY_DECISIONS, key, audit, record.envelope, "late-part")


def _missing(pack: ContextPack) -> frozenset[MemoryClass]:
    return frozenset(report.memory_class for report in pack.parts if report.status == "missing")


def _subject(tenant: str, about: JoinOpened | ContextPack) -> tuple[str, str]:
    return derive(tenant, about.client_id, about.conversation_id), about.frame_id


def _summarise(messages: Iterable[MessageItem], lang: str, max_chars: int) -> str:
    turns = [ConversationTurn(m.role, m.content, m.created_at) for m in messages]
    return summaries.summarise(turns, lang=lang, max_chars=max_chars)


def _decision(pack: ContextPack, opened: JoinOpened, created_at: datetime) -> PackDecision:
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
        classifier=opened.classifier,
        strategy=pack.strategy,
        degraded=pack.degraded,
        profile=opened.profile,
    )
