"""Whom a change of a schema breaks: each verdict is proved by a value that one version takes and the other refuses."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from streams.registry import published
from streams.registry.compatibility import Breaks, changes
from streams.registry.published import BY_TYPE, PUBLISHED

OPEN: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
CLOSED = {**OPEN, "additionalProperties": False}
LIST = {"type": "array", "items": {"type": "integer"}}


def of(name: str, schema: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {name: schema}, **more}


def tagged(*kinds: str) -> dict[str, Any]:
    definitions = {
        kind: {"type": "object", "properties": {"kind": {"const": kind}}, "required": ["kind"]} for kind in kinds
    }
    return {"$defs": definitions, "oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in kinds]}


NARROWED = [
    ("a type is gone", {"type": ["string", "null"]}, {"type": "string"}, None, ""),
    ("a number may be whole only", {"type": "number"}, {"type": "integer"}, 0.5, ""),
    ("a branch is gone", {"anyOf": [{"type": "string"}, {"type": "null"}]}, {"anyOf": [{"type": "string"}]}, None, ""),
    ("a tagged branch is gone", tagged("x", "y"), tagged("x"), {"kind": "y"}, ""),
    ("a value is gone", {"enum": ["x", "y"]}, {"enum": ["x"]}, "y", ""),
    ("values are named", {"type": "string"}, {"type": "string", "enum": ["x"]}, "y", ""),
    ("a value is fixed", {"enum": ["x", "y"]}, {"const": "x"}, "y", ""),
    ("a lower bound grows", {"type": "string"}, {"type": "string", "minLength": 1}, "", ""),
    ("an upper bound shrinks", {"maximum": 9}, {"maximum": 3}, 5, ""),
    ("a list is bounded", LIST, {**LIST, "maxItems": 1}, [1, 2], ""),
    ("items are narrower", LIST, {**LIST, "items": {"type": "integer", "minimum": 0}}, [-1], "[]"),
    ("a field is required", OPEN, {**OPEN, "required": ["a"]}, {}, "a"),
    ("a required field is new", of("a", {}), {**of("b", {}), "required": ["b"]}, {}, "b"),
    ("a field is gone and others are refused", CLOSED, {**CLOSED, "properties": {}}, {"a": "x"}, "a"),
    ("other fields are refused", OPEN, CLOSED, {"b": 1}, "*"),
    ("other fields have a schema", {"type": "object"}, {"additionalProperties": {"type": "string"}}, {"b": 1}, "*"),
    ("a field below is narrower", of("a", OPEN), of("a", CLOSED), {"a": {"b": 1}}, "a.*"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "value", "path"), [row[1:] for row in NARROWED], ids=[row[0] for row in NARROWED]
)
def test_what_is_narrower_breaks_new_readers_and_what_is_wider_old_ones(
    old: Any, new: Any, value: Any, path: str
) -> None:
    assert Draft202012Validator(old).is_valid(value)
    assert not Draft202012Validator(new).is_valid(value)
    assert [each.path for each in changes(old, new) if each.breaks & Breaks.BACKWARD] == [path]
    assert [each.path for each in changes(new, old) if each.breaks & Breaks.FORWARD] == [path]


def test_what_no_reader_notices_breaks_nobody():
    described = of("a", {"type": "string", "description": "x", "default": "y"})
    assert changes(OPEN, described) == []
    [added] = changes(OPEN, {**OPEN, "properties": {**OPEN["properties"], "b": {"type": "integer"}}})
    assert (added.path, added.breaks) == ("b", Breaks.NOBODY)


def test_an_old_closed_reader_refuses_a_new_field():
    [added] = changes(CLOSED, {**CLOSED, "properties": {**CLOSED["properties"], "b": {}}})
    assert (added.path, added.breaks) == ("b", Breaks.FORWARD)


def test_of_two_patterns_nobody_knows_the_wider():
    assert [each.breaks for each in changes({"pattern": "a"}, {"pattern": "b"})] == [Breaks.BOTH]


def test_a_schema_that_contains_itself_is_compared_to_its_end():
    def tree(leaf: str) -> dict[str, Any]:
        node = {"type": "object", "properties": {"leaf": {"type": leaf}, "next": {"$ref": "#/$defs/Node"}}}
        return {"$defs": {"Node": node}, "$ref": "#/$defs/Node"}

    assert [each.path for each in changes(tree("string"), tree("integer"))] == ["leaf"]


@pytest.mark.parametrize("version", published.released())
def test_nothing_since_a_release_breaks_the_rule_of_its_topic(version: str) -> None:
    before = published.read(version)
    assert before.keys() <= BY_TYPE.keys()
    broken = [
        (name, each)
        for name, found in published.since(before).items()
        for each in found
        if BY_TYPE[name].breaking(each)
    ]
    assert broken == []


@pytest.mark.parametrize("schema", PUBLISHED, ids=lambda each: each.name)
def test_every_event_loses_its_first_field_only_with_a_sentence(schema: published.PublishedSchema) -> None:
    now = schema.content()
    field = next(iter(now["properties"]))
    needed = [name for name in now.get("required", []) if name != field]
    without = {**now, "required": needed, "properties": {k: v for k, v in now["properties"].items() if k != field}}
    assert [(each.path, each.what) for each in changes(now, without)] == [(field, "field removed")]
    assert changes(now, now) == []
