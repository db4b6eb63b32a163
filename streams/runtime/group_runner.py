"""The runner of one consumer group.

It delivers each record to every stage that reads its topic, acknowledges when all are done, drains on a rebalance,
ticks joins, and applies backpressure.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import Protocol

from agents.ports.handlers import Handler, JoinHandler, LedgerHandler, LookbackHandler
from schemas.envelope import Outgoing, Received
from schemas.topics import Topic
from streams.config import Settings
from streams.kafka.ledger import ALWAYS, Start
from streams.kafka.producer import Sender
from streams.kafka.records import Record, TopicPartition
from streams.runtime.admission.clock_skew import ClockSkew
from streams.runtime.admission.priority import PriorityGate
from streams.runtime.dead_letters import DlqLimit
from streams.runtime.in_flight import InFlightRecord
from streams.runtime.stage_runner import ReadLedger, StageRunner
from streams.runtime.suspects import Leaving, Suspects, SuspectTurns
from streams.stage import Stage
from streams.telemetry import metrics

LOGGER = logging.getLogger("fathom.group")
TICK_EVERY_S = 0.01


class Membership(Leaving, Protocol):
    """The operations of a consumer group that the runner needs."""

    def ack(self, topic: str, partition: int, offset: int) -> None: ...

    def assignment(self) -> frozenset[TopicPartition]: ...

    def highwater(self, tp: TopicPartition) -> int | None: ...

    @property
    def leased(self) -> bool: ...


GiveUp = Callable[[str, frozenset[int]], None]


def nothing_given_up(_topic: str, _partitions: frozenset[int]) -> None:
    """The default of `give_up`, for a sender without buffers."""


async def no_ledger(
    _: Stage, partitions: Collection[int], start: Start, _since: datetime | None
) -> dict[int, datetime]:
    """The default of `read_ledger`: empty output partitions."""
    for number in partitions:
        start(number)
    return dict.fromkeys(partitions, ALWAYS)


class GroupRunner:
    """The runner of one group; `failed` is set on a fatal error."""

    def __init__(
        self,
        name: str,
        stages: Sequence[tuple[Stage, Handler]],
        sender: Sender,
        settings: Settings,
        *,
        read_ledger: ReadLedger = no_ledger,
        give_up: GiveUp = nothing_given_up,
        gate: PriorityGate | None = None,
        suspect_turns: SuspectTurns | None = None,
        partitions: int | None = None,
    ) -> None:
        self.name = name
        self.failed: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()
        self._membership: Membership | None = None
        self._skew = ClockSkew()
        self._read_ledger = read_ledger
        self._give_up = give_up
        (room := asyncio.Event()).set()
        self._room, gate = room, gate or PriorityGate()
        self._runners = [
            StageRunner(
                stage,
                handler,
                sender,
                DlqLimit(stage.name, max_consecutive=settings.dlq_max_consecutive, max_ratio=settings.dlq_max_ratio),
                gate=gate,
                read_ledger=read_ledger,
                most=min(stage.concurrency, settings.max_in_flight),
                follow=partial(self._hand_on, stage.name) if any(each.head for each, _ in stages) else None,
                is_leased=self._is_leased,
                partitions=partitions,
                max_waiting_bytes=settings.max_waiting_mb << 20,
                handled=self._handled,
                broken=self._broken,
            )
            for stage, handler in stages
        ]
        (suspect_turns := suspect_turns or SuspectTurns()).watch(self.load)
        self._suspect_turns = suspect_turns
        self._suspects = Suspects(name, settings.max_crashes, self._suspect_turns)
        self._readers = _by_topic(self._runners, lambda stage: stage.consumes)
        self._followers = _by_topic(self._runners, lambda stage: stage.reads if stage.head else ())
        self._ticker: asyncio.Task[None] | None = None

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that the broker feeds."""
        return tuple(self._readers)

    @property
    def copartitioned(self) -> tuple[str, ...]:
        """The topics of stages that read several in order: they are co-partitioned, a key has one partition number."""
        stages = (runner.stage for runner in self._runners)
        several = (stage.consumes for stage in stages if len(stage.consumes) > 1 and stage.order != "none")
        return tuple(dict.fromkeys(topic.name for topic in chain.from_iterable(several)))

    @property
    def holds(self) -> bool:
        """Whether a stage holds inputs until what it makes of them is sent: none of them is committed before."""
        return any(runner.stage.ledger is not None and not runner.stage.head for runner in self._runners)

    def join(self, membership: Membership) -> None:
        """Bind the consumer group that feeds `sink`."""
        self._membership = membership

    def start_ticking(self) -> None:
        """Start sending ticks to joins, by the wall clock."""
        if any(runner.join_handler and not runner.stage.head for runner in self._runners):
            self._ticker = asyncio.create_task(self._tick_forever())
            self._ticker.add_done_callback(self._ticks_ended)

    async def stop(self) -> None:
        """Stop the ticks; the consumer group is stopped by its owner."""
        if self._ticker is not None:
            self._ticker.cancel()

    def sink(self, record: Record) -> Awaitable[None] | None:
        """Accept a record; when full, return an awaitable that accepts it once there is room."""
        self._skew.look(record)
        if self._suspects.has(record):
            return self._take_suspect(record)
        if self._has_room(record.topic) and not self._suspect_turns.busy:
            self._take(record)
            return None
        return self._take_later(record)

    def _has_room(self, topic: str, *, resuming: bool = False) -> bool:
        """Whether all stages that read a topic have room for one more record, or for several."""
        return all(runner.has_room(resuming=resuming) for runner in self._readers[topic])

    async def on_assigned(self, partitions: frozenset[TopicPartition]) -> None:
        """Pass the contents of their output partitions to stages with a ledger, before the first record."""
        if self._membership is not None:
            self._suspects.assigned(partitions, self._membership)
        # The last of a chain first: what it has sent says what of the ones before it is done.
        for runner, handler in reversed(self._following(partitions)):
            mine = {tp.partition for tp in partitions if tp.topic in {t.name for t in runner.stage.fed_from}}
            known = await self._read_ledger(runner.stage, sorted(mine), handler.assigned, None)
            if isinstance(handler, LookbackHandler):
                for partition, since in known.items():
                    handler.remember(partition, since)
        metrics.log(LOGGER, logging.INFO, "group.assigned", group=self.name, partitions=len(partitions))

    async def on_revoked(self, partitions: frozenset[TopicPartition]) -> None:
        """Drain, then discard: the next owner reads unacknowledged records again."""
        numbers = {tp.partition for tp in partitions}
        self._suspects.revoked()
        for runner in self._runners:
            runner.discard_waiting(numbers)
        try:
            # One after the other: what is handled here is handed to those behind. Without a lease the next owner has
            # begun with the same records.
            for runner in self._runners if self._is_leased() else ():
                await runner.drain(numbers)
        except asyncio.CancelledError:
            self._give_up_sends(partitions, numbers)
            raise
        finally:
            if not self._is_leased():
                self._give_up_sends(partitions, numbers)
            for runner in self._runners:
                runner.forget(numbers)
            for _, handler in self._following(partitions):
                for number in numbers:
                    handler.revoked(number)
        metrics.log(LOGGER, logging.INFO, "group.revoked", group=self.name, partitions=len(partitions))

    def _give_up_sends(self, partitions: frozenset[TopicPartition], numbers: Collection[int]) -> None:
        """The next owner reads the ledgers now; later sends of ours would be duplicates."""
        for runner, _ in self._following(partitions):
            assert runner.stage.own_output is not None
            self._give_up(runner.stage.own_output.name, frozenset(numbers))

    def _following(self, partitions: frozenset[TopicPartition]) -> list[tuple[StageRunner, LedgerHandler]]:
        topics = {tp.topic for tp in partitions}
        readers = [runner for runner in self._runners if topics & {t.name for t in runner.stage.fed_from}]
        return [(runner, runner.ledger_handler) for runner in readers if runner.ledger_handler is not None]

    def _is_leased(self) -> bool:
        return self._membership is None or self._membership.leased

    def _ack(self, record: Record) -> None:
        if self._membership is not None:
            self._membership.ack(record.topic, record.partition, record.offset)

    def _hand_on(self, sender: str, cause: InFlightRecord, step: Outgoing, record: Record) -> None:
        """Hand what a stage has sent to those chained to it, which need not read and decode it again."""
        runners = self._followers.get(record.topic)
        if not runners:
            return
        received = Received(
            step.event, step.envelope(sender), step.key, record.topic, record.partition, record.offset, record.timestamp
        )
        follower = cause.followed(record, received, len(runners))
        for runner in runners:
            runner.submit(follower)

    def load(self) -> int:
        """The number of records in progress at the busiest stage."""
        return max(runner.load for runner in self._runners)

    def _handled(self) -> None:
        self._room.set()

    def _take(self, record: Record) -> None:
        readers = self._readers[record.topic]
        delivery = InFlightRecord(record, len(readers), self._ack)
        for runner in readers:
            runner.submit(delivery)

    async def _take_suspect(self, record: Record) -> None:
        assert self._membership is not None  # suspects come with an assignment
        if not await self._suspects.take(record, self._readers[record.topic], self._membership, self._ack):
            await self._take_later(record)

    async def _take_later(self, record: Record) -> None:
        # Accepted only after the wait: a rebalance cancels the wait, and the record then belongs to the next owner.
        # Waits for room for several: each wait costs a task and a wake-up, under load one for every record.
        while self._suspect_turns.busy or not self._has_room(record.topic, resuming=True):
            if self._suspect_turns.busy:
                await self._suspect_turns.ended()
                continue
            self._room.clear()
            await self._room.wait()
        self._take(record)

    def _broken(self, error: BaseException) -> None:
        if not self.failed.done():
            self.failed.set_result(error)

    def _ticks_ended(self, ticker: "asyncio.Task[None]") -> None:
        if not ticker.cancelled() and (error := ticker.exception()) is not None:
            self._broken(error)  # joins of quiet partitions would never close

    async def _tick_forever(self) -> None:
        while True:
            await asyncio.sleep(TICK_EVERY_S)
            await self.tick(datetime.now(UTC))

    async def tick(self, now: datetime) -> None:
        """Send ticks to joins with a deadline that has passed."""
        for runner in self._runners:
            if runner.join_handler is not None and not runner.stage.head:
                await self._tick(runner, runner.join_handler, now)

    async def idle(self) -> None:
        """Wait until no record is being handled."""
        await self._suspects.handled()
        while any(runner.load for runner in self._runners) and not self.failed.done():
            await asyncio.gather(*(runner.drain(None) for runner in self._runners))

    async def _tick(self, runner: StageRunner, handler: JoinHandler, now: datetime) -> None:
        assert self._membership is not None  # the ticker is started by join()
        for tp in self._membership.assignment():
            # Records still to be read advance the stream time themselves; a tick would only add one.
            if handler.due(tp.partition, now) and self._caught_up(runner, tp):
                await runner.send(handler.tick(tp.partition, now))

    def _caught_up(self, runner: StageRunner, tp: TopicPartition) -> bool:
        assert self._membership is not None
        position, end = self._membership.position(tp), self._membership.highwater(tp)
        return position is not None and end is not None and position >= end and not runner.busy(tp.partition)


def _by_topic(
    runners: Iterable[StageRunner], topics: Callable[[Stage], Iterable[Topic]]
) -> dict[str, list[StageRunner]]:
    found: dict[str, list[StageRunner]] = {}
    for runner in runners:
        for topic in topics(runner.stage):
            found.setdefault(topic.name, []).append(runner)
    return found
