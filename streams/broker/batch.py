"""Record batches (format 2) as opaque bytes: the 61-byte header is read, checked and re-based, records never are.

Only a search by timestamp looks inside.
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
MIN_RECORD_BYTES = 7  # six fields of one byte and the length of them
TRANSACTIONAL, CONTROL, CODEC_MASK = 0x10, 0x20, 0x07


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
    def last_offset(self) -> int:
        return self.base_offset + self.last_delta


def header(buffer: bytes | memoryview, at: int = 0) -> Batch:
    return Batch._make(HEADER.unpack_from(buffer, at))


def intact(buffer: bytes | memoryview, batch: Batch, at: int = 0) -> bool:
    crc: int = calc_crc32c(buffer[at + CRC_FROM : at + batch.size])
    return crc == batch.crc


def accept(records: bytes | None, limit: int) -> Batch:
    """The header of what a producer sent; RequestRefused unless it is one sound batch of at most `limit` bytes."""
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
    if plain and batch.records * MIN_RECORD_BYTES > len(records) - HEADER_SIZE:
        raise RequestRefused(Code.INVALID_RECORD, "more records than bytes for them")
    if batch.attributes & (TRANSACTIONAL | CONTROL):
        raise RequestRefused(Code.INVALID_RECORD, "the embedded broker has no transactions")
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
        batch = header(buffer, at)
        if batch.magic != 2 or batch.size < HEADER_SIZE or at + batch.size > end:
            return
        yield at, batch
        at += batch.size


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
