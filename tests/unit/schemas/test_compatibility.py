"""No release breaks a reader or a writer of an earlier one: schemas held against those that were released.

`released/VERSION` are the JSON Schemas as that version had them. What outsiders write or read (`messages.in`,
`context-packs.out`) must be readable in both directions, by every released version; every other record must be readable
by whoever replays an older log.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from schemas.topics import CONTEXT_PACKS, MESSAGES_IN, TOPICS
from tests.checkout import ROOT
from tests.unit.schemas.compatibility import unreadable

RELEASED = sorted((Path(__file__).parent / "released").iterdir())
NOW = {path.name: json.loads(path.read_text()) for path in (ROOT / "schemas" / "json").glob("*.json")}
OUTSIDE = {event.TYPE for topic in (MESSAGES_IN, CONTEXT_PACKS) for event in topic.events}

CASES = [
    pytest.param(folder.name, path, id=f"{folder.name} {path.name}") for folder in RELEASED for path in folder.glob("*")
]


def test_every_released_version_is_whole() -> None:
    assert [folder.name for folder in RELEASED] == ["0.1.0"]
    assert all(len([*folder.iterdir()]) >= 26 for folder in RELEASED)
    assert {event.TYPE for topic in TOPICS for event in topic.events} >= OUTSIDE


@pytest.mark.parametrize(("version", "path"), CASES)
def test_a_record_of_a_release_is_read_by_this_version(version: str, path: Path) -> None:
    assert path.name in NOW, f"{path.name} of {version} is gone: its records are still in logs"
    assert unreadable(json.loads(path.read_text()), NOW[path.name]) == []


@pytest.mark.parametrize(
    ("version", "path"), [c for c in CASES if c.values[1].name.removesuffix(".schema.json") in OUTSIDE]
)
def test_what_outsiders_exchange_is_read_by_a_client_of_a_release(version: str, path: Path) -> None:
    assert unreadable(NOW[path.name], json.loads(path.read_text())) == []


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
