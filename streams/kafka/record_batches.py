"""The format of record batches (format 2): their header, their checksum, and what is compressed in them, inflated."""

import mmap
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

import cramjam
from aiokafka.record.util import calc_crc32c

HEADER = struct.Struct(">qiibIhiqqqhii")
HEADER_SIZE = HEADER.size
OVERHEAD = 12  # base offset and length, which are not included in the length itself
CRC_FROM = 21
MAGIC = 2
TRANSACTIONAL, CONTROL, CODEC_MASK = 0x10, 0x20, 0x07
ATTRIBUTES = slice(21, 23)
# Producers fill a batch up to what the broker takes of it compressed: text of 4 MB is some forty in plain.
MAX_INFLATED_BYTES = 64 << 20
CODECS = {1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}
GZIP = zlib.MAX_WBITS | 16
# Java's snappy library cuts the records into blocks, each with its length before it.
XERIAL, XERIAL_HEADER_BYTES = b"\x82SNAPPY\x00", 16


Inflate = Callable[[bytes, int], bytes | None]


class Batch(NamedTuple):
    """The header of a batch, as it is on the wire."""

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
        """The bytes of the whole batch."""
        return self.length + OVERHEAD

    @property
    def next_offset(self) -> int:
        """The offset after its last record."""
        return self.base_offset + self.last_delta + 1


class UnreadableError(ValueError):
    """A batch whose records cannot be read; the text says why."""


def header(buffer: bytes | memoryview, at: int = 0) -> Batch:
    """The header at this position; `struct.error` where the buffer ends before it does."""
    return Batch._make(HEADER.unpack_from(buffer, at))


def intact(buffer: bytes | memoryview, batch: Batch, at: int = 0) -> bool:
    """Whether a batch has the checksum that its header states."""
    crc: int = calc_crc32c(buffer[at + CRC_FROM : at + batch.size])
    return crc == batch.crc


def inflated(raw: bytes | memoryview, batch: Batch, limit: int = MAX_INFLATED_BYTES) -> bytes | memoryview:
    """The batch with its records in plain; raises `UnreadableError`, also where they are more than `limit` bytes.

    Its checksum stays that of the compressed records.
    """
    if not (codec := batch.attributes & CODEC_MASK):
        return raw
    if codec not in CODECS:
        raise UnreadableError(f"it is compressed by codec {codec}, which Kafka does not define")
    try:
        records = INFLATE[codec](bytes(raw[HEADER_SIZE:]), limit)
    except UnreadableError:
        raise
    except Exception as error:  # of three libraries, and whatever hostile bytes make of them
        raise UnreadableError(f"its records are not the {CODECS[codec]} that its header states: {error}") from error
    if records is None:
        raise UnreadableError(f"its records are {CODECS[codec]} of more than {limit:,} bytes")
    plain = bytearray(raw[:HEADER_SIZE])
    plain[ATTRIBUTES] = (batch.attributes & ~CODEC_MASK).to_bytes(2, "big", signed=True)
    return bytes(plain) + records


def _gunzip(data: bytes, limit: int) -> bytes | None:
    found = b""
    while data:
        member = zlib.decompressobj(GZIP)
        found += member.decompress(data, limit + 1 - len(found))
        if len(found) > limit:
            return None
        if not member.eof:
            raise ValueError("it ends too soon")
        data = member.unused_data
    return found


def _unsnappy(data: bytes, limit: int) -> bytes | None:
    found: list[bytes] = []
    for block in _snappy_blocks(data):
        limit -= cramjam.snappy.decompress_raw_len(block)
        if limit < 0:
            return None
        found.append(bytes(cramjam.snappy.decompress_raw(block)))
    return b"".join(found)


def _snappy_blocks(data: bytes) -> Iterator[bytes]:
    if not data.startswith(XERIAL):
        yield data
        return
    at = XERIAL_HEADER_BYTES
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big", signed=True)
        if not 0 < size <= len(data) - at - 4:
            raise ValueError(f"a block of {size} bytes, and {len(data) - at - 4} are there")
        yield data[at + 4 : at + 4 + size]
        at += 4 + size


def _framed(library: object) -> Inflate:
    def inflate(data: bytes, limit: int) -> bytes | None:
        # Its pages exist once they are written to: the limit costs nothing where little comes.
        with mmap.mmap(-1, limit) as room:
            try:
                size = library.decompress_into(data, room)  # type: ignore[attr-defined]
            except cramjam.DecompressionError as error:
                if "whole buffer" in str(error):
                    return None
                raise
            return room[:size]

    return inflate


INFLATE = {1: _gunzip, 2: _unsnappy, 3: _framed(cramjam.lz4), 4: _framed(cramjam.zstd)}
