"""Record batches (format 2) as opaque bytes: the 61-byte header is read, checked and re-based, records never are.

Only two things look inside: transaction markers, which this broker writes itself, and a search by timestamp.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from aiokafka.errors import KafkaError
from aiokafka.record.default_records import DefaultRecordBatch
from aiokafka.record.util import calc_crc32c

from streams.broker.errors import Code, RequestRefused

HEADER = struct.Struct(">qiibIhiqqqhii")
HEADER_SIZE = HEADER.size
OVERHEAD = 12  # base offset and length, which the length itself leaves out
CRC_FROM = 21
SMALLEST_RECORD = 7  # six fields of one byte and the length of them
TRANSACTIONAL, CONTROL, CODEC_MASK = 0x10, 0x20, 0x07
MARKER_TYPE = struct.Struct(">h")
MARKER_TYPE_AT = HEADER_SIZE + 7


class Batch(NamedTuple):
    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_delta: int
    first_timestamp: int
    max_timestamp: int
    producer_id: int
    epoch: int
    base_sequence: int
    records: int

    @property
    def size(self) -> int:
        return self.length + OVERHEAD

    @property
    def last_sequence(self) -> int:
        return (self.base_sequence + self.last_delta) & 0x7FFFFFFF

    @property
    def transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL)

    @property
    def control(self) -> bool:
        return bool(self.attributes & CONTROL)


def header(buffer: bytes, at: int = 0) -> Batch:
    return Batch._make(HEADER.unpack_from(buffer, at))


def intact(buffer: bytes | memoryview, batch: Batch, at: int = 0) -> bool:
    crc: int = calc_crc32c(buffer[at + CRC_FROM : at + batch.size])
    return crc == batch.crc


def accept(records: bytes | None, limit: int) -> Batch:
    """The header of what a producer sent, or Refused: exactly one sound batch of at most `limit` bytes."""
    if records is None or len(records) < HEADER_SIZE:
        raise RequestRefused(Code.CORRUPT_MESSAGE, "no whole record batch")
    batch = header(records)
    if batch.magic != 2:
        raise RequestRefused(Code.INVALID_RECORD, "only record format 2 is accepted")
    if len(records) > limit:
        raise RequestRefused(Code.MESSAGE_TOO_LARGE, f"a batch of {len(records)} bytes, the limit is {limit}")
    if batch.size != len(records):
        raise RequestRefused(Code.CORRUPT_MESSAGE, "the batch's length is not the length of what was sent")
    if not intact(records, batch):
        raise RequestRefused(Code.CORRUPT_MESSAGE, "CRC-32C mismatch")
    if batch.records <= 0 or batch.last_delta != batch.records - 1:
        raise RequestRefused(Code.INVALID_RECORD, "record count and last offset disagree")
    plain = not batch.attributes & CODEC_MASK
    if plain and batch.records * SMALLEST_RECORD > len(records) - HEADER_SIZE:
        raise RequestRefused(Code.INVALID_RECORD, "more records than bytes for them")
    if batch.control or (batch.transactional and batch.producer_id < 0):
        raise RequestRefused(Code.INVALID_RECORD, "not a batch a producer may send")
    if batch.producer_id >= 0 and (batch.epoch < 0 or batch.base_sequence < 0):
        raise RequestRefused(Code.INVALID_RECORD, "a producer id without epoch or sequence")
    return batch


def rebase(records: bytes, base_offset: int) -> bytes:
    # The CRC starts behind the base offset, so the rest stays as the producer signed it.
    return base_offset.to_bytes(8, "big") + records[8:]


def walk(buffer: bytes | memoryview, start: int, end: int) -> Iterator[tuple[int, Batch]]:
    """Position and header of each whole batch; stops before the first that is cut or not one."""
    at = start
    while at + HEADER_SIZE <= end:
        batch = Batch._make(HEADER.unpack_from(buffer, at))
        if batch.magic != 2 or batch.size < HEADER_SIZE or at + batch.size > end:
            return
        yield at, batch
        at += batch.size


def marker(producer_id: int, epoch: int, commit: bool, now_ms: int) -> bytes:
    """The control batch that ends a transaction; its base offset is still to be set."""
    key, value = struct.pack(">hh", 0, commit), struct.pack(">hi", 0, 0)
    body = b"\0\0\0" + bytes((len(key) << 1,)) + key + bytes((len(value) << 1,)) + value + b"\0"
    record = bytes((len(body) << 1,)) + body
    signed = struct.pack(">hiqqqhii", TRANSACTIONAL | CONTROL, 0, now_ms, now_ms, producer_id, epoch, -1, 1)
    signed += record
    return struct.pack(">qiibI", 0, 9 + len(signed), 0, 2, calc_crc32c(signed)) + signed


def commits(buffer: bytes | memoryview, at: int) -> bool:
    """Whether the marker at this position commits (else it aborts)."""
    return bool(MARKER_TYPE.unpack_from(buffer, at + MARKER_TYPE_AT)[0])


def first_at_or_after(records: bytes, timestamp: int) -> tuple[int, int]:
    """Offset and timestamp of the batch's first record not older than `timestamp`.

    Of a compressed batch, its first offset: early, never late, and nobody can make the broker inflate a bomb.
    """
    batch = header(records)
    if not batch.attributes & CODEC_MASK:
        try:
            for record in DefaultRecordBatch(bytearray(records)):
                if record.timestamp >= timestamp:
                    return record.offset, record.timestamp
        except (KafkaError, ValueError):
            # The records were never looked at before; what a producer garbled is its readers' affair.
            pass
    return batch.base_offset, batch.max_timestamp
