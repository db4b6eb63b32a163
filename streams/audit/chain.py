"""The hash chain over the records of a partition, and the sealing of its segments; pure.

A link is the SHA-256 of the link before and of all that the log has of a record: offset, time, key, value and headers,
each with its length, so that nothing can be moved from one to the other. Erasure changes none of it: a conversation is
forgotten by records that are appended, and a destroyed key changes no byte of the log.
"""

import struct
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple, Protocol

from schemas import codec
from schemas.base import time_of
from schemas.learning import AuditHead, SealedSegment
from schemas.topics import MEMORY_CLAIMS, MEMORY_CORRECTIONS, MEMORY_DECISIONS

AUDITED = (MEMORY_DECISIONS.name, MEMORY_CLAIMS.name, MEMORY_CORRECTIONS.name)
GENESIS = b"fathom.audit.v1"
NONE = 0xFFFFFFFF
MARK_BYTES = 4
# A segment that retention has begun to remove cannot be checked any more, so segments are short; a head is one record.
SEGMENT_RECORDS, HEAD_RECORDS = 1_000, 50_000


class Partition(NamedTuple):
    """One partition of an audited topic."""

    topic: str
    number: int


class ChainedRecord(Protocol):
    """What a link is made of."""

    @property
    def offset(self) -> int: ...
    @property
    def timestamp(self) -> int: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...
    @property
    def headers(self) -> Sequence[tuple[str, bytes]]: ...


@dataclass(frozen=True, slots=True)
class ChainEnd:
    """How far a partition is sealed: up to before `offset`, with this hash."""

    offset: int
    link: bytes


def genesis(of: Partition) -> bytes:
    """The link before the first record of a partition."""
    return sha256(b"\0".join((GENESIS, of.topic.encode(), str(of.number).encode()))).digest()


def link_after(link: bytes, record: ChainedRecord) -> bytes:
    """The link after a record."""
    parts = [link, struct.pack(">Qq", record.offset, record.timestamp), *_sized(record.key), *_sized(record.value)]
    for name, value in record.headers:
        parts += [*_sized(name.encode()), *_sized(value)]
    return sha256(b"".join(parts)).digest()


def _sized(part: bytes | None) -> tuple[bytes, bytes]:
    return (struct.pack(">I", NONE), b"") if part is None else (struct.pack(">I", len(part)), part)


def segments_of(where: Partition, end: ChainEnd, records: Iterable[ChainedRecord]) -> list[SealedSegment]:
    """The next segments of a partition, over records that follow its sealed ones."""
    made: list[SealedSegment] = []
    waiting: list[ChainedRecord] = []
    for record in records:
        waiting.append(record)
        if len(waiting) == SEGMENT_RECORDS:
            made.append(_segment(where, end, waiting))
            end, waiting = end_of(made[-1]), []
    if waiting:
        made.append(_segment(where, end, waiting))
    return made


def _segment(where: Partition, end: ChainEnd, records: Sequence[ChainedRecord]) -> SealedSegment:
    link, marks = end.link, bytearray()
    for record in records:
        link = link_after(link, record)
        marks += link[:MARK_BYTES]
    return SealedSegment(
        topic=where.topic,
        partition=where.number,
        begin=records[0].offset,
        end=records[-1].offset + 1,
        records=len(records),
        before=end.link.hex(),
        after=link.hex(),
        marks=b64encode(bytes(marks)).decode(),
        last_at=time_of(max(record.timestamp for record in records)),
    )


def marks_of(segment: SealedSegment) -> bytes:
    """The marks of a segment; empty where they are no base64."""
    try:
        return b64decode(segment.marks, validate=True)
    except ValueError:
        return b""


def partition_of(segment: SealedSegment) -> Partition:
    """The partition that a segment is of."""
    return Partition(segment.topic, segment.partition)


def end_of(segment: SealedSegment) -> ChainEnd:
    """How far its partition is sealed by a segment."""
    return ChainEnd(segment.end, bytes.fromhex(segment.after))


def digest(key: bytes | None, value: bytes | None, headers: Sequence[tuple[str, bytes]]) -> str:
    """The hash of a head: of all that its record has but its place and its time, which the value states."""
    parts = [GENESIS, *_sized(key), *_sized(value)]
    for name, said in headers:
        parts += [*_sized(name.encode()), *_sized(said)]
    return sha256(b"".join(parts)).hexdigest()


def next_head(last: tuple[AuditHead, str] | None, segments: Sequence[SealedSegment], at: datetime) -> bytes:
    """The value of the next head; `last` is the newest one with its hash."""
    if last is None:
        return codec.dump(AuditHead(number=1, segments=tuple(segments), sealed_at=at))
    before, name = last
    head = AuditHead(
        number=before.number + 1, previous=name, previous_at=before.sealed_at, segments=tuple(segments), sealed_at=at
    )
    return codec.dump(head)


def advanced(ends: Mapping[Partition, ChainEnd], head: AuditHead) -> dict[Partition, ChainEnd]:
    """How far everything is sealed after a head."""
    return {**ends, **{partition_of(each): end_of(each) for each in head.segments}}
