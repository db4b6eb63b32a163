"""The runner of one stage: decode, handle in order, send and await, settle. The only place that catches everything.

| raised                | by         | what happens                                            |
|-----------------------|------------|---------------------------------------------------------|
| `Undecodable`         | the codec  | dead letter, no retry                                   |
| `Erased`              | the codec  | counted, and done                                       |
| `KeysNeeded`          | the codec  | the stage stops, loudly                                 |
| `Rejected`            | the stage  | dead letter, no retry                                   |
|                       |            | of producers outside both are only counted and told     |
| `Unavailable`         | an adapter | wait, try the same record again; never skip             |
| anything else         | a bug      | traceback once, dead letter                             |
| `TooManyDeadLetters…` | the limit  | the stage stops, loudly                                 |

A dead letter is acknowledged by the broker before its source is, and before its stage tells of it. A send that fails
is sent again without handling the record again: a stage with state has already counted it.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Hashable, Sequence
from datetime import datetime
from itertools import groupby, islice

from agents.concurrency import on_wait
from agents.errors import Rejected, Unavailable
from agents.ports.handlers import (
    FailureHandler,
    FilteringHandler,
    Handler,
    JoinHandler,
    LedgerHandler,
    LookbackHandler,
)
from schemas.base import Event
from schemas.envelope import Erased, KeysNeeded, Outgoing, Position, Received, Refused
from streams.kafka.ledger import Start
from streams.kafka.producer import Sender
from streams.kafka.records import Record
from streams.runtime.admission import repartition
from streams.runtime.admission.fairness import Backlog
from streams.runtime.admission.priority import PriorityGate
from streams.runtime.dead_letters import BUG, DlqLimit, Failure, failure_events
from streams.runtime.in_flight import HandledRecord, InFlightRecord, order_key, position_of, tenant_of, unreadable
from streams.runtime.refusals import Refusals
from streams.runtime.stage_sender import StageSender
from streams.stage import Stage
from streams.telemetry import metrics, traces

LOGGER = logging.getLogger("fathom.stage")
# Records of one order that a join handles before it sends: few enough for the first of them not to wait long.
MAX_TOGETHER = 16
LEASE_LOOK_S = 0.05
RESUME_DIVISOR = 8  # of a stage's concurrency an eighth must be free before reading resumes
ReadLedger = Callable[[Stage, Collection[int], Start, datetime | None], Awaitable[dict[int, datetime]]]


class StageRunner:
    """The runner of one stage; calls `handled` when records are done, `broken` with a fatal error."""

    def __init__(
        self,
        stage: Stage,
        handler: Handler,
        sender: Sender,
        limit: DlqLimit,
        *,
        gate: PriorityGate,
        read_ledger: ReadLedger,
        most: int,
        follow: Callable[[InFlightRecord, Outgoing, Record], None] | None = None,
        is_leased: Callable[[], bool] = lambda: True,
        partitions: int | None = None,
        max_waiting_bytes: int = 0,
        handled: Callable[[], None],
        broken: Callable[[BaseException], None],
    ) -> None:
        self.stage = stage
        self.handler = handler
        self._sender = StageSender(stage, sender)
        self._limit = limit
        self._refusals = Refusals(stage.name)
        self._gate = gate
        self._read_ledger = read_ledger
        self.most = most
        self._partitions = partitions
        self._follow = follow
        self._is_leased = is_leased
        self._handled = handled
        self._broken = broken
        self._failure_handler = handler if isinstance(handler, FailureHandler) else None
        self._filter = handler if isinstance(handler, FilteringHandler) else None
        self.ledger_handler = handler if isinstance(handler, LedgerHandler) and stage.own_output is not None else None
        self._lookback_handler = handler if isinstance(handler, LookbackHandler) else None
        self.join_handler = handler if isinstance(handler, JoinHandler) and stage.ledger is not None else None
        self.load = 0  # records begun and not yet handled, with all that follows from them in this process
        self._followed: set[InFlightRecord] = set()  # handled, and what follows from them is not
        self._backlog: Backlog[InFlightRecord] = Backlog(max_waiting_bytes if stage.first else 0)
        self._chains: dict[Hashable, deque[InFlightRecord]] = {}
        self._tasks: dict[asyncio.Task[None], int] = {}
        self._held: dict[Position, InFlightRecord] = {}
        self._gauge_held = metrics.HELD.labels(stage.name)
        self._seconds_ok = metrics.PROCESS.labels(stage.name, "ok")
        self._seconds_dead = metrics.PROCESS.labels(stage.name, "dead-letter")
        self._topics = {topic.name: topic for topic in stage.reads}

    def submit(self, delivery: InFlightRecord) -> None:
        """Accept a record; records of one ordering key (see `Stage.order`) are handled sequentially."""
        record = delivery.record
        if self._filter is not None and not (delivery.failure or self._is_wanted(self._filter, delivery)):
            delivery.handled()
            return delivery.done()
        if not self.stage.first:
            return self._begin(delivery)
        tenant, tenants = tenant_of(record), self._gate.tenants
        tenants.came(tenant)
        # One that has little begins though the stage is full, up to as much again: what fills it is others'.
        at_once = self.load < 2 * self.most and tenants.has_little(tenant) and not self._backlog.holds(tenant)
        if at_once or delivery.suspect is not None:
            return self._begin(delivery)
        self._backlog.put(tenant, delivery)
        return self._begin_waiting()

    def has_room(self, *, resuming: bool = False) -> bool:
        """Whether one more record may be accepted, or several."""
        spare = self.most // RESUME_DIVISOR if resuming else 0
        return self.load < self.most - spare or self._backlog.has_room(resuming=resuming)

    def _begin_waiting(self) -> None:
        while self._backlog and self.load < self.most:
            self._begin(self._backlog.take())

    def _begin(self, delivery: InFlightRecord) -> None:
        self.load += 1
        if self.stage.first:
            self._gate.filled(self.load, self.most)
        if not self.stage.background:
            self._gate.enter(first=self.stage.first)
        key = order_key(self.stage.order, delivery.record)
        chain = self._chains.get(key)
        if chain is not None:
            chain.append(delivery)
            return
        self._chains[key] = chain = deque((delivery,))
        task = asyncio.get_running_loop().create_task(self._run_chain(key, chain))
        self._tasks[task] = delivery.record.partition
        task.add_done_callback(self._chain_ended)

    def _is_wanted(self, handler: FilteringHandler, delivery: InFlightRecord) -> bool:
        """Whether the stage handles a record; undecodable ones count, so that they become dead letters."""
        try:
            return handler.wants(delivery.received(self._topics[delivery.record.topic]).event)
        except Exception:  # noqa: BLE001 - raised here it would end the group; handled, it gets its dead letter
            return True

    def busy(self, partition: int) -> bool:
        """Whether a record of the partition is being handled."""
        return partition in self._tasks.values()

    def discard_waiting(self, partitions: set[int]) -> None:
        """Discard the records of these partitions that are not begun; their next owner reads them again."""
        for tenant, _ in self._backlog.drop(partitions):
            self._gate.tenants.went(tenant)

    async def drain(self, partitions: set[int] | None) -> None:
        """Wait until no record of these partitions (None: of any) is being handled."""
        while tasks := [t for t, partition in self._tasks.items() if partitions is None or partition in partitions]:
            await asyncio.wait(tasks)

    def forget(self, partitions: set[int]) -> None:
        """Discard queued and held records of these partitions; their next owner reads them again."""
        for task in [task for task, partition in self._tasks.items() if partition in partitions]:
            task.cancel()
        for position in [position for position in self._held if position.partition in partitions]:
            del self._held[position]
        for one in [one for one in self._followed if one.record.partition in partitions]:
            self.ended(one)
        self._gauge_held.set(len(self._held))

    async def send(self, step: Outgoing) -> None:
        """Send one event without a source record (a tick), and await its acknowledgement."""
        await self._sender.send_all([step])

    def _chain_ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.pop(task, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._broken(error)

    async def _run_chain(self, key: Hashable, chain: deque[InFlightRecord]) -> None:
        try:
            while chain:
                if chain[0].suspect is not None:
                    on_wait(lambda: InFlightRecord.all_wait(chain))  # until then all others wait for it
                elif self.stage.background:
                    await self._gate.turn(self.stage.name, self.stage.together)
                elif self.stage.first:
                    await self._gate.admitted(tenant_of(chain[0].record))
                # A join sends nothing of one record that the next one needs: what waits is handled in one go.
                join = self.stage.ledger is not None
                together = min(len(chain), MAX_TOGETHER) if join else max(1, unreadable(chain, self._topics))
                await self._process(list(islice(chain, together)))
                self._finish([chain.popleft() for _ in range(together)])
        finally:
            self._finish(chain, cut=True)
            if self._chains.get(key) is chain:
                del self._chains[key]

    def _finish(self, deliveries: Collection[InFlightRecord], *, cut: bool = False) -> None:
        if not (records := len(deliveries)):
            return
        for one in deliveries:
            if self._follow is None or cut or one.is_done:
                self.load -= 1
            else:
                self._followed.add(one)
                one.watch(self.ended)
            one.handled()
            if self.stage.first:
                self._gate.tenants.went(tenant_of(one.record))
        if not self.stage.background:
            self._gate.leave(records, first=self.stage.first)
        self._go_on()

    def ended(self, delivery: InFlightRecord) -> None:
        """Count a record as handled with all that follows from it."""
        if delivery in self._followed:
            self._followed.discard(delivery)
            self.load -= 1
            self._go_on()

    def _go_on(self) -> None:
        if self.stage.first:
            self._gate.filled(self.load, self.most)
        self._begin_waiting()
        self._handled()

    async def _process(self, deliveries: Sequence[InFlightRecord]) -> None:
        """Handle records one after the other, and send what is made of them together."""
        handled = [one for delivery in deliveries if not (one := await self._handle(delivery)).erased]
        for failed, those in groupby(handled, key=lambda one: one.failure is not None):
            # A process that stood still may have lost its partitions: the next owner may have recorded other parts.
            while self.stage.head and not self._is_leased():  # noqa: ASYNC110 - a lease runs out by the clock
                await asyncio.sleep(LEASE_LOOK_S)
            perform = self._set_aside if failed else self._perform
            await perform(list(those))

    async def _set_aside(self, failed: Sequence[HandledRecord]) -> None:
        """Settle records with dead letters, side by side."""
        await asyncio.gather(*(self._settle(one.delivery, one.failure, one.received) for one in failed))
        for one in failed:
            assert one.failure is not None
            refused = one.failure.code != BUG and self._topics[one.delivery.record.topic].outside
            self._record_outcome(one, is_told=refused)
            if refused:
                self._refusals.note(one.delivery.record, one.failure)
            else:
                self._limit.failed(one.failure)

    async def _handle(self, delivery: InFlightRecord) -> HandledRecord:
        """What the stage makes of a record, or why it cannot."""
        one = HandledRecord(delivery, time.perf_counter())
        topic = self._topics[delivery.record.topic]
        if delivery.is_unreadable(topic):
            one.failure = delivery.failure
            return one
        try:
            one.received = delivery.received(topic)
            if place := repartition.destination(topic, delivery.record, one.received, self._partitions):
                await self._sender.move(delivery.record, one.received, *place)
                return one
            if self._lookback_handler is not None:
                await self._look_back(self._lookback_handler, one.received)
            while True:
                one.attempts += 1
                try:
                    one.steps = await self.handler.handle(one.received)
                    break
                except Unavailable as unavailable:
                    await self._sender.wait_for(unavailable, one.attempts)
        except Erased:
            one.erased = True
            metrics.ERASED.labels(self.stage.name).inc()
            delivery.done()
        except KeysNeeded:
            raise
        except Rejected as error:
            one.failure = Failure(error.code, error.detail, type(error).__name__, one.attempts)
        except Exception as error:
            LOGGER.error("stage.bug", exc_info=error, extra={"fields": {"stage": self.stage.name}})
            one.failure = Failure(BUG, f"{type(error).__name__}: {error}", type(error).__name__, one.attempts)
        return one

    async def _look_back(self, handler: LookbackHandler, record: Received[Event]) -> None:
        """Tell a join what its output has since an earlier time, where a record asks for it."""
        if (since := handler.unknown_since(record)) is not None:
            known = await self._read_ledger(self.stage, [record.partition], handler.look_back, since)
            handler.remember(record.partition, min(since, known[record.partition]))

    def _record_outcome(self, one: HandledRecord, *, is_told: bool = False) -> None:
        seconds = time.perf_counter() - one.began
        failure, received = one.failure, one.received
        (self._seconds_ok if failure is None else self._seconds_dead).observe(seconds)
        if traces.active is not None and received is not None:
            traces.tell(traces.Handled(self.stage, received, one.steps, failure.code if failure else None, seconds))
        if (failure is not None and not is_told) or metrics.RECORDS.isEnabledFor(logging.DEBUG):
            one.log(self.stage.name, seconds)

    async def _perform(self, made: Sequence[HandledRecord]) -> None:
        """Send what was made of records, in order, and settle them."""
        if self.stage.ledger is not None:
            await self._send_and_settle(made)
        for one in made:
            if self.stage.ledger is None:
                one.failure = await self._send(one)
                await self._settle(one.delivery, one.failure, one.received)
            self._record_outcome(one)
            if one.failure is None:
                self._limit.passed()
            else:
                self._limit.failed(one.failure)

    async def _send_and_settle(self, made: Sequence[HandledRecord]) -> None:
        for one in made:
            self._held[position_of(one.delivery.record)] = one.delivery
        steps = [step for one in made for step in one.steps]
        refused = await self._sender.send_all([step for step in steps if isinstance(step, Outgoing)])
        for step in steps:
            failure = Failure(step.code, step.detail, "Refused") if isinstance(step, Refused) else refused.get(id(step))
            for position in step.settles if isinstance(step, Outgoing) else step.positions:
                if (held := self._held.pop(position, None)) is not None:
                    await self._settle(held, failure)
        self._gauge_held.set(len(self._held))

    async def _send(self, one: HandledRecord) -> Failure | None:
        """Send what was made of a record, and hand it on; why it cannot be sent."""
        steps, follow = [step for step in one.steps if isinstance(step, Outgoing)], self._follow
        stored = None if follow is None else lambda step, record: follow(one.delivery, step, record)
        return next(iter((await self._sender.send_all(steps, stored)).values()), None)

    async def _settle(
        self, delivery: InFlightRecord, failure: Failure | None, received: Received[Event] | None = None
    ) -> None:
        """Acknowledge a record, after its dead letter where it failed."""
        if failure is not None:
            await self._sender.dead_letter(delivery.record, failure)
            if received is not None:
                await self._sender.send_all(failure_events(self._failure_handler, received, failure, self.stage.name))
        delivery.done()
