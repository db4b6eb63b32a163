"""Records that kill their process are found, and not handled again.

| in hand when a process died | what happens the next time                                                       |
|-----------------------------|----------------------------------------------------------------------------------|
| once                        | it is handled as ever                                                            |
| twice or more               | it is handled alone: nothing else is begun in the process until it is done       |
| three times, the last alone | after a fault: not handled, but a dead letter of its stage, `crash_loop`         |
| four times, the last 2 alone| the same after kills, of which it cannot be told whether they came from outside  |

What was in hand is read from the journals of dead processes at the start, and counted in the session store for all
workers. A kill from outside suspects innocents, too: they are handled alone once, killing nothing, and that is all.
What only waits, for a store or for what it names, is not in hand. Without suspects a record costs its two entries in
the journal and a look at `careful`.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from agents.concurrency import AT_ONCE
from agents.errors import Unavailable
from streams.kafka.records import Record, TopicPartition
from streams.runtime.crashes.journal import InHand, InHandJournal, left_behind
from streams.telemetry import metrics

LOGGER = logging.getLogger("fathom.group")
CODE = "crash_loop"
ALONE_AFTER, MAX_CRASHES, MAX_ALONE = 2, 3, 2
# What a crash says against the record that was alone: a fault is the process's own, a kill may be from outside.
FAULTED, KILLED = 2, 1
# What is in hand when a suspect's turn comes is awaited so long: longer than batches gather, so that only what waits
# for something else is left.
QUIET_S, POLL_S = 0.3, 0.002
# How long a suspect may be alone, twice as long after each crash more: what kills later takes more crashes to find.
ALONE_S, MAX_ALONE_S = 1.0, 16.0
# Before one that was alone at a death already: what ends processes soon after their start has done so by then.
RESPITE_S = 1.0
# How long suspects may follow one another before what else there is goes on.
MAX_CLOSED_S = 1.0


class Delivery(Protocol):
    """A record on its way through a stage."""

    record: Record


D = TypeVar("D", bound=Delivery)


class CrashCounts(Protocol):
    """The crashes by record, shared by all workers; raises `Unavailable`."""

    async def crashed(self, records: Mapping[str, int]) -> None: ...

    async def counts(self) -> dict[str, tuple[int, int]]: ...

    async def forget(self, records: Collection[str]) -> None: ...


@dataclass(frozen=True, slots=True)
class Suspicion:
    """The number of crashes with a record in hand, and what those say in which it was alone."""

    crashes: int
    alone: int

    @property
    def guilty(self) -> bool:
        """Whether it is not to be handled any more."""
        return self.crashes >= MAX_CRASHES and self.alone >= MAX_ALONE

    @property
    def limit(self) -> float:
        """How long it may be alone."""
        return min(ALONE_S * 2.0 ** (self.crashes - ALONE_AFTER), MAX_ALONE_S)


class CrashWatch:
    """The suspects among the records of this process's partitions, and the turn of the one that is handled alone."""

    def __init__(self, journal: InHandJournal | None = None, counts: CrashCounts | None = None) -> None:
        self.journal = journal or InHandJournal.private()
        # Whether anything is suspected, or waits for a suspect: read for every record.
        self.careful = False
        self._counts = counts
        self._suspects: dict[InHand, Suspicion] = {}
        self._turn = asyncio.Lock()
        self._waiting = 0
        # Suspects that went on for longer than they may be alone: nobody can be told from them.
        self._outlived = 0
        self._open = asyncio.Event()
        self._open.set()
        self._closed_at = 0.0
        self._let_go: Callable[[], None] | None = None
        self._at = (0, 0)
        self._done: set[str] = set()
        self._forgetting: asyncio.Task[None] | None = None

    async def count_crashes(self, folder: Path, shared: str) -> None:
        """Count what dead processes left in hand; while the store is away their journals stay."""
        for found in left_behind(folder, shared):
            try:
                if self._counts is not None and found.in_hand:
                    weight = FAULTED if found.faulted else KILLED
                    said = {str(each): weight if each == found.alone else 0 for each in found.in_hand}
                    await self._counts.crashed(said)
                found.discard()
            except Unavailable as away:
                metrics.log(LOGGER, logging.WARNING, "crash.uncounted", why=str(away), next="at the next start")
            else:
                _tell(found.in_hand, found.alone)
            finally:
                found.keep()

    async def assigned(self, stages: Collection[str], begins: Mapping[TopicPartition, int]) -> None:
        """Look up the suspects in partitions, from the offsets where they begin; older ones are done and forgotten."""
        if self._counts is None:
            return
        try:
            counts = await self._counts.counts()
        except Unavailable as away:
            metrics.log(LOGGER, logging.WARNING, "crash.unknown", why=str(away), next="records are handled as ever")
            return
        for text, (crashes, alone) in counts.items():
            with suppress(ValueError):
                record = InHand.of(text)
                begin = begins.get(TopicPartition(record.topic, record.partition))
                if record.stage not in stages or begin is None:
                    continue
                if record.offset < begin:
                    self._forget([text])
                else:
                    self._suspects[record] = Suspicion(crashes, alone)
        self._look()

    def revoked(self, stages: Collection[str]) -> None:
        """Leave the suspects of a group to the next owner: a rebalance takes all of its partitions."""
        self._suspects = {record: found for record, found in self._suspects.items() if record.stage not in stages}
        self._look()

    def suspicion(self, stage: str, record: Record) -> Suspicion | None:
        """The suspicion of a record that is not to be handled beside others."""
        found = self._suspects.get(InHand(stage, record.topic, record.partition, record.offset))
        return found if found is not None and found.crashes >= ALONE_AFTER else None

    def verdict(self, stage: str, record: Record) -> tuple[str, int] | None:
        """Why a record is not to be handled any more, and after how many crashes; None: it is."""
        found = self.suspicion(stage, record)
        return None if found is None or not found.guilty else (_why(stage, record, found), found.crashes)

    async def process(self, stage: str, ready: Sequence[D], process: Callable[[Sequence[D]], Awaitable[None]]) -> int:
        """Have the first of these processed, as many as may be at a time; returns how many."""
        suspicions = [self.suspicion(stage, each.record) for each in ready]
        count = next((number for number, found in enumerate(suspicions) if found is not None), len(ready))
        if (first := suspicions[0]) is not None and first.guilty:
            count = 1
            await process(ready[:1])
        elif first is not None:
            count, record = 1, ready[0].record
            if first.alone:
                await asyncio.sleep(RESPITE_S)
            async with self._alone(self.journal.place(stage, record.topic) | record.partition, record.offset, first):
                await process(ready[:1])
        else:
            # Once: of suspects that follow one another nothing else may wait for all.
            await self._open.wait()
            await process(ready[:count])
        self._passed(stage, [each.record for each in ready[:count]])
        return count

    def let_go(self, place: int, offset: int) -> None:
        """Let others go on beside a suspect that waits for a store; of other records nothing."""
        if self._let_go is not None and self._at == (place, offset):
            self._let_go()

    @asynccontextmanager
    async def _alone(self, place: int, offset: int, suspicion: Suspicion) -> AsyncIterator[None]:
        """Handle a suspect without beginning anything else, for as long as it may be alone; one at a time."""
        if not await self._take_turn(suspicion):
            yield  # beside another that may kill: nothing could be told from a crash
            return
        over = outlived = False

        def end() -> None:
            nonlocal over
            if over:
                return
            over, self._let_go = True, None
            self.journal.alone(0, 0)
            self._reopen()
            self._turn.release()

        def outlive() -> None:
            nonlocal outlived
            outlived = True
            self._outlived += 1
            end()

        try:
            await self._close()
            self._let_go, self._at = end, (place, offset)
            self.journal.alone(place, offset)
            timer = asyncio.get_running_loop().call_later(suspicion.limit, outlive)
            at_once = AT_ONCE.set(True)
            try:
                yield
            finally:
                AT_ONCE.reset(at_once)
                timer.cancel()
                self._outlived -= outlived
        finally:
            end()

    def _passed(self, stage: str, records: Iterable[Record]) -> None:
        """Forget records that were handled and killed nothing."""
        for record in records:
            place = InHand(stage, record.topic, record.partition, record.offset)
            # Of a guilty one the count stays: delivered again, it must not be handled.
            if place in self._suspects and not self._suspects[place].guilty:
                del self._suspects[place]
                self._forget([str(place)])
        self._look()

    async def _others_end(self, suspicion: Suspicion) -> bool:
        """Whether those that outlived their limits end in time; one that was just found does not wait for them."""
        left = suspicion.limit - ALONE_S
        while self._outlived and left > 0:
            await asyncio.sleep(POLL_S)
            left -= POLL_S
        return not self._outlived

    async def _close(self) -> None:
        loop = asyncio.get_running_loop()
        if self._open.is_set():
            self._open.clear()
            self._closed_at = loop.time()
            self._look()
        until = loop.time() + QUIET_S
        while self.journal.in_hand and loop.time() < until:  # noqa: ASYNC110 - an event would cost every record
            await asyncio.sleep(POLL_S)

    async def _take_turn(self, suspicion: Suspicion) -> bool:
        """Wait for the others' turns; whether this one has its own: not beside one that outlived its limit."""
        self._waiting += 1
        try:
            await self._turn.acquire()
        finally:
            self._waiting -= 1
            if not self._turn.locked():  # cancelled, perhaps the last that it was closed for
                self._reopen()
        mine = False
        try:
            mine = await self._others_end(suspicion)
        finally:
            if not mine:
                self._turn.release()
        return mine

    def _reopen(self) -> None:
        # While more suspects wait it stays closed for a while: what is in hand was awaited for all of them.
        late = asyncio.get_running_loop().time() - self._closed_at > MAX_CLOSED_S
        if self._outlived or late or not self._waiting:
            self._open.set()
            self._look()

    def _look(self) -> None:
        self.careful = bool(self._suspects) or not self._open.is_set()

    def _forget(self, records: Iterable[str]) -> None:
        self._done.update(records)
        if self._forgetting is None or self._forgetting.done():
            self._forgetting = asyncio.get_running_loop().create_task(self._forget_all())

    async def _forget_all(self) -> None:
        while self._done and self._counts is not None:
            await asyncio.sleep(0)
            done, self._done = self._done, set()
            # What is not forgotten expires; until then it is handled alone, if ever again.
            with suppress(Unavailable):
                await self._counts.forget(done)


def _tell(in_hand: Collection[InHand], alone: InHand | None) -> None:
    who = "" if alone is None else str(alone)
    metrics.log(LOGGER, logging.WARNING, "process.died", records_in_hand=len(in_hand), alone=who)


def _why(stage: str, record: Record, found: Suspicion) -> str:
    where = f"{record.topic}:{record.partition}:{record.offset}"
    detail = (
        f"{found.crashes} processes died while stage {stage} was handling {where}, alone at the last: it is not "
        "handled again. The system's log says what they died of (memory, a segmentation fault, a kill); "
        "mend that, then send it again with `fathom dlq redrive`"
    )
    metrics.log(
        LOGGER, logging.ERROR, "record.quarantined", stage=stage, record=where, crashes=found.crashes, code=CODE
    )
    return detail
