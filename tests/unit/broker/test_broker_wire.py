"""The broker's layouts against aiokafka's, which were written by other people: same bytes, same values."""

import random
from typing import Any

import pytest
from aiokafka.protocol import admin, commit, coordination, fetch, group, metadata, offset, produce, transaction, types

from streams.broker.apis import APIS, codec
from streams.broker.wire import Field, Layout, WireError, parse

MODULES = (admin, commit, coordination, fetch, group, metadata, offset, produce, transaction)
OTHER_NAME = {"ListOffsets": "Offset", "ApiVersions": "ApiVersion"}
ROUNDS = 20


def _cases() -> list[Any]:
    found = []
    for api in APIS:
        for version in range(api.first, api.last + 1):
            for kind in ("Request", "Response"):
                name = f"{OTHER_NAME.get(api.name, api.name)}{kind}_v{version}"
                for module in MODULES:
                    if hasattr(module, name):
                        schema = getattr(module, name).SCHEMA
                        found.append(pytest.param(api, version, kind, schema, id=name))
    return found


def _made_up(kind: Any, rng: random.Random) -> Any:
    if isinstance(kind, types.Schema):
        return tuple(_made_up(f, rng) for f in kind.fields)
    if isinstance(kind, types.Array):
        return [_made_up(kind.array_of, rng) for _ in range(rng.randrange(3))]
    if isinstance(kind, types.String):
        return rng.choice(["", "a", "ação", "x" * 300])
    if kind is types.Bytes:
        return rng.choice([None, b"", rng.randbytes(40)])
    if kind is types.Boolean:
        return rng.random() < 0.5
    bits = {types.Int8: 8, types.Int16: 16, types.Int32: 32, types.Int64: 64}[kind]
    return rng.randrange(-(1 << bits - 1), 1 << bits - 1)


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


def _carried(fields: tuple[Field, ...], message: Any, version: int) -> list[Any]:
    """The values of a message, without the fields its version lacks."""
    leaves: list[Any] = []
    for field, value in zip(fields, message, strict=True):
        if not field.first <= version <= field.last:
            continue
        if field.kind == "[":
            for item in value:
                leaves += _carried(field.children, item, version)
        else:
            leaves += _leaves(value)
    return leaves


@pytest.mark.parametrize(("api", "version", "kind", "schema"), _cases())
def test_each_layout_reads_and_writes_what_aiokafka_does(api: Any, version: int, kind: str, schema: Any) -> None:
    fields = parse(api.request if kind == "Request" else api.response)
    ours = Layout(fields, version)
    rng = random.Random(f"{api.name}{version}{kind}")
    for _ in range(ROUNDS):
        value = _made_up(schema, rng)
        raw = schema.encode(value)
        message, end = ours.read(raw, 0)
        assert end == len(raw)
        assert _carried(fields, message, version) == _leaves(value)
        assert ours.encode(message) == raw


def test_most_layouts_are_compared() -> None:
    assert len(_cases()) > 100


def test_a_request_is_read_with_its_header() -> None:
    found = codec(12, 1)
    assert found is not None
    request = found[1].decode(b"\0\x0c\0\x01\0\0\0\x09\0\x02me" + b"\0\x01g\0\0\0\x05\0\x01m")
    assert (request.correlation, request.client_id) == (9, "me")
    assert (request.group, request.generation, request.member, request.instance) == ("g", 5, "m", None)


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"\0\0", id="cut"),
        pytest.param(b"\0\x05abc", id="string-too-long"),
        pytest.param(b"\xff\xff\0\0\0\0", id="null-name"),
        pytest.param(b"\0\x02\xc3\x28\0\0\0\0", id="not-utf8"),
        pytest.param(b"\0\x01a\x7f\xff\xff\xff", id="forged-count"),
    ],
)
def test_bytes_that_are_not_the_message_are_a_wire_error(raw: bytes) -> None:
    with pytest.raises(WireError):
        Layout(parse("name:s items[ index:i ]"), 0).decode(raw)
