"""No release breaks a reader or a writer of an earlier one: schemas held against those that were released.

What outsiders write or read (`messages.in`, `context-packs.out`) must be readable in both directions, by every released
version; every other record must be readable by whoever replays an older log.
"""

from typing import Any

import pytest

from schemas.topics import CONTEXT_PACKS, MESSAGES_IN
from streams.registry import published
from tests.unit.schemas.compatibility import unreadable

NOW = {name: schema.content() for name, schema in published.BY_TYPE.items()}
OUTSIDE = {event.TYPE for topic in (MESSAGES_IN, CONTEXT_PACKS) for event in topic.events}
CASES = [
    pytest.param(schema, name, id=f"{version} {name}")
    for version in published.released()
    for name, schema in published.read(version).items()
]


def test_every_released_version_is_whole() -> None:
    assert published.released()[0] == "0.1.0"
    assert all(len(published.read(version)) >= 26 for version in published.released())


@pytest.mark.parametrize(("schema", "name"), CASES)
def test_a_record_of_a_release_is_read_by_this_version(schema: dict[str, Any], name: str) -> None:
    assert name in NOW, f"{name} is gone: its records are still in logs"
    assert unreadable(schema, NOW[name]) == []


@pytest.mark.parametrize(("schema", "name"), [each for each in CASES if each.values[1] in OUTSIDE])
def test_what_outsiders_exchange_is_read_by_a_client_of_a_release(schema: dict[str, Any], name: str) -> None:
    assert unreadable(NOW[name], schema) == []


# --- the comparison itself -----------------------------------------------------------------------------------------

TEXT = {"type": "string"}


def record(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties]}


OPTIONAL = {"type": "object", "properties": {"a": TEXT}}
BREAKS = [
    (OPTIONAL, record(a=TEXT), "$.a is required and may be missing"),
    (record(a=TEXT), record(a={"type": "integer"}), "$.a was string and must be integer"),
    (record(a={"enum": ["x", "y"]}), record(a={"enum": ["x"]}), "$.a may be y, which is not allowed"),
    (record(a=TEXT), record(a={"const": "x"}), "$.a may be anything, which is not allowed"),
    (record(a=TEXT), record(a={"type": "string", "minLength": 1}), "$.a may be below its minLength of 1"),
    (record(a={"anyOf": [TEXT, {"type": "null"}]}), record(a=TEXT), "$.a was null and must be string"),
    (record(a={"type": "array", "items": TEXT}), record(a={"type": "array", "items": {"type": "number"}}), "$.a.*"),
]


@pytest.mark.parametrize(("written", "read", "why"), BREAKS, ids=[why for _, _, why in BREAKS])
def test_a_break_is_found(written: Any, read: Any, why: str) -> None:
    assert any(each.startswith(why) for each in unreadable(written, read))


HARMLESS = [
    (record(a=TEXT, b=TEXT), record(a=TEXT)),
    (record(a=TEXT), OPTIONAL),
    (record(a={"type": "integer"}), record(a={"type": "number"})),
    (record(a=TEXT), record(a={"anyOf": [TEXT, {"type": "null"}]})),
    ({"$defs": {"T": TEXT}, **record(a={"$ref": "#/$defs/T"})}, record(a=TEXT)),
]


@pytest.mark.parametrize(("written", "read"), HARMLESS)
def test_what_hurts_nobody_is_let_through(written: Any, read: Any) -> None:
    assert unreadable(written, read) == []
