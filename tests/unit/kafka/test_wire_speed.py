"""The same bytes and values as aiokafka's own coding, for every version of a fetch, and its errors."""

from io import BytesIO
from typing import Any

import pytest
from aiokafka.protocol.fetch import FetchRequest
from aiokafka.protocol.types import Array, Bytes, Int8, Int16, Int32, Int64, Schema, String

from streams.kafka.wire_speed import hasten

NUMBERS = {Int8: (-(2**7), 2**7 - 1), Int16: (0, 2**15 - 1), Int32: (-1, 2**31 - 1), Int64: (-(2**63), 2**63 - 1)}
SCHEMAS = {
    f"{part} v{each.API_VERSION}": schema
    for each in FetchRequest._CLASSES
    for part, schema in (("request", each.SCHEMA), ("answer", each.RESPONSE_TYPE.SCHEMA))
}


def fresh(field: Any) -> Any:
    """A copy that codes as aiokafka does: those of the process may be hastened already."""
    if isinstance(field, Schema):
        return Schema(*zip(field.names, map(fresh, field.fields), strict=True))
    if isinstance(field, Array):
        copy = Array(Int8)
        copy.array_of = fresh(field.array_of)
        return copy
    return field


def values(field: Any, turn: int) -> Any:
    """A value of a field; the turns differ in lengths, in limits and in what is null."""
    if isinstance(field, Schema):
        return tuple(values(each, turn + place) for place, each in enumerate(field.fields))
    if isinstance(field, Array):
        return None if turn % 5 == 4 else [values(field.array_of, turn + n) for n in range(turn % 3)]
    if isinstance(field, String):
        return (None, "", "tópico")[turn % 3]
    if field is Bytes:
        return (None, b"", b"records")[turn % 3]
    return NUMBERS[field][turn % 2]


@pytest.mark.parametrize("name", SCHEMAS)
def test_bytes_and_values_are_those_of_the_client_itself(name: str) -> None:
    stock, quick = fresh(SCHEMAS[name]), fresh(SCHEMAS[name])
    hasten(quick)
    for turn in range(30):
        value = values(stock, turn)
        raw = stock.encode(value)
        assert quick.encode(value) == raw
        assert quick.decode(BytesIO(raw)) == stock.decode(BytesIO(raw)) == value


def test_what_is_cut_off_or_does_not_fit_is_an_error_of_the_same_kind() -> None:
    schema = fresh(Schema(("a", Int32), ("b", Bytes), ("c", Array(("d", Int16), ("e", Int16)))))
    hasten(schema)
    whole = schema.encode((1, b"four", [(1, 2)]))
    for end in range(len(whole)):
        with pytest.raises(ValueError, match=r"ends within a number|underrun"):
            schema.decode(BytesIO(whole[:end]))
    for wrong in ((2**31, None, None), (1, None, [(2**15, 0)]), (1, None)):
        with pytest.raises(ValueError, match=r"fit|match"):
            schema.encode(wrong)
