"""The join of a plan's terms with its parts: a pure state machine over the records of one partition.

Time is the partition's stream time: the highest record timestamp seen. Tick records advance it on an idle partition, so
that every deadline passes at a position in the log, and on a replay at the same one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal, cast

from schemas.envelope import Envelope, Position, Received
from schemas.items import Item
from schemas.packs import PartReport
from schemas.retrieval import JoinOpened, MemoryClass, PackInputs, PartFound, PartsFound

ORPHAN_AFTER = timedelta(seconds=60)
# What an item takes besides its text.
ITEM_BYTES = 1_000


@dataclass(frozen=True, slots=True)
class Join:
    """The state of one pack: the terms once known, the first part of each class, the unacknowledged inputs."""

    pack_id: str
    since: datetime
    opened: JoinOpened | None = None
    cause: Envelope | None = None
    key: str = ""
    opened_at: datetime | None = None
    parts: Mapping[MemoryClass, PartFound] = field(default_factory=dict)
    arrived: Mapping[MemoryClass, datetime] = field(default_factory=dict)
    holds: tuple[Position, ...] = ()
    # The bytes of question and items, about.
    size: int = 0

    @property
    def deadline(self) -> datetime:
        """When the pack must be emitted; parts without terms are dropped after a minute."""
        return self.opened.deadline_at if self.opened else self.since + ORPHAN_AFTER


def parts_of(record: Received[PartFound | PartsFound | PackInputs]) -> tuple[Received[PartFound], ...]:
    """The parts of a record, each as if it had been sent when it was there."""
    event = record.event
    if isinstance(event, PartFound):
        return (cast("Received[PartFound]", record),)
    found = cast("Received[PartFound]", record)
    at = round(event.settled_at.timestamp() * 1000) if isinstance(event, PackInputs) else record.timestamp
    return tuple(found._replace(event=part, timestamp=at - (part.earlier_ms or 0)) for part in event.parts)


def whole(record: Received[PackInputs]) -> Join:
    """The join of a record that has all of it."""
    event = record.event
    arrived = {each.event.memory_class: each.logged_at for each in parts_of(record)}
    parts = {each.memory_class: each for each in event.parts}
    return Join(
        event.pack_id, event.opened_at, event.terms, record.envelope, record.key, event.opened_at,
        parts, arrived, (record.position,),
    )  # fmt: skip


def start(pack_id: str, at: datetime) -> Join:
    """A new join, opened by whichever of its records comes first."""
    return Join(pack_id=pack_id, since=at)


def add_terms(join: Join, record: Received[JoinOpened]) -> Join:
    """Add the plan's terms; a redelivery only adds to the held inputs."""
    join = replace(join, holds=(*join.holds, record.position))
    if join.opened is not None:
        return join
    opened, size = record.event, join.size + len(record.event.query)
    return replace(join, opened=opened, cause=record.envelope, key=record.key, opened_at=record.logged_at, size=size)


def add_part(join: Join, record: Received[PartFound]) -> Join:
    """Keep the first answer per memory class: Kafka may deliver a part twice."""
    part = record.event
    if record.position not in join.holds:
        join = replace(join, holds=(*join.holds, record.position))
    if part.memory_class in join.parts:
        return join
    return replace(
        join,
        parts={**join.parts, part.memory_class: part},
        arrived={**join.arrived, part.memory_class: record.logged_at},
        size=join.size + sum(map(_size, part.items)),
    )


def _size(item: Item) -> int:
    return ITEM_BYTES + len(getattr(item, "text", getattr(item, "content", "")))


def missing(join: Join) -> frozenset[MemoryClass]:
    """The wanted classes that have not answered; none while the terms are not known."""
    return frozenset(join.opened.wanted) - join.parts.keys() if join.opened else frozenset()


def settled(join: Join, stream_time: datetime) -> Literal["complete", "deadline", "orphaned"] | None:
    """Why the join is over, if it is: all parts have arrived, or stream time has passed its deadline."""
    if join.opened is not None and not missing(join):
        return "complete"
    if join.deadline < stream_time:
        return "deadline" if join.opened is not None else "orphaned"
    return None


def settled_at(join: Join, why: str) -> datetime:
    """The pack's time, from its own records: the timestamp of its last part, or its deadline.

    Not the stream time: a restarted worker reads fewer records before it, and the same pack would differ.
    """
    if why != "complete":
        return join.deadline
    return max([join.opened_at or join.since, *join.arrived.values()])


def report(join: Join) -> tuple[PartReport, ...]:
    """The status of each wanted class; latency is from the opening of the join to the part, by log timestamps."""
    if join.opened is None or join.opened_at is None:
        return ()
    return tuple(_report_one(join, join.opened_at, memory) for memory in join.opened.wanted)


def _report_one(join: Join, opened_at: datetime, memory: MemoryClass) -> PartReport:
    part = join.parts.get(memory)
    if part is None:
        return PartReport(memory_class=memory, status="missing", items=0)
    waited = max((join.arrived[memory] - opened_at).total_seconds() * 1000, 0.0)
    return PartReport(
        memory_class=memory, status=part.status.value, items=len(part.items), latency_ms=waited, error=part.error
    )
