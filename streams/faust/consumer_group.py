"""One consumer group as one Faust app: the only file outside the transport that imports faust.

Faust starts and stops the consumer, keeps its membership, and commits on a timer.
Its agents, streams, tables, web server, leader topic and producer are not used: records go to
`sink` as they are read, in offset order per partition, and each waits for its `ack`.

Delivery is at least once. Nothing is redelivered when another member joins or leaves, or on a graceful
stop; after a kill the records since the last commit are redelivered.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import faust
from aiokafka.errors import KafkaError
from faust.app.base import BootStrategy

from streams.faust.consumer import DirectConsumer, Hook, MissingTopicError
from streams.faust.crash_mark import NO_DEATHS, CrashMark
from streams.faust.scheme import SCHEME, register
from streams.faust.watermark import Watermark
from streams.kafka.records import Record, TopicPartition

__all__ = ["ConsumerGroup", "GroupError"]

# A member blocked by a store's outage stays in its group; only a lost heartbeat ends membership.
MAX_POLL_S = 10 * 365 * 24 * 3600.0
# A group that rebalances does not read either: most rebalances take less.
STALL_LIMIT_S = 20.0
STOP_LIMIT_S = 20.0
CONNECT_LIMIT_S = 30.0
# A member that joins during a rebalance waits for its end, and an interrupted rebalance may be followed by another.
STARTS_PER_REBALANCE = 2
# Faust's features besides reading, disabled.
ONLY_A_CONSUMER = {
    "broker_max_poll_interval": MAX_POLL_S,
    "store": "memory://",
    "web_enabled": False,
    "topic_disable_leader": True,
    "topic_allow_declare": False,
    "autodiscover": False,
}
CHATTY = ("faust", "mode", "aiokafka")


class GroupError(Exception):
    """A group did not start; the message gives the reason in one sentence."""


class _ConsumerOnly(BootStrategy):
    def server(self) -> Iterable[Any]:
        return [self.app.consumer]


class _App(faust.App):
    """A Faust app that consists of its consumer only."""

    BootStrategy = _ConsumerOnly
    mundane_level = "debug"

    source_topics: frozenset[str]
    copartitioned: tuple[str, ...] = ()
    client_options: Mapping[str, object]
    patience: tuple[int, int] | None = None
    connect_timeout: float
    drain_timeout: float
    handover_timeout: float
    transport: Any
    hooks: tuple[Callable[[Record], Awaitable[None] | None], Hook, Hook]
    report_crash: Callable[[BaseException], None]

    def _new_consumer(self) -> Any:
        sink, on_assigned, on_revoked = self.hooks
        return self.transport.create_consumer(
            callback=sink,
            on_partitions_revoked=on_revoked,
            on_partitions_assigned=on_assigned,
            beacon=self.beacon,
        )

    async def on_first_start(self) -> None:
        """Do nothing: stock makes directories for tables here."""

    async def on_start(self) -> None:
        self.finalize()

    async def on_stop(self) -> None:
        """Do nothing: stock waits for streams and flushes its producer here; `ConsumerGroup.stop` has released."""

    def on_rebalance_start(self) -> None:
        self.rebalancing = True
        self.rebalancing_count += 1

    def on_rebalance_end(self) -> None:
        self.rebalancing = False

    def _crash(self, reason: BaseException) -> None:
        super()._crash(reason)
        self.report_crash(reason)


async def _no_hook(_: frozenset[TopicPartition]) -> None:
    return None


class ConsumerGroup:
    """The records of some topics, delivered to `sink` as one member of the consumer group `name`.

    `sink` returns None for accepted, or an awaitable when full: reading waits for it. A rebalance
    cancels the wait; that record then counts as not accepted, and its next owner reads it again.
    `on_assigned` is awaited before the first record, and cancelled by the next rebalance;
    `on_revoked` is awaited for up to `drain_timeout` before the last commit of `stop`, and of each
    rebalance unless `handover_timeout` says otherwise (less than `rebalance_timeout`). A start may
    take twice a rebalance, unless `start_timeout` says otherwise. Intervals and timeouts are
    seconds. Partitions of one number of the `copartitioned` topics have one owner, and are read in the
    order of their timestamps, those of one millisecond in the order of the topics. `client_options` (security, fetch
    sizes) are passed to aiokafka as they are. With `patience` (bytes, milliseconds), fetches after one that brought
    records wait for so many, or so long.
    """

    def __init__(
        self,
        name: str,
        topics: Sequence[str],
        *,
        bootstrap: str,
        sink: Callable[[Record], Awaitable[None] | None],
        on_assigned: Hook | None = None,
        on_revoked: Hook | None = None,
        commit_interval: float = 0.5,
        session_timeout: float = 10.0,
        heartbeat_interval: float = 3.0,
        rebalance_timeout: float = 30.0,
        drain_timeout: float = 5.0,
        handover_timeout: float | None = None,
        start_timeout: float | None = None,
        instance_id: str | None = None,
        data_dir: Path | None = None,
        copartitioned: Sequence[str] = (),
        client_options: Mapping[str, object] | None = None,
        patience: tuple[int, int] | None = None,
    ) -> None:
        self.name = name
        self.topics = tuple(topics)
        self.failed: asyncio.Future[BaseException] | None = None
        self._hooks = (sink, on_assigned or _no_hook, on_revoked or _no_hook)
        self._start_timeout = STARTS_PER_REBALANCE * rebalance_timeout if start_timeout is None else start_timeout
        self._drain_timeout = drain_timeout
        self._handover_timeout = drain_timeout if handover_timeout is None else handover_timeout
        self._client_options = dict(client_options or {})
        self._patience = patience
        self._copartitioned = tuple(copartitioned)
        self._app: _App | None = None
        self._consumer: DirectConsumer | None = None
        self._settings: dict[str, Any] = {
            "broker": [f"{SCHEME}://{server}" for server in bootstrap.split(",")],
            "broker_client_id": f"fathom-{name}",
            "broker_commit_interval": commit_interval,
            "broker_session_timeout": session_timeout,
            "broker_heartbeat_interval": heartbeat_interval,
            "broker_rebalance_timeout": rebalance_timeout,
            "consumer_group_instance_id": instance_id,
            **ONLY_A_CONSUMER,
            **({} if data_dir is None else {"datadir": str(data_dir)}),
        }

    async def start(self) -> None:
        """Return once the group has given this member its partitions, possibly none.

        Raises `GroupError` when a topic does not exist, no broker answers, or time runs out.
        """
        for logger in CHATTY:
            logging.getLogger(logger).setLevel(logging.WARNING)
        register()
        self.failed = asyncio.get_running_loop().create_future()
        self._app = self._new_app()
        self._consumer = cast(DirectConsumer, self._app.consumer)
        try:
            async with asyncio.timeout(self._start_timeout):
                await self._app.start()
                await self._until_ready()
        except TimeoutError as error:
            raise await self._gave_up("no assignment in time") from error
        except (MissingTopicError, KafkaError, OSError) as error:
            raise await self._gave_up(str(error)) from error

    async def stop(self) -> None:
        """Stop reading, drain through `on_revoked`, commit, leave the group. May be repeated."""
        app, self._app = self._app, None
        if app is not None and self._consumer is not None:
            await self._consumer.release()
            _, late = await asyncio.wait({asyncio.ensure_future(app.stop())}, timeout=STOP_LIMIT_S)
            for stopping in late:
                stopping.cancel()

    def ack(self, topic: str, partition: int, offset: int) -> None:
        """Acknowledge a delivered record, in any order; a repeat or a stale one does nothing."""
        if self._consumer is not None:
            # A plain tuple equals the key, and is made in a tenth of the time.
            self._consumer.ack((topic, partition), offset)

    def assignment(self) -> frozenset[TopicPartition]:
        """The partitions this member holds now; empty during a rebalance."""
        return frozenset() if self._consumer is None else self._consumer.held

    @property
    def leased(self) -> bool:
        """Whether no other member can have been given the partitions by now."""
        return self._consumer is not None and self._consumer.delivery.leased

    def position(self, tp: TopicPartition) -> int | None:
        """The next offset to deliver."""
        mark = self._mark(tp)
        return None if mark is None else mark.position

    def highwater(self, tp: TopicPartition) -> int | None:
        """The end of the log at the last fetch; None for a partition that is not held."""
        return None if self._consumer is None else self._consumer.highwater(tp)

    def committed(self, tp: TopicPartition) -> int | None:
        """The offset where the next owner would begin; None without a commit."""
        mark = self._mark(tp)
        return None if mark is None else mark.committed

    def uncommitted(self, tp: TopicPartition) -> int:
        """The number of delivered records that are not committed."""
        mark = self._mark(tp)
        return 0 if mark is None else mark.uncommitted()

    def oldest_unacked_age(self, tp: TopicPartition) -> float:
        """Seconds since the record that holds the commit was delivered; zero without one."""
        mark = self._mark(tp)
        held = None if mark is None else mark.oldest()
        return 0.0 if held is None else time.monotonic() - held[1]

    def found(self, tp: TopicPartition) -> tuple[CrashMark, int]:
        """What earlier processes left beside the committed offset, and the end of the log at the assignment."""
        none = (NO_DEATHS, 0)
        return none if self._consumer is None else self._consumer.crashes.found.get(tp, none)

    async def leave(self, marks: Mapping[TopicPartition, CrashMark]) -> bool:
        """Leave marks beside this and later commits, in case this process dies; whether the broker has them."""
        if self._consumer is None:
            return False
        self._consumer.crashes.put(marks)
        return await self._consumer.commit(also=marks)

    def pause(self, tp: TopicPartition) -> None:
        """Stop delivering records of a partition until `resume` or the next rebalance."""
        if self._consumer is not None:
            self._consumer.delivery.pause(tp)

    def resume(self, tp: TopicPartition) -> None:
        """Undo `pause`."""
        if self._consumer is not None:
            self._consumer.delivery.resume(tp)

    def stalled_for(self) -> float:
        """Seconds since the reading loop last moved, without waiting for the sink."""
        return 0.0 if self._consumer is None else self._consumer.delivery.stalled_for()

    def blocked_for(self) -> float:
        """Seconds the reading loop has been waiting for the sink."""
        return 0.0 if self._consumer is None else self._consumer.delivery.blocked_for()

    def healthy(self) -> bool:
        """Whether the group runs, has not failed, and its reading loop moves."""
        failed = self.failed is None or self.failed.done()
        return self._app is not None and not failed and self.stalled_for() < STALL_LIMIT_S

    def _mark(self, tp: TopicPartition) -> Watermark | None:
        return None if self._consumer is None else self._consumer.delivery.marks.get(tp)

    def _new_app(self) -> _App:
        app = _App(self.name, loop=asyncio.get_running_loop(), **self._settings)
        app.source_topics = frozenset(self.topics)
        app.client_options = self._client_options
        app.patience = self._patience
        app.copartitioned = self._copartitioned
        app.connect_timeout = min(self._start_timeout, CONNECT_LIMIT_S)
        app.drain_timeout = self._drain_timeout
        app.handover_timeout = self._handover_timeout
        app.hooks = self._hooks
        app.report_crash = self._report_crash
        return app

    def _report_crash(self, reason: BaseException) -> None:
        if self._consumer is not None:
            self._consumer.stop_flow()
        if self.failed is not None and not self.failed.done():
            self.failed.set_result(reason)

    async def _until_ready(self) -> None:
        assert self.failed is not None
        assert self._consumer is not None
        ready = asyncio.ensure_future(self._consumer.ready.wait())
        ends: set[asyncio.Future[Any]] = {ready, self.failed}
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ready.cancel()
        if self.failed.done():
            raise await self._gave_up(str(self.failed.result()))

    async def _gave_up(self, why: str) -> GroupError:
        await self.stop()
        return GroupError(f"group {self.name} did not start: {why}")
