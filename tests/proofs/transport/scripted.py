"""A Kafka client without Kafka: logs in memory, and the two consumers that read through it.

`ScriptedClient` keeps the parts of aiokafka's consumer that Faust's and our transport touch, with
aiokafka's own rules: a fetch moves the position, `seek_to_committed` leaves a partition alone when
nothing was committed.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import faust
import faust.types
from aiokafka import TopicPartition
from aiokafka.errors import KafkaError
from aiokafka.structs import ConsumerRecord, OffsetAndMetadata
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread
from faust.transport.drivers.aiokafka import Consumer as StockConsumer

from streams.faust.consumer import DirectConsumer
from streams.kafka.records import Record

TP = TopicPartition("in", 0)


def raw_record(offset: int, tp: TopicPartition = TP) -> ConsumerRecord[bytes, bytes]:
    return ConsumerRecord(*tp, offset, 0, 0, None, b"%d" % offset, None, -1, 1, ())


def message(offset: int) -> faust.types.ConsumerMessage:
    """A record as stock Faust hands it on."""
    tp = faust.types.TP(*TP)
    return faust.types.ConsumerMessage(*TP, offset, 0.0, 0, [], None, b"", None, None, 1, tp, generation_id=0)


def stock_ack(consumer: Any, *offsets: int) -> None:
    """Acknowledge records on stock Faust's consumer."""
    for offset in offsets:
        consumer.ack(message(offset))


def take_into(found: list[int]) -> Callable[[Record], None]:
    """A sink that notes offsets."""
    return lambda record: found.append(record.offset)


class ScriptedClient:
    """One member of a group, alone with its log."""

    def __init__(self, offsets: Iterable[int], committed: int | None = None) -> None:
        there = [*offsets]
        self.log = {TP: [raw_record(offset) for offset in there]}
        self.stored: dict[TopicPartition, int] = {} if committed is None else {TP: committed}
        self.positions = {TP: committed or 0}
        # Those that moved; a commit where one stands already says something in its metadata.
        self.commits: list[int] = []
        self.words: list[tuple[int, str]] = []
        outside = committed is None or committed > max(there, default=committed)
        self._stands = min(there, default=0) if outside else committed
        # What happens while a seek waits for the broker; the first seek only.
        self.during_seek: Callable[[], Awaitable[None]] | None = None
        self.fetches = 0
        self.alive = True
        self.refuse_commits: KafkaError | None = None
        self._closed = False
        self._max_poll_records = None
        self._waiters: set[asyncio.Future[None]] = set()
        self._fetcher = self
        self._fetch_min_bytes, self._fetch_max_wait_ms = 1, 500
        self._coordinator = self
        self._subscription = self._subscriptions = self
        self.subscription = SimpleNamespace(assignment=None)
        self.reassignment_in_progress = False
        self.generation = 1

    # -- the fetcher's side

    async def fetched_records(
        self,
        partitions: Any,
        timeout: float = 0,
        max_records: int | None = None,
    ) -> dict[TopicPartition, list[Any]]:
        """Everything from the position on, which moves behind it."""
        self.fetches += 1
        found = {}
        for tp in self.log:
            if tp in partitions:
                records = [r for r in self.log[tp] if r.offset >= self.positions[tp]]
                if records:
                    found[tp] = records[:max_records]
                    self.positions[tp] = found[tp][-1].offset + 1
        if not found and timeout:
            await asyncio.sleep(0)
        return found

    async def _proc_fetch_request(self, *_: object) -> bool:
        return False  # records are in `log`, and come from no broker

    def _create_fetch_waiter(self) -> "asyncio.Future[None]":
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        return waiter

    def arrive(self, *offsets: int) -> None:
        """Append records and wake whoever waits for them."""
        self.log[TP].extend(raw_record(offset) for offset in offsets)
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        self._waiters.clear()

    def fetch_context(self) -> Any:
        return nullcontext()

    # -- the coordinator's side

    # Its metadata task never ends.
    _client = SimpleNamespace(_sync_task=SimpleNamespace(done=lambda: False))

    def check_errors(self) -> None:
        """No error ever."""

    async def _do_heartbeat(self) -> bool:
        return self.alive

    async def fetch_committed_offsets(self, tps: Iterable[TopicPartition]) -> dict[Any, Any]:
        await self._seeking()
        return {tp: OffsetAndMetadata(self.stored[tp], "") for tp in tps if tp in self.stored}

    # -- the public side

    async def start(self) -> None:
        """Nothing to connect to."""

    async def stop(self) -> None:
        self._closed = True

    def assignment(self) -> set[TopicPartition]:
        return set(self.log)

    def highwater(self, tp: TopicPartition) -> int:
        return self.log[tp][-1].offset + 1 if self.log[tp] else 0

    def pause(self, tp: TopicPartition) -> None:
        """Only the active set decides what is fetched."""

    resume = pause

    def seek(self, tp: TopicPartition, offset: int) -> None:
        self.positions[tp] = offset

    async def seek_to_committed(self) -> dict[TopicPartition, int | None]:
        await self._seeking()
        for tp, offset in self.stored.items():
            if offset > 0:
                self.seek(tp, offset)
        await asyncio.sleep(0)
        return {tp: self.stored.get(tp) for tp in self.log}

    async def beginning_offsets(self, tps: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return {tp: self.log[tp][0].offset if self.log[tp] else 0 for tp in tps}

    async def end_offsets(self, tps: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return {tp: self.highwater(tp) for tp in tps}

    async def commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        await asyncio.sleep(0)
        if self.refuse_commits is not None:
            raise self.refuse_commits
        for tp, offset in offsets.items():
            self.stored[tp] = offset.offset
            self.words.append((offset.offset, offset.metadata))
            if offset.offset != self._stands:
                self._stands = offset.offset
                self.commits.append(offset.offset)

    async def _seeking(self) -> None:
        meanwhile, self.during_seek = self.during_seek, None
        if meanwhile is not None:
            await meanwhile()


class _SameLoop(AIOKafkaConsumerThread):
    """Stock's consumer thread, its calls made in the caller's loop; no logic is changed."""

    async def call_thread(self, fun: Any, *args: Any, **kwargs: Any) -> Any:
        result = fun(*args, **kwargs)
        return await result if asyncio.iscoroutine(result) else result


class _Stock(StockConsumer):
    def _new_consumer_thread(self) -> AIOKafkaConsumerThread:
        loop = asyncio.get_running_loop()
        return _SameLoop(self, loop=loop, thread_loop=loop, beacon=self.beacon)


def _app(scheme: str) -> Any:
    return faust.App(
        "scripted",
        broker=f"{scheme}://127.0.0.1:1",
        store="memory://",
        web_enabled=False,
        topic_disable_leader=True,
        autodiscover=False,
        stream_wait_empty=False,
        broker_commit_interval=3600.0,
        loop=asyncio.get_running_loop(),
    )


def stock_app() -> Any:
    """A Faust app on the transport that Faust ships."""
    app = _app("kafka")
    app.finalize()
    return app


def stock_consumer(app: Any, client: ScriptedClient, callback: Callable[[Any], Awaitable[None]]) -> Any:
    """Faust's own consumer on a scripted client; acknowledgements are on for the topic."""

    async def commit_as_the_app_does(_: Any) -> None:
        await consumer.commit()

    async def nothing(*_: Any) -> None:
        return None

    consumer = _Stock(app.transport, callback, commit_as_the_app_does, nothing)
    consumer._thread._consumer = client
    app.topics._acking_topics.add(TP.topic)
    app._consumer = consumer
    app._producer = SimpleNamespace(flush=nothing, buffer=None)
    consumer.resume_flow()
    consumer._set_active_tps({faust.types.TP(*TP)})
    return consumer


@asynccontextmanager
async def draining(consumer: Any) -> AsyncIterator[Any]:
    """Faust's own fetch loop, running."""
    fetcher = SimpleNamespace(_stopped=asyncio.Event())
    task = asyncio.ensure_future(consumer._drain_messages(fetcher))
    try:
        yield consumer
    finally:
        await _end(task)


class _Transport:
    def __init__(self, app: Any, client: ScriptedClient) -> None:
        self.app, self.client = app, client

    def new_client(self) -> ScriptedClient:
        return self.client

    def create_transaction_manager(self, **_: Any) -> None:
        return None


Hook = Callable[[frozenset[TopicPartition]], Awaitable[None]]


async def _no_hook(_: frozenset[TopicPartition]) -> None:
    return None


@asynccontextmanager
async def direct_consumer(
    client: ScriptedClient,
    sink: Callable[[Record], Awaitable[None] | None],
    on_assigned: Hook = _no_hook,
    on_revoked: Hook = _no_hook,
) -> AsyncIterator[DirectConsumer]:
    """Our consumer on a scripted client, its delivery loop running, nothing assigned yet."""
    app = stock_app()
    app.drain_timeout = app.handover_timeout = app.connect_timeout = 1.0
    app.patience = None
    app.copartitioned = frozenset()
    app.on_rebalance_end = lambda: None
    app._producer = SimpleNamespace()
    consumer = DirectConsumer(_Transport(app, client), sink, on_revoked, on_assigned)
    await consumer.on_start()
    task = asyncio.ensure_future(consumer.delivery.run(client))
    try:
        yield consumer
    finally:
        await consumer.release()
        await _end(task)


@asynccontextmanager
async def owning(
    client: ScriptedClient,
    sink: Callable[[Record], Awaitable[None] | None],
    on_assigned: Hook = _no_hook,
    on_revoked: Hook = _no_hook,
) -> AsyncIterator[DirectConsumer]:
    """`direct_consumer` that has taken over the partition, and delivered what it could."""
    async with direct_consumer(client, sink, on_assigned, on_revoked) as consumer:
        await consumer.on_partitions_assigned({TP})
        await settle()
        yield consumer


async def _end(task: "asyncio.Future[None]") -> None:
    task.cancel()
    await asyncio.wait({task})
    if not task.cancelled():
        # Looked at, or it would be reported whenever the collector finds it.
        task.exception()


async def settle(turns: int = 100) -> None:
    """Let everything that can run in the loop run."""
    for _ in range(turns):
        await asyncio.sleep(0)
