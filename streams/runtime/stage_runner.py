"""The runner of one stage: decode, handle in order, send and await, settle. The only place that catches everything.

| raised                | by         | what happens                                            |
|-----------------------|------------|---------------------------------------------------------|
| `Undecodable`         | the codec  | dead letter, no retry                                   |
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
import random
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence

from aiokafka.errors import KafkaError

from agents.errors import Rejected, Unavailable
from agents.ports.handlers import FailureTellingHandler, FilteringHandler, Handler, JoiningHandler, LedgerHandler
from schemas import codec
from schemas.base import Event
from schemas.codec import Undecodable
from schemas.envelope import Outgoing, Position, Received, Refused, Step
from schemas.topics import Topic
from streams.kafka.producer import Sender
from streams.kafka.records import Record
from streams.runtime.dead_letters import DlqLimit, Failure, headers_of
from streams.runtime.priority import PriorityGate
from streams.runtime.refusals import Refusals
from streams.telemetry import metrics, traces
from streams.topology import Stage

LOGGER = logging.getLogger("fathom.stage")
FIRST_WAIT, MAX_BACKOFF_S = 0.05, 5.0
BUG = "bug"
MAX_WHY = 500


class InFlightRecord:
    """A record in progress in a group: decoded once, acknowledged when all its stages are done."""

    __slots__ = ("_ack", "_left", "_received", "record")

    def __init__(self, record: Record, stages: int, ack: Callable[[Record], None]) -> None:
        self.record = record
        self._left = stages
        self._ack = ack
        self._received: Received[Event] | None = None

    def received(self, topic: Topic) -> Received[Event]:
        """The decoded record; raises `Undecodable`."""
        if self._received is None:
            record = self.record
            self._received = codec.decode_record(topic, record)
        return self._received

    def done(self) -> None:
        """Count one stage as done; acknowledge the record after the last."""
        self._left -= 1
        if self._left == 0:
            self._ack(self.record)


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
        most: int,
        handled: Callable[[], None],
        broken: Callable[[BaseException], None],
    ) -> None:
        self.stage = stage
        self.handler = handler
        self._sender = sender
        self._limit = limit
        self._refusals = Refusals(stage.name)
        self._gate = gate
        self.most = most
        self._handled = handled
        self._broken = broken
        self._telling = handler if isinstance(handler, FailureTellingHandler) else None
        self._filter = handler if isinstance(handler, FilteringHandler) else None
        self.following = handler if isinstance(handler, LedgerHandler) and stage.ledger is not None else None
        self.joining = handler if isinstance(handler, JoiningHandler) and stage.ledger is not None else None
        self.load = 0  # records taken and not yet handled
        self._chains: dict[Hashable, deque[InFlightRecord]] = {}
        self._tasks: dict[asyncio.Task[None], int] = {}
        self._held: dict[Position, InFlightRecord] = {}
        self._seconds_ok = metrics.PROCESS.labels(stage.name, "ok")
        self._seconds_dead = metrics.PROCESS.labels(stage.name, "dead-letter")
        self._topics = {topic.name: topic for topic in stage.reads}

    def submit(self, delivery: InFlightRecord) -> None:
        """Accept a record; records of one ordering key (see `Stage.order`) are handled sequentially."""
        record = delivery.record
        if self._filter is not None and not self._is_wanted(self._filter, delivery):
            delivery.done()
            return
        self.load += 1
        if self.stage.first:
            self._gate.filled(self.load, self.most)
        if not self.stage.background:
            self._gate.enter(first=self.stage.first)
        key = self._order_key(record)
        chain = self._chains.get(key)
        if chain is not None:
            chain.append(delivery)
            return
        self._chains[key] = chain = deque((delivery,))
        task = asyncio.get_running_loop().create_task(self._run_chain(key, chain))
        self._tasks[task] = record.partition
        task.add_done_callback(self._chain_ended)

    def _is_wanted(self, handler: FilteringHandler, delivery: InFlightRecord) -> bool:
        """Whether the stage handles a record; undecodable ones count, so that they become dead letters."""
        try:
            return handler.wants(delivery.received(self._topics[delivery.record.topic]).event)
        except Undecodable:
            return True

    def busy(self, partition: int) -> bool:
        """Whether a record of the partition is being handled."""
        return partition in self._tasks.values()

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
        metrics.HELD.labels(self.stage.name).set(len(self._held))

    async def send(self, step: Outgoing) -> None:
        """Send one event without a source record (a tick), and await its acknowledgement."""
        await self._send_all([step])

    def _order_key(self, record: Record) -> Hashable:
        if self.stage.order == "none":
            return (record.topic, record.partition, record.offset)
        if self.stage.order == "partition" or record.key is None:
            return (record.topic, record.partition)
        return (record.topic, record.key) if self.stage.order == "topic" else record.key

    def _chain_ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.pop(task, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._broken(error)

    async def _run_chain(self, key: Hashable, chain: deque[InFlightRecord]) -> None:
        try:
            while chain:
                if self.stage.background:
                    await self._gate.turn(self.stage.name, self.stage.together)
                elif self.stage.first:
                    await self._gate.admitted(_tenant(chain[0].record))
                await self._process(chain[0])
                chain.popleft()
                self._finish(1)
        finally:
            self._finish(len(chain))
            if self._chains.get(key) is chain:
                del self._chains[key]

    def _finish(self, records: int) -> None:
        if records:
            self.load -= records
            if self.stage.first:
                self._gate.filled(self.load, self.most)
            if not self.stage.background:
                self._gate.leave(records, first=self.stage.first)
            self._handled()

    async def _process(self, delivery: InFlightRecord) -> None:
        record, began = delivery.record, time.perf_counter()
        received: Received[Event] | None = None
        attempts = 0
        failure: Failure | None = None
        steps: Sequence[Step] = ()
        try:
            received = delivery.received(self._topics[record.topic])
            while True:
                attempts += 1
                try:
                    steps = await self.handler.handle(received)
                    break
                except Unavailable as unavailable:
                    await self._wait_for(unavailable, attempts)
        except Undecodable as error:
            failure = Failure(error.code, error.detail, type(error).__name__)
        except Rejected as error:
            failure = Failure(error.code, error.detail, type(error).__name__, attempts)
        except Exception as error:
            LOGGER.error("stage.bug", exc_info=error, extra={"fields": {"stage": self.stage.name}})
            failure = Failure(BUG, f"{type(error).__name__}: {error}", type(error).__name__, attempts)
        if failure is None:
            await self._perform(steps, delivery)
        else:
            await self._dead_letter(delivery, failure, received)
        seconds = time.perf_counter() - began
        self._record_outcome(record, received, failure, max(attempts, 1), seconds)
        if traces.active is not None and received is not None:
            why = None if failure is None else failure.code
            traces.tell(traces.Handled(self.stage, received, steps, why, seconds))
        if failure is None:
            self._limit.passed()
        elif failure.code != BUG and self._topics[record.topic].outside:
            self._refusals.note(record, failure)
        else:
            self._limit.failed(failure)

    def _record_outcome(
        self,
        record: Record,
        received: Received[Event] | None,
        failure: Failure | None,
        attempts: int,
        seconds: float,
    ) -> None:
        (self._seconds_ok if failure is None else self._seconds_dead).observe(seconds)
        if failure is None and not metrics.RECORDS.isEnabledFor(logging.DEBUG):
            return
        metrics.record_processed(
            stage=self.stage.name,
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            key=(record.key or b"").decode(errors="replace"),
            event_type=received.envelope.type if received else "",
            correlation_id=received.envelope.correlation_id if received else "",
            outcome="ok" if failure is None else "dead-letter",
            attempts=attempts,
            seconds=seconds,
            reason=None if failure is None else f"{failure.code}: {failure.detail}",
        )

    async def _wait_for(self, unavailable: Unavailable, attempts: int) -> None:
        metrics.RETRIES.labels(self.stage.name, unavailable.what).inc()
        level = logging.WARNING if attempts == 1 else logging.DEBUG
        metrics.log(LOGGER, level, "stage.waits", stage=self.stage.name, what=unavailable.what, why=unavailable.detail)
        await asyncio.sleep(min(FIRST_WAIT * 2 ** min(attempts - 1, 10), MAX_BACKOFF_S) * random.uniform(0.7, 1.3))

    async def _perform(self, steps: Sequence[Step], delivery: InFlightRecord) -> None:
        if self.stage.ledger is not None:
            self._held[_position(delivery.record)] = delivery
        await self._send_all([step for step in steps if isinstance(step, Outgoing)])
        if self.stage.ledger is None:
            delivery.done()
            return
        for step in steps:
            positions = step.settles if isinstance(step, Outgoing) else step.positions
            held = [found for position in positions if (found := self._held.pop(position, None)) is not None]
            if isinstance(step, Refused):
                failure = Failure(step.code, step.detail, "Refused")
                for one in held:
                    await self._dead_letter(one, failure)
            else:
                for one in held:
                    one.done()
        metrics.HELD.labels(self.stage.name).set(len(self._held))

    async def _send_all(self, steps: list[Outgoing]) -> None:
        """Send and await every acknowledgement, the ledger's last: its records are never made again."""
        ledger = self.stage.ledger
        await self._send_in_order([step for step in steps if step.topic is not ledger])
        await self._send_in_order([step for step in steps if step.topic is ledger])

    async def _send_in_order(self, steps: list[Outgoing]) -> None:
        """Send and await every acknowledgement; on failure all are sent again, to keep the order."""
        if not steps:
            return
        encoded = [(step, *codec.encode(step, self.stage.name)) for step in steps]
        attempts = 0
        while True:
            attempts += 1
            try:
                sent = [
                    await self._sender.send(step.topic.name, key or None, value, headers, step.partition)
                    for step, key, value, headers in encoded
                ]
                for future in sent:
                    await future
                break
            except (Unavailable, KafkaError) as error:
                unavailable = error if isinstance(error, Unavailable) else Unavailable("broker", repr(error))
                await self._wait_for(unavailable, attempts)
        for step in steps:
            metrics.sent(step.event)

    async def _dead_letter(
        self, delivery: InFlightRecord, failure: Failure, received: Received[Event] | None = None
    ) -> None:
        record = delivery.record
        headers = headers_of(record, self.stage.name, failure)
        attempts = 0
        while True:
            attempts += 1
            try:
                await (await self._sender.send(self.stage.dead_letters, record.key, record.value, headers))
                break
            except (Unavailable, KafkaError) as error:
                unavailable = error if isinstance(error, Unavailable) else Unavailable("broker", repr(error))
                await self._wait_for(unavailable, attempts)
        metrics.DEAD_LETTERS.labels(self.stage.name, failure.code).inc()
        if received is not None:
            await self._send_all(self._told(received, failure))
        delivery.done()

    def _told(self, received: Received[Event], failure: Failure) -> list[Outgoing]:
        """What the stage says of a record that it could not process; nothing where it fails in that, too."""
        if self._telling is None:
            return []
        why = failure.detail if failure.code == BUG else f"{failure.code}: {failure.detail}"
        try:
            return list(self._telling.failed(received, f"{why[:MAX_WHY]}; the record is in {self.stage.dead_letters}"))
        except Exception as error:
            LOGGER.error("stage.bug", exc_info=error, extra={"fields": {"stage": self.stage.name}})
            return []


def _position(record: Record) -> Position:
    return Position(record.topic, record.partition, record.offset)


def _tenant(record: Record) -> bytes:
    return next((value for name, value in record.headers if name == "tenant"), b"")
