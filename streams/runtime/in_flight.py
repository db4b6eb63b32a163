"""A record on its way through the stages of a group, and the sends of several stages as one."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from time import monotonic

from agents.ports.handlers import JointHandler
from schemas import codec
from schemas.base import Event
from schemas.envelope import Outgoing, Position, Received, Step
from schemas.topics import Topic
from streams.kafka.records import Record
from streams.runtime.dead_letters import Failure
from streams.telemetry import metrics

TENANT = ("tenant", "ce_tenant")
# Sends events by a name, or by the stage's own.
Send = Callable[[Sequence[Outgoing], str | None], Awaitable[None]]


def position_of(record: Record) -> Position:
    """The position of a record."""
    return Position(record.topic, record.partition, record.offset)


def tenant_of(record: Record) -> str:
    """The tenant by a record's headers; empty where they name none."""
    return next((value.decode(errors="replace") for name, value in record.headers if name in TENANT), "")


def order_key(order: str, record: Record) -> Hashable:
    """What records have in common that are handled sequentially, by `Stage.order`."""
    if order == "none":
        return (record.topic, record.partition, record.offset)
    if order == "partition" or record.key is None:
        return (record.topic, record.partition)
    return (record.topic, record.key) if order == "topic" else record.key


class _Round:
    """Events that go out together: `full` once no other is awaited, `sent` once the broker has them."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.made: list[tuple[Outgoing, float]] = []
        self.full: asyncio.Future[None] = loop.create_future()
        self.sent: asyncio.Future[None] = loop.create_future()


class JointSend:
    """One record's events: the first stage that has one waits for the others, and sends for all of them."""

    def __init__(self) -> None:
        self._awaited = 0
        self._round: _Round | None = None

    def expect(self) -> None:
        """Count a stage that handles the record; all are counted before the first is done."""
        self._awaited += 1

    def absent(self) -> None:
        """Count a stage as done without an event: it failed, or had nothing to say."""
        self._awaited -= 1
        if not self._awaited:
            self._close()

    async def send(self, out: Outgoing, handler: JointHandler, cause: Event, send: Send, source: str) -> None:
        """Send an event, with those of the others where they come in time; returns when the broker has it.

        `cause` is what it was made of, `source` the name by which several are sent.
        """
        self._awaited -= 1
        mine = self._round
        if mine is not None:
            mine.made.append((out, monotonic()))
            if not self._awaited:
                self._close()
            await mine.sent
            return
        if not self._awaited:
            await send((out,), None)
            return
        self._round = mine = _Round()
        mine.made.append((out, monotonic()))
        timer = asyncio.get_running_loop().call_later(handler.patience(cause), self._close)
        try:
            await mine.full
            if len(mine.made) == 1:
                await send((out,), None)
            else:
                now = monotonic()
                whole = handler.joined([(each, int((now - at) * 1000)) for each, at in mine.made])
                await send((whole,), source)
        except BaseException as error:  # those that wait are of the same partition: they end as this one does
            if isinstance(error, Exception):
                mine.sent.set_exception(error)
                mine.sent.exception()  # there may be none that waits
            else:
                mine.sent.cancel()
            raise
        finally:
            timer.cancel()
        if not mine.sent.done():
            mine.sent.set_result(None)

    def _close(self) -> None:
        """Let those that are there go out; the next one begins anew."""
        if self._round is not None and not self._round.full.done():
            self._round.full.set_result(None)
        self._round = None


class InHandAlone:
    """Whether a suspect is still in hand: until all its stages have handled it, or one waits for something."""

    __slots__ = ("_left", "over")

    def __init__(self, stages: int) -> None:
        self._left = stages
        self.over = asyncio.Event()

    def handled(self) -> None:
        """Count one stage as done with it."""
        self._left -= 1
        if self._left <= 0:
            self.over.set()

    def waits(self) -> None:
        """End it: what waits for a store, or for what the record names, has killed nothing."""
        self.over.set()


class InFlightRecord:
    """A record in progress in a group: decoded once, acknowledged when all its stages are done."""

    __slots__ = ("_ack", "_left", "_received", "alone", "failure", "joint", "record")

    def __init__(
        self,
        record: Record,
        stages: int,
        ack: Callable[[Record], None],
        *,
        alone: InHandAlone | None = None,
        failure: "Failure | None" = None,
    ) -> None:
        self.record = record
        self._left = stages
        self._ack = ack
        self._received: Received[Event] | None = None
        # Made by the first of the stages that send together.
        self.joint: JointSend | None = None
        # Where nothing but suspects is in hand; and why it is not handled at all.
        self.alone = alone
        self.failure = failure

    def received(self, topic: Topic) -> Received[Event]:
        """The decoded record; raises `Undecodable`."""
        if self._received is None:
            record = self.record
            self._received = codec.decode_record(topic, record)
        return self._received

    @staticmethod
    def all_wait(chain: "Iterable[InFlightRecord]") -> None:
        """Tell who waits for suspects that these wait, all for the first."""
        for one in chain:
            if one.alone is not None:
                one.alone.waits()

    def handled(self) -> None:
        """Tell who waits for a suspect."""
        if self.alone is not None:
            self.alone.handled()

    def done(self) -> None:
        """Count one stage as done; acknowledge the record after the last."""
        self._left -= 1
        if self._left == 0:
            self._ack(self.record)


@dataclass(slots=True)
class HandledRecord:
    """A record and what a stage made of it: steps, or a failure; `ended` where that is before its acknowledgement."""

    delivery: InFlightRecord
    began: float
    received: Received[Event] | None = None
    attempts: int = 0
    steps: Sequence[Step] = ()
    failure: Failure | None = None
    erased: bool = False
    ended: float | None = None

    def log(self, stage: str, seconds: float) -> None:
        """Log the record with what became of it."""
        record, received, failure = self.delivery.record, self.received, self.failure
        metrics.record_processed(
            stage=stage,
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            key=(record.key or b"").decode(errors="replace"),
            event_type=received.envelope.type if received else "",
            correlation_id=received.envelope.correlation_id if received else "",
            outcome="ok" if failure is None else "dead-letter",
            attempts=max(self.attempts, 1),
            seconds=seconds,
            reason=None if failure is None else f"{failure.code}: {failure.detail}",
        )
