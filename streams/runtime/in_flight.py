"""A record on its way through the stages of a group."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from schemas import codec
from schemas.base import Event
from schemas.envelope import Received, Step
from schemas.topics import Topic
from streams.kafka.records import Record
from streams.runtime.dead_letters import Failure
from streams.runtime.joint_send import JointSend


class InFlightRecord:
    """A record in progress in a group: decoded once, acknowledged when all its stages are done."""

    __slots__ = ("_ack", "_left", "_received", "joint", "record")

    def __init__(self, record: Record, stages: int, ack: Callable[[Record], None]) -> None:
        self.record = record
        self._left = stages
        self._ack = ack
        self._received: Received[Event] | None = None
        # Made by the first of the stages that send together.
        self.joint: JointSend | None = None

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


@dataclass(slots=True)
class HandledRecord:
    """A record and what a stage made of it: steps, or a failure; `ended` where that is before its acknowledgement."""

    delivery: InFlightRecord
    began: float
    received: Received[Event] | None = None
    attempts: int = 0
    steps: Sequence[Step] = ()
    failure: Failure | None = None
    ended: float | None = None
