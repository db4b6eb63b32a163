"""A record on its way through the stages of a group."""

import asyncio
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from schemas import codec
from schemas.base import Event
from schemas.envelope import Erased, Position, Received, Step, Undecodable
from schemas.topics import Topic
from streams.kafka.records import Record
from streams.runtime.dead_letters import Failure
from streams.telemetry import metrics

TENANT = ("tenant", "ce_tenant")


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


class InFlightSuspect:
    """Whether a suspect is still in hand: until all its stages have handled it, or one waits for something."""

    __slots__ = ("_left", "over")

    def __init__(self, stages: int) -> None:
        self._left = stages
        self.over = asyncio.Event()

    def goes_on(self, stages: int) -> None:
        """Count stages that what follows from it is handed to."""
        self._left += stages

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

    __slots__ = ("_ack", "_left", "_received", "_watchers", "failure", "record", "suspect")

    def __init__(
        self,
        record: Record,
        stages: int,
        ack: Callable[[Record], None],
        *,
        suspect: InFlightSuspect | None = None,
        failure: "Failure | None" = None,
    ) -> None:
        self.record = record
        self._left = stages
        self._ack = ack
        self._received: Received[Event] | None = None
        self._watchers: list[Callable[[InFlightRecord], None]] = []
        # Where nothing but suspects is in hand; and why it is not handled at all.
        self.suspect = suspect
        self.failure = failure

    def received(self, topic: Topic) -> Received[Event]:
        """The decoded record; raises `Undecodable`."""
        if self._received is None:
            record = self.record
            self._received = codec.decode_record(topic, record)
        return self._received

    def is_unreadable(self, topic: Topic) -> bool:
        """Whether the record cannot be decoded; why not is its failure from then on."""
        if self.failure is None:  # else it is not even decoded: that may be what kills
            try:
                self.received(topic)
            except Erased:
                return False
            except Undecodable as error:
                self.failure = Failure(error.code, error.detail, type(error).__name__)
            except Exception:  # noqa: BLE001 - whoever handles the record meets it again, and says what it means
                return False
        return self.failure is not None

    def followed(self, record: Record, received: Received[Event], stages: int) -> "InFlightRecord":
        """What follows from it, for stages of the same group: only once they are done it is."""
        self._left += 1
        if self.suspect is not None:
            self.suspect.goes_on(stages)
        follower = InFlightRecord(record, stages, lambda _: self.done(), suspect=self.suspect)
        follower._received = received
        return follower

    @staticmethod
    def all_wait(chain: "Iterable[InFlightRecord]") -> None:
        """Tell who waits for suspects that these wait, all for the first."""
        for one in chain:
            if one.suspect is not None:
                one.suspect.waits()

    def handled(self) -> None:
        """Tell who waits for a suspect."""
        if self.suspect is not None:
            self.suspect.handled()

    def watch(self, ended: "Callable[[InFlightRecord], None]") -> None:
        """Have it called with the record once all is done."""
        self._watchers.append(ended)

    @property
    def is_done(self) -> bool:
        """Whether all its stages are done, and those that what follows from it was handed to."""
        return self._left <= 0

    def done(self) -> None:
        """Count one stage as done; acknowledge the record after the last."""
        self._left -= 1
        if self._left == 0:
            self._ack(self.record)
            for ended in self._watchers:
                ended(self)


def unreadable(chain: Iterable[InFlightRecord], topics: Mapping[str, Topic]) -> int:
    """How many of an outsider's records at the front of a chain cannot be decoded: their dead letters go side by side.

    A batch of 20,000 of them takes a producer 18 kB; one after the other they would keep others' records waiting. Of
    our own topics each is looked at alone, for after too many in a row the stage stops.
    """
    return sum(1 for _ in takewhile(lambda one: _is_refused(one, topics[one.record.topic]), chain))


def _is_refused(one: InFlightRecord, topic: Topic) -> bool:
    return topic.outside and one.suspect is None and one.is_unreadable(topic)


@dataclass(slots=True)
class HandledRecord:
    """A record and what a stage made of it: steps, or a failure."""

    delivery: InFlightRecord
    began: float
    received: Received[Event] | None = None
    attempts: int = 0
    steps: Sequence[Step] = ()
    failure: Failure | None = None
    erased: bool = False

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
