"""Damage in a segment's bytes: where it begins, where the next whole batch is, and what takes its place.

A batch is sound when it is whole, has the checksum that its header states, and the offset that follows the batch
before it. After one that is not, the next sound batch is looked for: everything before that is damaged.
"""

import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from aiokafka.record.util import calc_crc32c

from streams.kafka.record_batches import CRC_FROM, HEADER, HEADER_SIZE, MAGIC, OVERHEAD, Batch, header, intact

# How far the offset of the next sound batch may be from the damage: a flipped bit in it must not move the log's end.
REACH = 1 << 31


class Damage(NamedTuple):
    """Bytes of a file that are no sound batch, and the offsets that they had: `first` up to before `following`.

    Bytes that are missing have a size of 0. Bytes behind the last offset have no offsets of their own.
    """

    at: int
    size: int
    first: int
    following: int


def examined(raw: bytes, base: int, end: int | None) -> Iterator[tuple[int, Batch] | Damage]:
    """Position and header of each sound batch, and the damage between them; `base` is the first offset.

    `end` is the offset that must follow the last batch; None where nobody knows it: what is behind the last sound batch
    has no offsets then.
    """
    at, expected = 0, base
    while at < len(raw):
        batch = sound(raw, at)
        if batch is None or batch.base_offset != expected:
            found = _next_sound(raw, at, expected)
            if found is None:
                break
            yield Damage(at, found[0] - at, expected, found[1].base_offset)
            at, batch = found
        yield at, batch
        at, expected = at + batch.size, batch.next_offset
    if at < len(raw) or (end is not None and expected < end):
        yield Damage(at, len(raw) - at, expected, expected if end is None else max(end, expected))


def sound(raw: bytes, at: int) -> Batch | None:
    """The batch at a position, if it is whole and has its checksum."""
    batch = _stated(raw, at)
    return batch if batch is not None and intact(raw, batch, at) else None


def _stated(raw: bytes, at: int) -> Batch | None:
    """The header at a position, if the batch that it states would end within the bytes."""
    try:
        batch = header(raw, at)
    except struct.error:
        return None
    whole = batch.magic == MAGIC and batch.size >= HEADER_SIZE and at + batch.size <= len(raw) and batch.last_delta >= 0
    return batch if whole else None


def _next_sound(raw: bytes, at: int, expected: int) -> tuple[int, Batch] | None:
    """Position and header of the next sound batch behind a damaged one."""
    damaged = _stated(raw, at)
    if damaged is not None and (after := _plausible(raw, at + damaged.size, expected)) is not None:
        return at + damaged.size, after
    first = None
    for match in _headers(expected).finditer(raw, at + 1):
        batch = _plausible(raw, match.start(), expected)
        if batch is None:
            continue
        following = match.start() + batch.size
        after = sound(raw, following)
        # The value of a record may be a batch, as in dead letters: what follows it within its record is none.
        if following == len(raw) or (after is not None and after.base_offset == batch.next_offset):
            return match.start(), batch
        first = first or (match.start(), batch)
    return first


def _plausible(raw: bytes, at: int, expected: int) -> Batch | None:
    batch = sound(raw, at)
    return batch if batch is not None and expected <= batch.base_offset < expected + REACH else None


def _headers(expected: int) -> re.Pattern[bytes]:
    """Where a header of an offset near the expected one may begin: upper half of the offset, and format."""
    upper = b"|".join(re.escape((expected + more >> 32).to_bytes(4, "big")) for more in (0, REACH))
    return re.compile(rb"(?=(?:" + upper + rb").{12}" + re.escape(bytes([MAGIC])) + rb")", re.DOTALL)


def empty_batches(first: int, following: int) -> bytes:
    """Batches without a record over these offsets, as Kafka's compaction leaves them: readers pass over them."""
    made = b""
    while first < following:
        delta = min(following - first, REACH) - 1
        fields = (first, HEADER_SIZE - OVERHEAD, 0, MAGIC, 0, 0, delta, -1, -1, -1, -1, -1, 0)
        raw = bytearray(HEADER.pack(*fields))
        struct.pack_into(">I", raw, CRC_FROM - 4, calc_crc32c(bytes(raw[CRC_FROM:])))
        made += raw
        first += delta + 1
    return made
