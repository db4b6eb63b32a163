"""The check of a log against its sealed heads: what was changed, removed, moved or cut off since is found; pure.

First the heads are checked against each other and against an anchor kept elsewhere, then the records against the heads.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from pydantic import ValidationError

from schemas.learning import AuditHead, SealedSegment
from schemas.topics import AUDIT_HEADS
from streams.audit.chain import (
    MARK_BYTES,
    ChainedRecord,
    ChainEnd,
    Partition,
    advanced,
    digest,
    genesis,
    link_after,
    marks_of,
    partition_of,
)

# Two sealers at once may write heads with one predecessor: a head may follow any of the last ones.
REMEMBERED_HEADS = 256


@dataclass(frozen=True, slots=True, order=True)
class ChainBreak:
    """One place where the log is not what was sealed."""

    topic: str
    partition: int
    offset: int
    what: str

    def __str__(self) -> str:
        return f"{self.topic}[{self.partition}]@{self.offset}: {self.what}"


class HeadAnchor(NamedTuple):
    """A head that was kept outside of the log: its hash and its number."""

    digest: str
    number: int

    def __str__(self) -> str:
        return f"{self.digest}:{self.number}"


class PartitionBounds(NamedTuple):
    """The offsets of what is kept of a partition, and how long its topic keeps records; None: for ever."""

    begin: int
    end: int
    retention: timedelta | None = None


@dataclass(slots=True)
class CheckedHeads:
    """The heads that hold together: their segments by partition, how far they reach, and where they do not hold."""

    segments: dict[Partition, list[SealedSegment]] = field(default_factory=dict)
    ends: Mapping[Partition, ChainEnd] = field(default_factory=dict)
    newest: HeadAnchor | None = None
    heads: int = 0
    breaks: list[ChainBreak] = field(default_factory=list)


@dataclass(slots=True)
class CheckedPartition:
    """The records of one partition against its segments."""

    verified: int = 0
    unsealed: int = 0
    expired: int = 0
    breaks: list[ChainBreak] = field(default_factory=list)


def check_heads(
    records: Iterable[ChainedRecord],
    partition: int,
    kept: PartitionBounds,
    now: datetime,
    anchor: HeadAnchor | None = None,
) -> CheckedHeads:
    """The heads of the log, oldest first, each against those before it, and all against an anchor."""
    found, known = CheckedHeads(), OrderedDict[str, dict[Partition, ChainEnd]]()
    anchored = seen = False
    for record in records:
        broken = _checked(found, known, record, first=not seen)
        if broken is None and not seen:
            broken = _gone_early(record, kept, now)
        if broken is not None:
            found.breaks.append(ChainBreak(AUDIT_HEADS.name, partition, record.offset, broken))
        seen = True
        anchored = anchored or (anchor is not None and name_of(record) == anchor.digest)
    if anchor is not None and not anchored:
        newest = f"the newest one is number {found.newest.number}" if found.newest else "there is none"
        what = f"the anchored head {anchor.number} is not there, {newest}: heads were cut off, changed, or have expired"
        found.breaks.append(ChainBreak(AUDIT_HEADS.name, partition, anchor.number - 1, what))
    return found


def name_of(record: ChainedRecord) -> str:
    """The hash of a head by its record."""
    return digest(record.key, record.value, record.headers)


def _gone_early(first: ChainedRecord, kept: PartitionBounds, now: datetime) -> str | None:
    """Why the head before the first that is kept should still be there."""
    head = AuditHead.model_validate_json(first.value or b"")
    if head.previous_at is None or (kept.retention is not None and head.previous_at + kept.retention <= now):
        return None
    return "the heads before it are gone before their time"


def _checked(
    found: CheckedHeads, known: OrderedDict[str, dict[Partition, ChainEnd]], record: ChainedRecord, *, first: bool
) -> str | None:
    """Why a head does not hold; where it does, it is added."""
    value = record.value or b""
    try:
        head = AuditHead.model_validate_json(value)
    except ValidationError:
        return "it is no head: it was changed"
    name = name_of(record)
    if name in known:
        return "it stands there twice"
    if record.timestamp != round(head.sealed_at.timestamp() * 1000):
        return "it does not have the time at which it was sealed"
    if first:
        if head.number == 1 and head.previous is not None:
            return "the first head has one before it"
        if head.number > 1 and (head.previous_at is None or record.offset == 0):
            return "the heads before it are gone"
    elif head.previous is None or head.previous not in known:
        return "the head before it was changed or removed"
    ends = dict(known.get(head.previous or "", {}))
    trusted = first and head.number > 1
    for segment in head.segments:
        if wrong := _unlinked(segment, ends.get(partition_of(segment)), trusted=trusted):
            return wrong
        ends = advanced(ends, head.model_copy(update={"segments": (segment,)}))
    known[name] = ends
    if len(known) > REMEMBERED_HEADS:
        known.popitem(last=False)
    for segment in head.segments:
        found.segments.setdefault(partition_of(segment), []).append(segment)
    found.ends, found.newest, found.heads = ends, HeadAnchor(name, head.number), found.heads + 1
    return None


def _unlinked(segment: SealedSegment, end: ChainEnd | None, *, trusted: bool) -> str | None:
    where = partition_of(segment)
    if end is None:
        # Heads before the first that is kept may have sealed it.
        continues = trusted or bytes.fromhex(segment.before) == genesis(where)
    else:
        continues = bytes.fromhex(segment.before) == end.link and segment.begin >= end.offset
    return (
        None if continues else f"its segment of {where.topic}[{where.number}] does not go on where the last one ended"
    )


class PartitionCheck:
    """The check of one partition: its records are given in their order, then it is finished."""

    def __init__(
        self, where: Partition, segments: Sequence[SealedSegment], kept: PartitionBounds, now: datetime
    ) -> None:
        self._where = where
        self._kept = kept
        self._now = now
        self.result = CheckedPartition()
        self._left = sorted(segments, key=lambda each: (each.begin, each.end), reverse=True)
        self._active: list[_SegmentCheck] = []
        self._first = min((each.begin for each in segments), default=0)
        self._sealed = max((each.end for each in segments), default=0)
        self._expired = kept.begin
        while self._left and self._left[-1].begin < kept.begin:
            self._expire(self._left.pop())

    def add(self, record: ChainedRecord) -> None:
        """Check the next record."""
        while self._left and self._left[-1].begin <= record.offset:
            self._active.append(_SegmentCheck(self._left.pop()))
        for each in [each for each in self._active if each.segment.end <= record.offset]:
            self._close(each)
        if record.offset >= self._sealed:
            self.result.unsealed += 1
            return
        if not self._active and record.offset < max(self._expired, self._first):
            self.result.expired += 1  # of a segment that is removed in part, or from before the first head
        elif not self._active:
            self._break(record.offset, "a record stands where none was")
        for each in self._active:
            each.add(record)

    def finish(self) -> CheckedPartition:
        """What was found, with what is sealed and no longer there."""
        for each in list(self._active):
            self._close(each)
        for segment in reversed(self._left):
            self._break(segment.begin, f"{segment.records} sealed records are gone: the log was cut off")
        self.result.breaks.sort()
        return self.result

    def _close(self, check: "_SegmentCheck") -> None:
        self._active.remove(check)
        bad = check.verdict()
        if bad is None:
            self.result.verified += check.segment.records
        else:
            self._break(*bad)

    def _expire(self, segment: SealedSegment) -> None:
        """A segment that is no longer there from its beginning on: by age, or removed."""
        self._expired = max(self._expired, segment.end)
        keeps = self._kept.retention
        if keeps is None or segment.last_at + keeps > self._now:
            self._break(segment.begin, "records are gone before their time: the log was cut off at its beginning")

    def _break(self, offset: int, what: str) -> None:
        self.result.breaks.append(ChainBreak(self._where.topic, self._where.number, offset, what))


class _SegmentCheck:
    """The records of one segment, up to the first that differs."""

    def __init__(self, segment: SealedSegment) -> None:
        self.segment = segment
        self._marks = marks_of(segment)
        self._link = bytes.fromhex(segment.before)
        self._count = 0
        self._last = segment.begin - 1
        self._bad: tuple[int, str] | None = None

    def add(self, record: ChainedRecord) -> None:
        if self._bad is not None:
            return
        self._link = link_after(self._link, record)
        place = self._count * MARK_BYTES
        if self._link[:MARK_BYTES] != self._marks[place : place + MARK_BYTES]:
            gone = record.offset > self._last + 1
            what = "a record was removed before it" if gone else "it was changed, moved, or another stands in its place"
            self._bad = (self._last + 1 if gone else record.offset), what
        self._count += 1
        self._last = record.offset

    def verdict(self) -> tuple[int, str] | None:
        """The first place that differs, and how; None where all is as it was sealed."""
        if self._bad is not None:
            return self._bad
        if self._count != self.segment.records:
            return self._last + 1, f"{self.segment.records - self._count} sealed records are gone: the log was cut off"
        return None if self._link.hex() == self.segment.after else (self.segment.begin, "its segment was changed")
