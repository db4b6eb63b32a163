"""A Faust consumer that passes records directly to a sink, in the app's own loop.

Faust owns its life cycle and its commit timer. The replaced parts, and the behaviour of Faust 0.15.3
that they replace:

1.  No task per record: a sink that takes a record at once costs a plain call.
2.  The commit is a low watermark over delivered records; stock commits past an event in flight.
3.  A record is accepted once; stock accepts the one at the read offset again after a seek.
4.  Flow stops before a seek, and the seek waits for the running fetch and delivery; stock
    seeks while records flow, and skips records that it then drops.
5.  Paused partitions cost no sleep; stock sleeps 1 s when all are paused.
6.  A revocation drains, commits, then discards; stock discards first, so its commit finds nothing.
7.  A partition without a committed offset is read from its beginning; stock does not move it.
8.  Offsets below the committed one are not tracked, so they cannot hold the watermark.
9.  There is no producer to flush before a commit: outputs are awaited before the ack.
10. An assignment is taken over by one task, which a revocation ends first; stock lets
    the first of two rebalances resume the flow during the second.
11. There is no consumer thread: many groups share one loop instead of competing for the interpreter.
12. A failed commit is not recorded as done, and errors of the coordination are raised.
13. A member that was stopped or disconnected for longer than its session delivers nothing until the
    broker has answered a heartbeat; stock first processes records that another member has handled meanwhile.
14. A client whose metadata task has ended crashes; stock waits for its coordinator for ever.
15. Co-partitioned topics are assigned and read in step; stock assigns so for tables only, and reads topics separately.
16. A commit's metadata says how many processes died at this offset; one that leaves in order, or lives on, empties it.

Adapted in part from faust (faust/transport/consumer.py, faust/transport/drivers/aiokafka.py):
Copyright (c) 2017-2020, Robinhood Markets, Inc. (BSD 3-Clause).
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from time import monotonic
from typing import Any, NoReturn

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.abc import ConsumerRebalanceListener
from aiokafka.errors import (
    CommitFailedError,
    IllegalStateError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
)
from aiokafka.structs import OffsetAndMetadata
from faust.transport.consumer import Consumer
from faust.types import TP
from mode import Service

from streams.faust.copartition_merger import CopartitionMerger
from streams.faust.crash_mark import CrashMark, PartitionMarks
from streams.faust.fetch_loop import FetchLoop, Marks
from streams.faust.watermark import Watermark, first_to_read
from streams.kafka import aiokafka_private

RETRY_S = 0.2
NEW_TOPIC_GRACE_S = 3.0
COMMIT_LIMIT_S = 5.0
LEAVE_LIMIT_S = 5.0
CANCEL_LIMIT_S = 1.0

Hook = Callable[[frozenset[TopicPartition]], Awaitable[None]]


class MissingTopicError(Exception):
    """A source topic does not exist; Faust would wait for it for ever."""


class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    """Forwards aiokafka's rebalance callbacks."""

    def __init__(self, consumer: "DirectConsumer") -> None:
        self._consumer = consumer

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        """Forward a revocation."""
        self._consumer.app.on_rebalance_start()
        await self._consumer.on_partitions_revoked(set(revoked))

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        """Forward an assignment, with its generation."""
        generation = aiokafka_private.generation(self._consumer.client)
        self._consumer.app.consumer_generation_id = generation
        await self._consumer.on_partitions_assigned(set(assigned), generation)


class DirectConsumer(Consumer):
    """Reads the topics of one consumer group into a callback, a `delivery.Sink`."""

    app: Any
    transport: Any
    callback: Any
    client: AIOKafkaConsumer
    mundane_level = "debug"

    def __post_init__(self) -> None:
        self.client = self.transport.new_client()
        self.delivery = FetchLoop(self.callback, CopartitionMerger(self.app.copartitioned), self._touch)
        self.held: frozenset[TopicPartition] = frozenset()
        self.ready = asyncio.Event()
        self._taking_over: asyncio.Future[None] | None = None
        self._committing = asyncio.Lock()
        self._handing_over = asyncio.Lock()
        self._closing = False
        self.crashes = PartitionMarks()

    async def on_start(self) -> None:
        """Connect; raises the client's own error when no broker answers in time."""
        self.stop_flow()
        deadline = monotonic() + self.app.connect_timeout
        while True:
            try:
                await self.client.start()
                break
            except KafkaConnectionError:
                if monotonic() > deadline:
                    raise
                await asyncio.sleep(RETRY_S)
        aiokafka_private.on_heartbeat(self.client, self._renew)
        aiokafka_private.fetch_patiently(self.client, self.app.patience)

    def _renew(self, asked: float) -> None:
        """Let records flow only while the broker confirms the membership."""
        self.delivery.renew(asked + self.app.conf.broker_session_timeout)

    async def on_started(self) -> None:
        """Join the group; raises `MissingTopicError` when a topic does not exist."""
        deadline = monotonic() + NEW_TOPIC_GRACE_S
        while missing := set(self.app.source_topics) - await self.client.topics():
            if monotonic() > deadline:
                names = ", ".join(sorted(missing))
                raise MissingTopicError(f"no such topic: {names} (group {self.app.conf.id})")
            await asyncio.sleep(RETRY_S)
        await self.subscribe(self.app.source_topics)

    async def on_stop(self) -> None:
        """Leave the group; the partitions were released before."""
        leaving = asyncio.ensure_future(self.client.stop())
        done, _ = await asyncio.wait({leaving}, timeout=LEAVE_LIMIT_S)
        if not done:
            # A pending join is answered only when every other member has joined, too.
            self.log.warning("group %s: left without saying so", self.app.conf.id)
            await aiokafka_private.cut(self.client)
            done, _ = await asyncio.wait({leaving}, timeout=CANCEL_LIMIT_S)
            leaving.cancel()
        if done and (error := _error_of(leaving)) is not None:
            self.log.warning("group %s: left with %r", self.app.conf.id, error)

    @Service.task
    async def _deliver_records(self) -> None:
        await self.delivery.run(self.client)

    @Service.task
    async def _commit_livelock_detector(self) -> None:
        """Do nothing: stock reads Faust's monitor here; `FetchLoop` measures itself."""

    def stop_flow(self) -> None:
        """Stop delivering records; takes effect before the caller continues."""
        super().stop_flow()
        self.delivery.stop()

    def resume_flow(self) -> None:
        """Resume delivering records."""
        super().resume_flow()
        self.delivery.start()

    async def on_partitions_revoked(self, _revoked: set[TP]) -> None:
        """Release all partitions: aiokafka's rebalances are eager, each one revokes all."""
        self.stop_flow()
        await self._hand_over(self.app.handover_timeout)

    async def on_partitions_assigned(self, assigned: set[TP], _generation_id: int = 0) -> None:
        """Take over in a separate task: until this returns the member sends no heartbeat."""
        self._renew(monotonic())
        if not self._closing and not self.should_stop:
            self._taking_over = self.add_future(self._take_over(frozenset(assigned)))

    async def release(self) -> None:
        """Release all partitions for good; the first half of a graceful stop."""
        self._closing = True
        self.stop_flow()
        await self._hand_over(self.app.drain_timeout)

    async def _hand_over(self, limit: float) -> None:
        async with self._handing_over:
            if self._taking_over is not None:
                self._taking_over.cancel()
                await asyncio.wait({self._taking_over})
                self._taking_over = None
            await self.delivery.quiet()
            if self.held:
                await self._run_hook(self._on_partitions_revoked, limit)
                await self.commit(also=self.crashes.end())
            self.held = frozenset()
            self.delivery.reset({})

    async def _take_over(self, assigned: frozenset[TopicPartition]) -> None:
        await self.delivery.quiet()
        marks, moved = await self._seek_all(assigned)
        self.delivery.reset(marks)
        # Before a record comes: until then the log may grow past an offset that it had lost.
        await self.commit(also=moved)
        self.held = assigned
        if await self._run_hook(self._on_partitions_assigned, None):
            self.app.on_rebalance_end()
            self.resume_flow()
            self.ready.set()

    async def _run_hook(self, hook: Any, limit: float | None) -> bool:
        """Run one of the owner's hooks; False when it timed out, or crashed this consumer."""
        running = asyncio.ensure_future(hook(self.held))
        try:
            done, _ = await asyncio.wait({running}, timeout=limit)
        finally:
            if not running.done():
                running.cancel()
                await asyncio.wait({running}, timeout=CANCEL_LIMIT_S)
        if not done:
            self.log.warning("group %s: not drained after %s s", self.app.conf.id, limit)
            return False
        error = _error_of(running)
        if error is not None:
            # aiokafka logs errors of a rebalance callback and continues.
            await self.crash(error)
        return error is None

    async def _seek_all(self, assigned: frozenset[TopicPartition]) -> tuple[Marks, set[TopicPartition]]:
        """Move to where reading begins; also returns the partitions where that is not what was committed."""
        if not assigned:
            self.crashes.begin({}, monotonic())
            return {}, set()
        committed, first, last = await self._ask_offsets(assigned)
        marks: Marks = {}
        moved: set[TopicPartition] = set()
        left = {tp: committed[tp].metadata if tp in committed else None for tp in assigned}
        self.crashes.begin({tp: (CrashMark.read(left[tp]), last[tp]) for tp in assigned}, monotonic())
        for tp in assigned:
            mine = committed[tp].offset if tp in committed else None
            start = first_to_read(mine, first[tp], last[tp])
            if mine not in (None, start):
                lost = "the log has lost what was committed" if start == last[tp] else "what is before it was removed"
                self.log.error("group %s: %s-%s: begins at %s, not at %s: %s", self.app.conf.id, *tp, start, mine, lost)
                moved.add(tp)
            self.client.seek(tp, start)
            marks[tp] = Watermark(start, mine if start == mine else None)
        return marks, moved

    async def _ask_offsets(
        self, assigned: frozenset[TopicPartition]
    ) -> tuple[Mapping[TopicPartition, OffsetAndMetadata], dict[TopicPartition, int], dict[TopicPartition, int]]:
        tps = list(assigned)
        while True:
            try:
                committed, first, last = await asyncio.gather(
                    aiokafka_private.committed_offsets(self.client, tps),
                    self.client.beginning_offsets(tps),
                    self.client.end_offsets(tps),
                )
                return committed, first, last
            except KafkaError as error:
                if not (error.retriable or isinstance(error, KafkaTimeoutError)):
                    raise
                await asyncio.sleep(RETRY_S)

    async def _touch(self, batch: Iterable[TopicPartition]) -> None:
        """Before the first records of a partition are delivered: leave that one more process goes on from here."""
        if first := self.crashes.untouched.intersection(batch):
            await self.commit(also=first)
            self.crashes.touched(first)

    def ack(self, tp: tuple[str, int], offset: int) -> None:  # type: ignore[override]
        """Acknowledge one record, in any order; a repeat does nothing."""
        if (mark := self.delivery.marks.get(tp)) is not None:
            mark.ack(offset)
            self.delivery.acked(tp)

    async def commit(self, *_: object, also: Collection[TopicPartition] = (), **__: object) -> bool:
        """Commit the low watermarks that have moved, and `also` others; False when nothing was committed."""
        async with self._committing:
            moved = [
                (tp, mark, offset)
                for tp, mark in self.delivery.marks.items()
                if (offset := mark.committable()) is not None
            ]
            offsets = {tp: offset for tp, _, offset in moved}
            holding = {tp: mark.oldest() for tp, mark in self.delivery.marks.items() if tp not in also}
            spared = self.crashes.spared(holding, monotonic())
            for tp in (*also, *spared):
                if (mark := self.delivery.marks.get(tp)) is not None and tp not in offsets:
                    offsets[tp] = mark.stand()
            if not offsets or not await self._commit(offsets, spared):
                return False
            for _, mark, offset in moved:
                mark.commit(offset)
            return True

    async def _commit(
        self, offsets: Mapping[TopicPartition, int], spared: Mapping[TopicPartition, CrashMark] | None = None
    ) -> bool:
        marks = {**self.crashes.next(offsets), **(spared or {})}
        stored = {tp: OffsetAndMetadata(offset, marks[tp].written()) for tp, offset in offsets.items()}
        try:
            # Without a limit aiokafka retries an unreachable broker for ever, and could in the end
            # commit this generation's offsets under the next one.
            async with asyncio.timeout(COMMIT_LIMIT_S):
                await self.client.commit(stored)
        except (CommitFailedError, IllegalStateError, TimeoutError) as error:
            self.log.warning("group %s: not committed: %r", self.app.conf.id, error)
            metadata_task = aiokafka_private.metadata_task(self.client)
            if metadata_task.done():
                # Without it the coordinator is never found again: waiting would look like an idle worker.
                await self.crash(_error_of(metadata_task) or error)
            return False
        except KafkaError as error:
            await self.crash(error)
            return False
        self.crashes.stored(marks)
        return True

    async def subscribe(self, topics: Iterable[str]) -> None:
        """Join the group for these topics."""
        self.client.subscribe(topics=set(topics), listener=Listener(self))

    def assignment(self) -> set[TopicPartition]:
        """The partitions of this member that it has started to read."""
        return set(self.held)

    def highwater(self, tp: TP) -> int | None:  # type: ignore[override]
        """The end of what could be read at the last fetch; None before the first fetch."""
        state = aiokafka_private.partition_state(self.client, tp)
        return None if state is None else aiokafka_private.readable_end(state)

    def close(self) -> None:
        """Do nothing: `on_stop` closes the client."""

    def _unused(self, *args: object, **kwargs: object) -> NoReturn:
        raise NotImplementedError("Faust's own delivery is not used")

    # Abstract in Faust's base, and reached only through streams, tables and its own drain.
    seek_to_committed = position = seek_wait = _seek = _unused
    topic_partitions = earliest_offsets = highwaters = _getmany = _unused
    _to_message = _new_topicpartition = key_partition = create_topic = _unused


def _error_of(task: "asyncio.Future[Any]") -> BaseException | None:
    """The error of a finished task; a cancelled one's `exception()` would raise in the caller.

    aiokafka awaits tasks that it has cancelled itself: stopped then, its client ends as cancelled.
    """
    return asyncio.CancelledError() if task.cancelled() else task.exception()
