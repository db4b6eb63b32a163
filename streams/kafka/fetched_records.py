"""What aiokafka makes of a fetch response, in place of its own classes: no batch in it can end the client.

Its own `PartitionRecords` raises for a batch that is compressed by a codec it lacks, is broken or has another format,
and the next fetch brings the same batch again. Here such a batch becomes one record, whose value is an
`UnreadableBatch`. Its own also refers to its generator, which refers to it: a response that is dropped half-read is
freed by the collector alone, which counts objects and not their megabytes.
"""

from collections.abc import Collection, Iterator
from typing import Any, Self

from aiokafka import ConsumerRecord, TopicPartition
from aiokafka.consumer.fetcher import READ_COMMITTED
from aiokafka.record.control_record import ABORT_MARKER, ControlRecord
from aiokafka.record.default_records import DefaultRecordBatch

from schemas.envelope import UnreadableBatch
from streams.kafka.record_batches import (
    CONTROL,
    HEADER_SIZE,
    MAGIC,
    OVERHEAD,
    TRANSACTIONAL,
    Batch,
    UnreadableError,
    header,
    inflated,
    intact,
)

CREATE_TIME = 0
# Headers without a value are of Kafka's format, and mean nothing that an empty one does not.
NO_VALUE = b""


class FetchedBytes:
    """The bytes of one partition in a fetch response, as aiokafka's fetcher asks for them."""

    def __init__(self, buffer: bytes) -> None:
        self._buffer = memoryview(buffer or b"")
        self._at = 0

    def size_in_bytes(self) -> int:
        """The length of the whole."""
        return len(self._buffer)

    def has_next(self) -> bool:
        """Whether there is a batch, even a broken one."""
        return self._at < len(self._buffer) and (self._at == 0 or self._whole())

    def next_batch(self) -> memoryview:
        """The next batch; of one that is first and not whole, all that is there."""
        size = self._size() if self._whole() else len(self._buffer) - self._at
        batch = self._buffer[self._at : self._at + size]
        self._at += size
        return batch

    def _size(self) -> int:
        return OVERHEAD + int.from_bytes(self._buffer[self._at + 8 : self._at + OVERHEAD], "big", signed=True)

    def _whole(self) -> bool:
        """Whether the next batch ends within the response; after the first one a broker cuts where its limit is."""
        left = len(self._buffer) - self._at
        return left >= OVERHEAD and OVERHEAD < self._size() <= left


class FetchedRecords:
    """The records of one partition in a fetch response; the arguments are those of aiokafka's `PartitionRecords`."""

    def __init__(
        self,
        tp: TopicPartition,
        batches: FetchedBytes,
        aborted: Collection[tuple[int, int]] | None,
        fetch_offset: int,
        _key_deserializer: object,
        _value_deserializer: object,
        check_crcs: bool,
        isolation_level: int,
    ) -> None:
        self._tp = tp
        self._batches = batches
        self._committed_only = isolation_level == READ_COMMITTED
        self._aborted = sorted(aborted or (), key=lambda each: each[1])
        self._aborting: set[int] = set()
        self._check_crcs = check_crcs
        # Where the next fetch begins.
        self.next_fetch_offset = fetch_offset
        self._raw = memoryview(b"")
        self._batch: Batch | None = None
        self._last_read = -1
        self._records: Iterator[Any] = iter(())

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> ConsumerRecord[bytes | None, bytes | None]:
        while True:
            try:
                record = self._next()
            except StopIteration:
                raise
            except Exception as error:  # noqa: BLE001 - parsers of hostile bytes: the batch is passed over
                known = isinstance(error, UnreadableError)
                kept = self._unreadable(str(error) if known else f"its records cannot be parsed: {error}")
                if kept is not None:
                    return kept
                continue
            if record.offset >= self.next_fetch_offset:
                self.next_fetch_offset = record.offset + 1
                headers = tuple((name, NO_VALUE if value is None else value) for name, value in record.headers)
                return self._record(
                    record.offset, record.timestamp, record.timestamp_type, record.key, record.value, headers
                )

    def _next(self) -> Any:
        """The next record of aiokafka's parser."""
        while (record := next(self._records, None)) is None:
            if self._batch is not None:
                # Compaction may have removed the last record, not its offset: without this the batch comes again.
                self.next_fetch_offset, self._batch = max(self.next_fetch_offset, self._batch.next_offset), None
            if not self._batches.has_next():
                raise StopIteration
            self._open(self._batches.next_batch())
        assert self._batch is not None
        if not self._last_read < record.offset < self._batch.next_offset:
            raise UnreadableError(f"it has a record of offset {record.offset}, which is not its own")
        self._last_read = record.offset
        return record

    def _open(self, raw: memoryview) -> None:
        """Begin a batch; raises `UnreadableError` where it cannot be read."""
        self._raw, self._batch, self._records = raw, None, iter(())
        if len(raw) < HEADER_SIZE:
            raise UnreadableError(f"it has {len(raw)} bytes, fewer than the header of a batch")
        batch = header(raw)
        # Before format 2 the first field is the offset of the last record.
        self._batch = batch = batch if batch.magic >= MAGIC else batch._replace(last_delta=0, records=1)
        self._last_read = batch.base_offset - 1
        if batch.magic != MAGIC:
            raise UnreadableError(f"it has format {batch.magic}, and only format {MAGIC} is read")
        if batch.size != len(raw):
            raise UnreadableError(f"it states {batch.size} bytes, and {len(raw)} came")
        if self._check_crcs and not intact(raw, batch):
            raise UnreadableError("its checksum (CRC-32C) is not that of its bytes")
        skipped = self._committed_only and batch.producer_id >= 0 and self._is_aborted(batch)
        if not skipped and not batch.attributes & CONTROL:
            self._records = iter(DefaultRecordBatch(bytes(inflated(raw, batch))))

    def _is_aborted(self, batch: Batch) -> bool:
        """Whether a batch is of a transaction that was rolled back; reads the markers of those."""
        while self._aborted and self._aborted[0][1] <= batch.base_offset:
            self._aborting.add(self._aborted.pop(0)[0])
        if batch.attributes & CONTROL:
            marker = next(iter(DefaultRecordBatch(bytes(self._raw))), None)
            if marker is not None and ControlRecord.parse(marker.key) == ABORT_MARKER:
                self._aborting.discard(batch.producer_id)
        return bool(batch.attributes & TRANSACTIONAL) and batch.producer_id in self._aborting

    def _unreadable(self, why: str) -> ConsumerRecord[bytes | None, bytes | None] | None:
        """The record that stands for what is left of the batch; None where all its offsets were read."""
        batch, first = self._batch, self.next_fetch_offset
        self._batch, self._records = None, iter(())
        # A broken header may state any offset: one further is always right.
        trusted = batch is not None and (batch.records <= batch.last_delta + 1 or intact(self._raw, batch))
        last = batch.next_offset - 1 if batch is not None and trusted else first
        if batch is not None and last < first and self._last_read >= batch.base_offset:
            return None
        last = max(first, last)
        self.next_fetch_offset = last + 1
        value = UnreadableBatch.of(bytes(self._raw), why=why, first=first)
        at = 0 if batch is None else max(batch.max_timestamp, 0)
        return self._record(last, at, CREATE_TIME, None, value, ())

    def _record(
        self,
        offset: int,
        timestamp: int,
        timestamp_type: int,
        key: bytes | None,
        value: bytes | None,
        headers: tuple[tuple[str, bytes], ...],
    ) -> ConsumerRecord[bytes | None, bytes | None]:
        sizes = (-1 if key is None else len(key)), (-1 if value is None else len(value))
        return ConsumerRecord(*self._tp, offset, timestamp, timestamp_type, key, value, None, *sizes, headers)
