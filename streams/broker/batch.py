"""Record batches (format 2) as opaque bytes: the 61-byte header is read, checked and re-based, the records are not.

Only a search by timestamp reads records.
"""

from aiokafka.errors import KafkaError
from aiokafka.record.default_records import DefaultRecordBatch

from streams.broker.errors import Code, RequestRefused
from streams.kafka.record_batches import CODEC_MASK, CONTROL, HEADER_SIZE, MAGIC, TRANSACTIONAL, Batch, header, intact

MIN_RECORD_BYTES = 7  # six fields of one byte each, and the record's length


def accept(records: bytes | None, limit: int) -> Batch:
    """The header of a producer's bytes; RequestRefused unless they are one valid batch of at most `limit` bytes."""
    if records is None or len(records) < HEADER_SIZE:
        raise RequestRefused(Code.CORRUPT_MESSAGE, "no whole record batch")
    batch = header(records)
    invalid, corrupt = Code.INVALID_RECORD, Code.CORRUPT_MESSAGE
    size, plain = len(records), not batch.attributes & CODEC_MASK
    bare = batch.producer_id >= 0 > min(batch.epoch, batch.base_sequence)
    for wrong, code, reason in (
        (batch.magic != MAGIC, invalid, "only record format 2 is accepted"),
        (size > limit, Code.MESSAGE_TOO_LARGE, f"a batch of {size} bytes, the limit is {limit}"),
        (batch.size != size, corrupt, "the batch's length is not the length of what was sent"),
        (not intact(records, batch), corrupt, "CRC-32C mismatch"),
        (not 0 < batch.records == batch.last_delta + 1, invalid, "record count and last offset disagree"),
        (plain and batch.records * MIN_RECORD_BYTES > size - HEADER_SIZE, invalid, "more records than bytes for them"),
        (batch.attributes & (TRANSACTIONAL | CONTROL), invalid, "the embedded broker has no transactions"),
        (bare, invalid, "a producer id without epoch or sequence"),
    ):
        if wrong:
            raise RequestRefused(code, reason)
    return batch


def first_at_or_after(records: bytes, timestamp: int) -> tuple[int, int]:
    """Offset and timestamp of the batch's first record not older than `timestamp`.

    For a compressed batch, its first offset: early, never late; a decompression bomb is never inflated.
    """
    batch = header(records)
    if not batch.attributes & CODEC_MASK:
        try:
            for record in DefaultRecordBatch(bytearray(records)):
                if record.timestamp >= timestamp:
                    return record.offset, record.timestamp
        except (KafkaError, ValueError):
            # The records were never parsed before; readers have to handle invalid ones.
            pass
    return batch.base_offset, batch.max_timestamp
