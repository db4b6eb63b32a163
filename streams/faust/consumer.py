"""A Faust consumer that hands records straight to a sink, in the app's own loop.

Faust owns its life cycle and its commit timer. What is replaced, and the behaviour of Faust 0.15.3
that it replaces:

1.  No task per record: a sink that takes a record at once costs a plain call.
2.  The commit is a low watermark over what was delivered; stock commits past an event in flight.
3.  A record is accepted once; stock takes the one at the read offset again after a seek.
4.  Flow stops before a seek, and the seek waits for the fetch and the delivery under way; stock
    seeks while records flow, and skips what it then drops.
5.  Paused partitions cost no sleep; stock sleeps 1 s when all are paused.
6.  A revocation drains, commits, then forgets; stock forgets first, so its commit finds nothing.
7.  A partition without a committed offset is sought to its beginning; stock leaves it where it is.
8.  Nothing below the committed offset is tracked, so nothing there can hold the watermark.
9.  There is no producer whose flush a commit waits for: outputs are awaited before the ack.
10. One task takes over an assignment, and a revocation ends it before anything else; stock lets
    the first of two rebalances resume the flow in the middle of the second.
11. There is no consumer thread: many groups share one loop instead of fighting for the interpreter.
12. A commit that failed is not remembered as done, and errors of the coordination are looked at.
13. A member that was stopped or cut off for longer than its session hands over nothing until the
    broker has answered a heartbeat; stock first works off what another member has done meanwhile.
14. A client whose metadata task has ended, which waits for its coordinator for ever, crashes.
15. Co-partitioned topics are assigned and read in step; stock assigns so for tables, and reads each topic for itself.

Adapted in part from faust (faust/transport/consumer.py, faust/transport/drivers/aiokafka.py):
Copyright (c) 2017-2020, Robinhood Markets, Inc. (BSD 3-Clause).
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
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
from streams.faust.fetch_loop import FetchLoop, Marks
from streams.faust.watermark import Watermark
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
    """Passes aiokafka's rebalance callbacks on."""

    def __init__(self, consumer: "DirectConsumer") -> None:
        self._consumer = consumer

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        """Pass on a revocation."""
        self._consumer.app.on_rebalance_start()
        await self._consumer.on_partitions_revoked(set(revoked))

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        """Pass on an assignment, with its generation."""
        generation = aiokafka_private.generation(self._consumer.client)
        self._consumer.app.consumer_generation_id = generation
        await self._consumer.on_partitions_assigned(set(assigned), generation)


class DirectConsumer(Consumer):
    """Reads one consumer group's topics into the callback it was made with, a `delivery.Sink`."""

    app: Any
    transport: Any
    callback: Any
    client: AIOKafkaConsumer
    mundane_level = "debug"

    def __post_init__(self) -> None:
        self.client = self.transport.new_client()
        self.delivery = FetchLoop(self.callback, CopartitionMerger(self.app.copartitioned))
        self.held: frozenset[TopicPartition] = frozenset()
        self.ready = asyncio.Event()
        self._taking_over: asyncio.Future[None] | None = None
        self._committing = asyncio.Lock()
        self._handing_over = asyncio.Lock()
        self._closing = False

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

    def _renew(self, asked: float) -> None:
        """Let records flow only as long as the broker has said that this is a member."""
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
        """Leave the group; the partitions were handed over before."""
        leaving = asyncio.ensure_future(self.client.stop())
        done, _ = await asyncio.wait({leaving}, timeout=LEAVE_LIMIT_S)
        if not done:
            # A join in progress is answered only when every other member has joined too.
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
        """Stock reads Faust's monitor here; `FetchLoop` measures itself."""

    def stop_flow(self) -> None:
        """Stop handing over records; takes effect before the caller goes on."""
        super().stop_flow()
        self.delivery.stop()

    def resume_flow(self) -> None:
        """Hand over records again."""
        super().resume_flow()
        self.delivery.start()

    async def on_partitions_revoked(self, _revoked: set[TP]) -> None:
        """Hand over everything: aiokafka's rebalances are eager, each one revokes all."""
        self.stop_flow()
        await self._hand_over(self.app.handover_timeout)

    async def on_partitions_assigned(self, assigned: set[TP], _generation_id: int = 0) -> None:
        """Take over in a task of its own: until this returns the member sends no heartbeat."""
        self._renew(monotonic())
        if not self._closing and not self.should_stop:
            self._taking_over = self.add_future(self._take_over(frozenset(assigned)))

    async def release(self) -> None:
        """Hand over all partitions for good; the first half of a graceful stop."""
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
                await self.commit()
            self.held = frozenset()
            self.delivery.reset({})

    async def _take_over(self, assigned: frozenset[TopicPartition]) -> None:
        await self.delivery.quiet()
        marks = await self._seek_all(assigned)
        self.delivery.reset(marks)
        self.held = assigned
        if await self._run_hook(self._on_partitions_assigned, None):
            self.app.on_rebalance_end()
            self.resume_flow()
            self.ready.set()

    async def _run_hook(self, hook: Any, limit: float | None) -> bool:
        """Run one of the owner's hooks; False when it was cut off, or crashed this consumer."""
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
            # aiokafka logs what a rebalance callback raises and goes on as if nothing had been.
            await self.crash(error)
        return error is None

    async def _seek_all(self, assigned: frozenset[TopicPartition]) -> Marks:
        if not assigned:
            return {}
        committed, first, last = await self._ask_offsets(assigned)
        marks: Marks = {}
        for tp in assigned:
            mine = committed[tp].offset if tp in committed else None
            start = first[tp] if mine is None else mine
            if not first[tp] <= start <= last[tp]:
                self.log.warning("%s-%s: %s is outside the log, read from its start", *tp, start)
                start = first[tp]
            self.client.seek(tp, start)
            marks[tp] = Watermark(start, mine if start == mine else None)
        return marks

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

    def ack(self, tp: tuple[str, int], offset: int) -> None:  # type: ignore[override]
        """Acknowledge one record, in any order; a repeat does nothing."""
        if (mark := self.delivery.marks.get(tp)) is not None:
            mark.ack(offset)

    async def commit(self, *_: object, **__: object) -> bool:
        """Commit the low watermarks that have moved; False when nothing was stored."""
        async with self._committing:
            moved = [
                (tp, mark, offset)
                for tp, mark in self.delivery.marks.items()
                if (offset := mark.committable()) is not None
            ]
            if not moved or not await self._commit({tp: offset for tp, _, offset in moved}):
                return False
            for _, mark, offset in moved:
                mark.commit(offset)
            return True

    async def _commit(self, offsets: Mapping[TopicPartition, int]) -> bool:
        stored = {tp: OffsetAndMetadata(offset, "") for tp, offset in offsets.items()}
        try:
            # Without a limit aiokafka retries an unreachable broker for ever, and would in the end
            # store this generation's offsets under the next one.
            async with asyncio.timeout(COMMIT_LIMIT_S):
                await self.client.commit(stored)
        except (CommitFailedError, IllegalStateError, TimeoutError) as error:
            self.log.warning("group %s: not committed: %r", self.app.conf.id, error)
            metadata_task = aiokafka_private.metadata_task(self.client)
            if metadata_task.done():
                # Without it no coordinator is ever found again: waiting on would look like a quiet worker.
                await self.crash(_error_of(metadata_task) or error)
            return False
        except KafkaError as error:
            await self.crash(error)
            return False
        return True

    async def subscribe(self, topics: Iterable[str]) -> None:
        """Join the group for these topics."""
        self.client.subscribe(topics=set(topics), listener=Listener(self))

    def assignment(self) -> set[TopicPartition]:
        """The partitions this member holds and has begun to read."""
        return set(self.held)

    def highwater(self, tp: TP) -> int | None:  # type: ignore[override]
        """The log end as the last fetch saw it; None before the first fetch."""
        state = aiokafka_private.partition_state(self.client, tp)
        found: int | None = state and state.highwater
        return found

    def close(self) -> None:
        """Nothing: `on_stop` closes the client."""

    def _unused(self, *args: object, **kwargs: object) -> NoReturn:
        raise NotImplementedError("Faust's own delivery is not used")

    # Abstract in Faust's base, and reached only through streams, tables and its own drain.
    seek_to_committed = position = seek_wait = _seek = _unused
    topic_partitions = earliest_offsets = highwaters = _getmany = _unused
    _to_message = _new_topicpartition = key_partition = create_topic = _unused


def _error_of(task: "asyncio.Future[Any]") -> BaseException | None:
    """What a task ended with; asked of a cancelled one, `exception()` raises it into whoever asks.

    aiokafka awaits tasks that it has cancelled itself: stopped at the wrong moment, its client ends as cancelled.
    """
    return asyncio.CancelledError() if task.cancelled() else task.exception()
