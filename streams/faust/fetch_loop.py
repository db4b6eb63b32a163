"""The loop that moves records from a client's fetch buffer to the sink while the flow is on."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from time import monotonic

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from agents.errors import Unavailable
from streams.faust.copartition_merger import NEVER, Batch, CopartitionMerger, Fetched, in_time_order
from streams.faust.watermark import Watermark
from streams.kafka import aiokafka_private
from streams.kafka.records import Record

Sink = Callable[[Record], Awaitable[None] | None]
# Keys are TopicPartitions: equal to plain tuples.
Marks = dict[tuple[str, int], Watermark]

LOGGER = logging.getLogger("fathom.group")
BATCH = 500
IDLE_POLL_S = 1.0
# Records of a partition that are done while one before them stands: after a death they are all done again, and what
# recognises a repeat knows the last 256 messages of a conversation.
MAX_AHEAD = 200
# An empty response wakes nobody, but may be the awaited one.
IN_STEP_POLL_S = 0.01


def _wake(waiter: "asyncio.Future[None] | None") -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)


def _fetched(client: AIOKafkaConsumer, tp: TopicPartition) -> Fetched:
    state = aiokafka_private.partition_state(client, tp)
    if state is None or state.highwater is None or not state.has_valid_position:
        return NEVER
    return Fetched(state.position >= aiokafka_private.readable_end(state), state.timestamp)


class FetchLoop:
    """Delivers the records of the assigned partitions to a sink: in offset order per partition, else by time.

    The sink returns None for accepted, or an awaitable when full: the record counts as accepted when that
    completes, and as not accepted when it is cancelled, as by `stop`.
    """

    def __init__(
        self,
        sink: Sink,
        in_step: CopartitionMerger | None = None,
        before: Callable[[Iterable[TopicPartition]], Awaitable[None]] | None = None,
    ) -> None:
        self._sink = sink
        # Awaited with the partitions of a batch before its first record is delivered.
        self._before = before
        self._in_step = in_step or CopartitionMerger()
        self.marks: Marks = {}
        self._paused: set[TopicPartition] = set()
        self._waiting_for_head: set[TopicPartition] = set()
        self._client: AIOKafkaConsumer | None = None
        self._flowing = asyncio.Event()
        self._halt: asyncio.Future[None] | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._lease_ends = 0.0
        self._moved_at = monotonic()
        self._blocked_at: float | None = None

    def start(self) -> None:
        """Let records flow from the positions given to `reset`."""
        self._halt = asyncio.get_running_loop().create_future()
        self._flowing.set()

    def stop(self) -> None:
        """Stop the flow now: a record that is waiting for the sink is dropped undelivered."""
        self._flowing.clear()
        _wake(self._halt)
        _wake(self._waiter)

    def renew(self, until: float) -> None:
        """Extend the lease: after this monotonic time nothing is delivered.

        A process that was stopped or disconnected for longer than its session has lost its partitions
        without knowing; the new owner has already handled the records it fetches then.
        """
        self._lease_ends = until
        _wake(self._waiter)

    @property
    def leased(self) -> bool:
        """Whether the lease still runs."""
        return monotonic() <= self._lease_ends

    async def quiet(self) -> None:
        """Wait until no fetch and no delivery is running; every seek waits for this."""
        await self._quiet.wait()

    def reset(self, marks: Marks) -> None:
        """Discard all tracking and all pauses, and continue from these watermarks."""
        self.marks = marks
        self._paused.clear()
        self._waiting_for_head.clear()
        self._in_step.clear()

    def pause(self, tp: TopicPartition) -> None:
        """Stop delivering records of a partition; fetched records are kept for later."""
        if tp in self.marks and self._client is not None:
            self._paused.add(tp)
            self._client.pause(tp)

    def resume(self, tp: TopicPartition) -> None:
        """Undo `pause`."""
        if tp in self._paused and self._client is not None:
            self._paused.discard(tp)
            if tp not in self._waiting_for_head:
                self._client.resume(tp)
            _wake(self._waiter)

    def acked(self, tp: tuple[str, int]) -> None:
        """Go on with a partition that went too far ahead of a record that stands, once that one is done."""
        if tp in self._waiting_for_head and self.marks[tp].ahead() < MAX_AHEAD:
            self._waiting_for_head.discard(TopicPartition(*tp))
            if tp not in self._paused and self._client is not None:
                self._client.resume(TopicPartition(*tp))
            _wake(self._waiter)

    def stalled_for(self) -> float:
        """Seconds since the loop last moved; zero while it waits for the sink."""
        return 0.0 if self._blocked_at is not None else monotonic() - self._moved_at

    def blocked_for(self) -> float:
        """Seconds the loop has been waiting for the sink; zero when it is not."""
        return 0.0 if self._blocked_at is None else monotonic() - self._blocked_at

    async def run(self, client: AIOKafkaConsumer) -> None:
        """Deliver until cancelled; raises errors of the client and the sink."""
        self._client = client
        while True:
            await self._flowing.wait()
            if not self.leased:
                await self._until_woken(asyncio.get_running_loop().create_future())
                continue
            self._quiet.clear()
            try:
                found = await self._fetch(client)
                batch = self._in_step.release(found, self._reading(), partial(_fetched, client))
                if batch and self._before is not None:
                    await self._before(batch)
                left: set[TopicPartition] = set()
                for tp, records in in_time_order(batch):
                    # A rejected record is fetched again, and so are all records after it.
                    if tp not in left and not await self._deliver(client, tp, records):
                        left.add(tp)
                        self._in_step.drop(tp)
            finally:
                self._quiet.set()
            self._moved_at = monotonic()
            if batch:
                # The sink may take a whole batch without suspending: others share this loop.
                await asyncio.sleep(0)
            elif self._flowing.is_set():
                self._pass_over(client)
                await self._until_woken(aiokafka_private.fetch_waiter(client))

    async def _fetch(self, client: AIOKafkaConsumer) -> Batch:
        aiokafka_private.raise_errors(client)
        active = self._reading() - self._in_step.kept
        # An empty set would mean all partitions, and during a reassignment the fetcher would
        # wait, inside this fetch, for an assignment that waits for this fetch.
        if not active or aiokafka_private.is_reassigning(client):
            return {}
        # No timeout: buffered records are taken without suspending, so there is no moment at
        # which records have left the buffer and a seek can pass them.
        batch: Batch = await aiokafka_private.fetched_records(client, active, BATCH)
        decrypted = getattr(client, "decrypted", None)
        if decrypted is None:
            return batch
        try:
            # Keys that are cached take no suspension; for others a seek waits, as it does for a delivery.
            plain: Batch = await decrypted(batch)
            return plain
        except Unavailable as unavailable:
            LOGGER.warning("records wait for their keys: %s", unavailable)
            return {}

    def _pass_over(self, client: AIOKafkaConsumer) -> None:
        """Count what the client has read and has no record of as read: a transaction's marker at the end is no lag."""
        for tp in self._reading() - self._in_step.kept:
            state = aiokafka_private.partition_state(client, tp)
            if state is not None and state.has_valid_position:
                self.marks[tp].pass_over(state.position)

    def _reading(self) -> set[TopicPartition]:
        return self.marks.keys() - self._paused - self._waiting_for_head

    async def _until_woken(self, waiter: "asyncio.Future[None]") -> None:
        """Wait for records, a stop, a resumed partition or a new lease; for a second at most."""
        self._waiter = waiter
        pause = IN_STEP_POLL_S if self._in_step.kept else IDLE_POLL_S
        timer = asyncio.get_running_loop().call_later(pause, _wake, waiter)
        try:
            await waiter
        finally:
            timer.cancel()

    async def _deliver(self, client: AIOKafkaConsumer, tp: TopicPartition, records: Sequence[ConsumerRecord]) -> bool:
        """Deliver the records; returns whether all of them were accepted."""
        mark, sink, flowing, paused = self.marks[tp], self._sink, self._flowing, self._paused
        now = monotonic()
        for raw in records:
            offset = raw.offset
            if not flowing.is_set():
                return False
            if not self.leased:
                # The process was stopped within the batch: what is left may be another owner's.
                client.seek(tp, offset)
                return False
            if mark.ahead() >= MAX_AHEAD:
                self._waiting_for_head.add(tp)
                client.seek(tp, offset)
                client.pause(tp)
                return False
            if paused and tp in paused:
                # Paused by the sink within the batch: the rest is fetched again after `resume`.
                client.seek(tp, offset)
                return False
            if offset < mark.position:
                continue
            before = mark.position
            mark.deliver(offset, now)
            waiting = sink(
                Record(
                    tp.topic,
                    tp.partition,
                    offset,
                    raw.timestamp,
                    raw.key,
                    raw.value,
                    tuple(raw.headers),
                )
            )
            if waiting is not None and not await self._taken(waiting):
                mark.take_back(offset, before)
                if flowing.is_set():
                    # Rejected by the sink itself: without a rebalance no seek would bring it back.
                    client.seek(tp, offset)
                return False
        return True

    async def _taken(self, waiting: Awaitable[None]) -> bool:
        """Wait for the sink to accept a record; False when the flow stopped first."""
        task, halt = asyncio.ensure_future(waiting), self._halt
        assert halt is not None
        self._blocked_at = monotonic()
        try:
            await asyncio.wait({task, halt}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
        finally:
            self._blocked_at = None
            task.cancel()
        if task.cancelled():
            return False
        task.result()
        return True
