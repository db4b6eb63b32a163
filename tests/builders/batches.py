"""Record batches as bytes, right and wrong."""

import struct
from collections.abc import Sequence
from typing import Any

from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.util import calc_crc32c

from streams.kafka.record_batches import HEADER, HEADER_SIZE, header


def batch(values: Sequence[bytes | None], base: int = 0, **fields: Any) -> bytes:
    """A batch of these values from an offset on; `fields` of its header are put in, and the checksum made anew."""
    builder = DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, 1 << 20)
    for number, value in enumerate(values):
        builder.append(number, 1_000 + number, fields.get("key", b"key"), value, fields.get("headers", []))
    rest = {name: value for name, value in fields.items() if name not in ("headers", "key")}
    return changed(bytes(builder.build()), base_offset=base, **rest)


def changed(raw: bytes, *, crc: int | None = None, records: bytes | None = None, **fields: int) -> bytes:
    """A batch with other header fields or other bytes of records, and the right checksum unless one is given."""
    raw = raw if records is None else raw[:HEADER_SIZE] + records
    made = bytearray(raw)
    put = header(raw)._replace(**{"length": len(raw) - 12, **fields})  # type: ignore[arg-type]
    HEADER.pack_into(made, 0, *put)
    struct.pack_into(">I", made, 17, calc_crc32c(bytes(made[21:])) if crc is None else crc)
    return bytes(made)
