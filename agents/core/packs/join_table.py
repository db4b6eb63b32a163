"""The table of open joins of one partition: plan terms and parts in, packs and decisions out. Pure: no clock, no I/O.

Time is the partition's stream time, from its records. Steps are returned in sending order; a pack settles its inputs,
so it is the last step that depends on them.
"""

import heapq
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import cast

from agents.core.packs import join as joins
from agents.core.packs import packing
from agents.core.packs.draft import Counter, Summarise
from agents.core.packs.emitted_items import REPEAT_WINDOW, EmittedItems
from agents.core.packs.join import Join
from agents.core.packs.pack_ledger import LONG_AGO, Lacking, PackLedger, lacking_of, missing_of
from agents.core.packs.revisions import Incomplete
from agents.core.packs.text import Templates
from schemas.base import derive, entity_key
from schemas.envelope import SOURCE, Envelope, Outgoing, Position, Received, Refused, Settled, Step
from schemas.memory import AuditDecision, PackDecision
from schemas.packs import ContextPack
from schemas.retrieval import JoinOpened, JoinTicked, PackInputs, PartFound, PartsFound
from schemas.topics import CONTEXT_PACKS, MEMORY_DECISIONS, PACKS_PARTIAL

Partial = JoinOpened | PartFound | PartsFound | PackInputs | JoinTicked

# Packs of a partition that a late part may still revise; above it the oldest is released with its inputs.
MAX_INCOMPLETE = 200
# Of the parts of open joins of a partition: those of five hundred, with thirty items of a kilobyte each.
MAX_BYTES = 16 << 20
TICK_MARGIN = timedelta(milliseconds=20)
# Stream time that is further ahead of the clock of who joins is wrong.
CLOCK_STEP = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class JoinRules:
    """The options of joins and packs.

    `revise` emits a pack again with a late part; `max_open`, `max_bytes` of parts and `max_incomplete` bound the joins
    of a partition.
    """

    counter: Counter
    summarise: Summarise
    templates: Templates = field(default_factory=Templates)
    revise: bool = False
    max_open: int = 10_000
    max_bytes: int = MAX_BYTES
    max_incomplete: int = MAX_INCOMPLETE


class JoinTable:
    """The joins of one partition; the packs that its output partition already holds are restored first."""

    def __init__(self, partition: int, rules: JoinRules) -> None:
        self._partition = partition
        self._rules = rules
        self._joins: dict[str, Join] = {}
        self._bytes = 0
        self._deadlines: list[tuple[datetime, str]] = []
        self._time = LONG_AGO
        self.ledger = PackLedger()
        self.items = EmittedItems()
        self._incomplete: OrderedDict[str, Incomplete] = OrderedDict()
        self._ticked = LONG_AGO

    def restore(self, emitted: Received[ContextPack]) -> None:
        """Know a pack that is out, each of the partition in the order of the output."""
        if self._rules.revise:
            self._expect_again(emitted)
        self._remember(emitted.envelope.tenant, emitted.event)

    def add(self, record: Received[Partial]) -> Iterator[Step]:
        """Add one record to its join, then emit every join that is complete or past its deadline."""
        event = record.event
        # A tick is of the clock of who joins: what another's clock, or its own of before, said of the future is over.
        is_back = isinstance(event, JoinTicked) and self._time - event.at > CLOCK_STEP
        self._time = record.logged_at if is_back else max(self._time, record.logged_at)
        if isinstance(event, JoinTicked):
            yield Settled((record.position,))
        elif isinstance(event, PackInputs):
            yield from self._pack(cast("Received[PackInputs]", record))
        elif event.pack_id in self.ledger:
            if event.pack_id in self._joins:
                yield Settled(self._taken(event.pack_id).holds)  # parts that came before the pack was known to be out
            yield from self._after_emission(event.pack_id, _inputs(record))
        else:
            for each in _inputs(record):
                self._add(each)
        yield from self._settle(event)
        yield from self._release()

    def _pack(self, record: Received[PackInputs]) -> Iterable[Step]:
        """The pack of a record that has all of its inputs; none for one that is out."""
        event = record.event
        if event.pack_id in self.ledger:
            yield Settled((record.position,))
            return
        join = joins.whole(record)
        why = "deadline" if joins.missing(join) else "complete"
        if event.pack_id in self._joins:
            yield Settled(self._taken(event.pack_id).holds)
        yield from self._send(join, packing.Settlement(why, event.settled_at, event.previous or {}), join.holds)

    def due(self, now: datetime) -> bool:
        """Whether a deadline has passed by the wall clock, but not by the partition's stream time; or it is ahead."""
        ticked = LONG_AGO if self._ticked > now else self._ticked  # the clock has stepped back
        if self._time > now + CLOCK_STEP:
            # A record from the future: until stream time is back, every join would be past its deadline.
            return now - ticked > CLOCK_STEP
        over = [self._deadlines[0][0]] if self._joins else []
        over += [incomplete.until for incomplete in islice(self._incomplete.values(), 1)]
        return bool(over) and ticked <= min(over) < now - TICK_MARGIN

    def tick(self, now: datetime) -> Outgoing:
        """A tick record that advances the stream time of an idle partition past its deadlines."""
        self._ticked = now
        envelope = Envelope(
            id=derive("tick", self._partition, now.isoformat()),
            type=JoinTicked.TYPE,
            source=SOURCE,
            time=now,
            tenant="fathom",
            correlation_id=derive("tick", self._partition),
        )
        return Outgoing(PACKS_PARTIAL, "", JoinTicked(at=now), envelope, partition=self._partition)

    def _add(self, record: Received[JoinOpened | PartFound]) -> None:
        pack_id = record.event.pack_id
        join = self._joins.get(pack_id) or joins.start(pack_id, record.logged_at)
        if isinstance(record.event, JoinOpened):
            added = joins.add_terms(join, cast("Received[JoinOpened]", record))
        else:
            added = joins.add_part(join, cast("Received[PartFound]", record))
        if pack_id not in self._joins or added.deadline != join.deadline:
            heapq.heappush(self._deadlines, (added.deadline, pack_id))
        self._bytes += added.size - join.size
        self._joins[pack_id] = added

    def _taken(self, pack_id: str) -> Join:
        join = self._joins.pop(pack_id)
        self._bytes -= join.size
        return join

    @property
    def _is_full(self) -> bool:
        """Whether so many joins are open that they block the commit, or so large ones that they take the memory."""
        return len(self._joins) > self._rules.max_open or self._bytes > self._rules.max_bytes

    def _settle(self, event: Partial) -> Iterable[Step]:
        """Emit the record's own join if it is complete, then every join past its deadline, oldest first."""
        if not isinstance(event, JoinTicked) and event.pack_id in self._joins:
            yield from self._close(event.pack_id, self._time)
        while self._deadlines:
            deadline, pack_id = self._deadlines[0]
            join = self._joins.get(pack_id)
            if join is None or join.deadline != deadline:
                heapq.heappop(self._deadlines)  # settled, or its terms came and moved the deadline
            elif deadline < self._time or self._is_full:
                # The oldest is emitted as if its deadline had passed.
                yield from self._close(pack_id, max(self._time, deadline + TICK_MARGIN))
            else:
                return

    def _close(self, pack_id: str, now: datetime) -> Iterable[Step]:
        join = self._joins[pack_id]
        why = joins.settled(join, now)
        if why is None:
            return
        self._taken(pack_id)
        if why == "orphaned":
            yield Refused(join.holds, "orphan_part", "the terms of this part's plan did not come within a minute")
        else:
            yield from self._emit(join, why)

    def _emit(self, join: Join, why: str) -> Iterable[Step]:
        opened, cause = join.opened, join.cause
        assert opened is not None  # settled() says so: complete and deadline need terms
        assert cause is not None
        at = joins.settled_at(join, why)
        terms = packing.Settlement(why, at, self.items.held(cause.tenant, opened, at))
        missing = joins.missing(join) if self._rules.revise else frozenset()
        yield from self._send(join, terms, () if missing else join.holds)
        if missing:
            self._incomplete[join.pack_id] = Incomplete(join, missing, at + REPEAT_WINDOW, terms.previous, at)

    def _send(self, join: Join, terms: packing.Settlement, settles: tuple[Position, ...]) -> Iterable[Step]:
        opened, cause = join.opened, join.cause
        assert opened is not None
        assert cause is not None
        wanted = opened.options.template if opened.options else None
        terms = replace(terms, template=self._rules.templates.of(cause.tenant, wanted))
        pack = packing.pack(opened, join.parts, joins.report(join), terms, self._rules.counter, self._rules.summarise)
        # The decision first: the pack settles the inputs, so it must be sent last.
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
            partition=self._partition,
            settles=settles,
        )
        self._remember(cause.tenant, pack)

    def _after_emission(self, pack_id: str, inputs: Sequence[Received[JoinOpened | PartFound]]) -> Iterable[Step]:
        """Handle a record of an emitted pack: a repeat, or late parts, which are audited and may revise the pack."""
        lacking, held = self.ledger[pack_id], False
        if any(isinstance(each.event, PartFound) and each.event.memory_class in lacking.classes for each in inputs):
            # Once a pack, and the same on redelivery: an overload must not make more records than packs.
            self.ledger[pack_id] = lacking._replace(classes=frozenset())
            yield _late(inputs[0], lacking)
        for each in inputs:
            incomplete = self._incomplete.get(pack_id)
            if incomplete is not None and incomplete.wants(each):
                held = True
                yield from self._revise(incomplete.add(each))
        if not held:
            yield Settled((inputs[0].position,))

    def _revise(self, revised: Incomplete) -> Iterable[Step]:
        """Emit the next revision, unless the output has it already and the inputs are only read again."""
        join, missing = revised.join, joins.missing(revised.join)
        if revised.revision > revised.emitted:
            why = "deadline" if missing else "complete"
            terms = packing.Settlement(why, revised.at, revised.previous, revised.revision)
            yield from self._send(join, terms, () if missing else join.holds)
        if missing:
            self._incomplete[join.pack_id] = revised
        else:
            del self._incomplete[join.pack_id]

    def _release(self) -> Iterable[Step]:
        """Settle the inputs of packs that are not revised any more, oldest first."""
        while self._incomplete:
            oldest = next(iter(self._incomplete.values()))
            size = sum(each.join.size for each in self._incomplete.values())
            is_full = len(self._incomplete) > self._rules.max_incomplete or size > self._rules.max_bytes
            if oldest.until >= self._time and not is_full:
                return
            del self._incomplete[oldest.join.pack_id]
            if oldest.join.holds:
                yield Settled(oldest.join.holds)

    def _expect_again(self, record: Received[ContextPack]) -> None:
        """Reopen an emitted pack with missing parts: its inputs may be read again, and a late part after them."""
        pack = record.event
        missing, incomplete = missing_of(pack), self._incomplete.get(pack.pack_id)
        if incomplete is not None:
            self._incomplete[pack.pack_id] = replace(incomplete, emitted=max(incomplete.emitted, pack.revision))
            if not missing:
                del self._incomplete[pack.pack_id]
        elif pack.revision == 1 and missing and pack.pack_id not in self.ledger:
            at = pack.assembled_at
            previous = self.items.held(record.envelope.tenant, pack, at)
            join = joins.start(pack.pack_id, at)
            self._incomplete[pack.pack_id] = Incomplete(join, missing, at + REPEAT_WINDOW, previous, at)

    def _remember(self, tenant: str, pack: ContextPack) -> None:
        lacking = lacking_of(pack)
        self.ledger.put(pack.pack_id, lacking if pack.revision > 1 else self.ledger.get(pack.pack_id, lacking))
        self.items.remember(tenant, pack)


def _inputs(record: Received[Partial]) -> Sequence[Received[JoinOpened | PartFound]]:
    """The terms or the parts of a record."""
    if isinstance(record.event, PartFound | PartsFound):
        return joins.parts_of(cast("Received[PartFound | PartsFound]", record))
    return (cast("Received[JoinOpened]", record),)


def _late(record: Received[JoinOpened | PartFound], lacking: Lacking) -> Outgoing:
    pack_id = record.event.pack_id
    audit = AuditDecision(
        kind="late-part",
        id=derive("late-part", pack_id),
        actor="assembler",
        subject_id=pack_id,
        detail={"missing": sorted(each.value for each in lacking.classes)},
        # Not the part's: after a crash another part may be the first.
        created_at=lacking.at,
    )
    key = entity_key(record.envelope.tenant, pack_id)
    return Outgoing(MEMORY_DECISIONS, key, audit, record.envelope, "late-part")


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
        options=opened.options,
        seq=opened.seq,
        evidence=pack.evidence,
    )
