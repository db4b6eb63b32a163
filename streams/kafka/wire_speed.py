"""aiokafka's wire format, read and written in runs of numbers instead of number by number.

Every fetch of a consumer lists all of its partitions, in the request and in the answer, most of them empty. aiokafka
encodes each number by two calls; here the neighbouring numbers of a schema are one `struct` of the same bytes.
"""

import struct
from collections.abc import Callable, Sequence
from io import BytesIO
from itertools import groupby
from typing import Any

from aiokafka.protocol import types

CODES = {types.Int8: "b", types.Int16: "h", types.Int32: "i", types.UInt32: "I", types.Int64: "q"}

LENGTH = struct.Struct(">i")

Encode = Callable[[Sequence[Any]], bytes]
Decode = Callable[[BytesIO], tuple[Any, ...]]


def hasten(schema: types.Schema) -> None:
    """Make a schema, and those of its arrays, encode and decode by runs."""
    for field in schema.fields:
        if isinstance(field, types.Array) and isinstance(field.array_of, types.Schema):
            hasten(field.array_of)
    schema.encode, schema.decode = _encoder(schema), _decoder(schema)


def _runs(schema: types.Schema) -> list[tuple[int, int, struct.Struct | None]]:
    """From, to, and the struct of neighbouring numbers; None for a field of another type."""
    found: list[tuple[int, int, struct.Struct | None]] = []
    kinds = [CODES.get(field) if isinstance(field, type) else None for field in schema.fields]
    for is_number, run in groupby(enumerate(kinds), key=lambda one: one[1] is not None):
        places = list(run)
        first, last = places[0][0], places[-1][0] + 1
        if is_number:
            found.append((first, last, struct.Struct(">" + "".join(str(code) for _, code in places))))
        else:
            found += [(place, place + 1, None) for place in range(first, last)]
    return found


def _encoder(schema: types.Schema) -> Encode:
    runs, size, fields = _runs(schema), len(schema.fields), schema.fields

    def encode(item: Sequence[Any]) -> bytes:
        if len(item) != size:
            raise ValueError("Item field count does not match Schema")
        try:
            return b"".join(
                fields[first].encode(item[first]) if numbers is None else numbers.pack(*item[first:last])
                for first, last, numbers in runs
            )
        except struct.error as error:
            raise ValueError(f"{tuple(item)!r} does not fit its format: {error}") from error

    if len(runs) == 1 and runs[0][2] is not None:
        pack = runs[0][2].pack

        def encode_numbers(item: Sequence[Any]) -> bytes:
            try:
                return pack(*item)
            except struct.error as error:
                raise ValueError(f"{tuple(item)!r} does not fit its format: {error}") from error

        return encode_numbers
    return encode


def _decoder(schema: types.Schema) -> Decode:
    steps = [
        (numbers, _field_decoder(schema.fields[first]) if numbers is None else None)
        for first, _, numbers in _runs(schema)
    ]

    def decode(data: BytesIO) -> tuple[Any, ...]:
        values: list[Any] = []
        try:
            for numbers, one in steps:
                if one is not None:
                    values.append(one(data))
                elif numbers is not None:
                    values += numbers.unpack(data.read(numbers.size))
        except struct.error as error:
            raise ValueError(f"the answer ends within a number: {error}") from error
        return tuple(values)

    return decode


def _field_decoder(field: Any) -> Callable[[BytesIO], Any]:
    """The decoder of a field that is no number; those of arrays and bytes read their length themselves."""
    if isinstance(field, types.Array):
        item = field.array_of.decode

        def array(data: BytesIO) -> list[Any] | None:
            (length,) = LENGTH.unpack(data.read(4))
            return None if length == -1 else [item(data) for _ in range(length)]

        return array
    if field is types.Bytes:

        def octets(data: BytesIO) -> bytes | None:
            (length,) = LENGTH.unpack(data.read(4))
            value = data.read(length) if length > 0 else b"" if length == 0 else None
            if value is not None and len(value) != length:
                raise ValueError("Buffer underrun decoding Bytes")
            return value

        return octets
    decode: Callable[[BytesIO], Any] = field.decode
    return decode
