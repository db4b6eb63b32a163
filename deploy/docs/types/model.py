"""The types of the events on the wire, without a language: what the JSON Schemas say, plus names where they have none.

Three things a schema leaves open are decided here: an `Absent` field is never null; a text of a few known values has a
name and may have others in future; a union of models is known by its tag.
"""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from types import ModuleType
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue, models_json_schema
from pydantic_core import core_schema

import schemas
from schemas.base import JsonObject
from schemas.json_schema import Untitled, plain
from schemas.topics import TOPICS

SCALARS = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean"}


@dataclass(frozen=True, slots=True)
class WireType:
    """The type of a value.

    `kind` is text, integer, number, boolean, timestamp, scalar (any of them, or null), json (anything), named, list or
    map; `name` is that of a definition, `of` the type of each element.
    """

    kind: str
    name: str = ""
    of: "WireType | None" = None


@dataclass(frozen=True, slots=True)
class WireField:
    """A field of a record; `tag` is its only value where it has but one. `required`: it is never absent."""

    name: str
    type: WireType
    description: str
    required: bool
    nullable: bool
    tag: str | None


@dataclass(frozen=True, slots=True)
class WireRecord:
    """An object; `event` is its `ce_type` where it is a whole message."""

    name: str
    description: str
    fields: tuple[WireField, ...]
    event: str | None


@dataclass(frozen=True, slots=True)
class WireEnum:
    """A text, with the values that are known today."""

    name: str
    description: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WireUnion:
    """One of some records, told apart by the text in the field `tag`."""

    name: str
    tag: str
    members: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class WireTypes:
    """All definitions, each by name."""

    records: tuple[WireRecord, ...]
    enums: tuple[WireEnum, ...]
    unions: tuple[WireUnion, ...]


class _Written(Untitled):
    """Schemas of what is written: a field that is left out where it is None is never null."""

    def model_field_schema(self, schema: core_schema.ModelField) -> JsonSchemaValue:
        made = super().model_field_schema(schema)
        if "serialization_exclude_if" not in schema:
            return made
        kept = [one for one in made.pop("anyOf", []) if one != {"type": "null"}]
        made.pop("default", None)
        # A `const` on the field itself would mark the tag of a union, which is always there.
        alone = len(kept) == 1 and "const" not in kept[0]
        return {**made, **(kept[0] if alone else {"anyOf": kept} if kept else {})}


def wire_types() -> WireTypes:
    """The types of every event of every topic, and of all that they hold."""
    events = {event.__name__: event for topic in TOPICS for event in topic.events}
    _, made = models_json_schema([(event, "serialization") for event in events.values()], schema_generator=_Written)
    return _Reading(plain(made, closed=False)["$defs"], {name: event.TYPE for name, event in events.items()}).types()


class _Reading:
    """Reads the definitions of a schema; enums and unions that have no name there are found on the way."""

    def __init__(self, definitions: JsonObject, events: Mapping[str, str]) -> None:
        self._definitions = definitions
        self._events = events
        self._literals, self._unions = _named_literals(), _named_unions()
        self._enums: dict[str, WireEnum] = {}
        self._found: dict[str, WireUnion] = {}

    def types(self) -> WireTypes:
        for name, node in self._definitions.items():
            if "enum" in node:
                self._enums[name] = WireEnum(name, node.get("description", ""), tuple(node["enum"]))
        records = [self._record(name, node) for name, node in self._definitions.items() if "properties" in node]
        return WireTypes(
            tuple(sorted(records, key=lambda one: (one.event is None, one.name))),
            tuple(self._enums[name] for name in sorted(self._enums)),
            tuple(self._found[name] for name in sorted(self._found)),
        )

    def _record(self, name: str, node: JsonObject) -> WireRecord:
        required = set(node.get("required", ()))
        fields = tuple(self._field(name, field, part, field in required) for field, part in node["properties"].items())
        return WireRecord(name, node.get("description", ""), fields, self._events.get(name))

    def _field(self, owner: str, name: str, node: JsonObject, required: bool) -> WireField:
        parts = node.get("anyOf", [node])
        kept = [one for one in parts if one != {"type": "null"}]
        what = self._type(owner + pascal(name), kept[0] if len(kept) == 1 else {"anyOf": parts})
        nullable = len(kept) < len(parts) and what.kind not in ("json", "scalar")
        return WireField(name, what, _said(node), required, nullable, node.get("const"))

    def _type(self, place: str, node: JsonObject) -> WireType:
        if "$ref" in node:
            return WireType("named", node["$ref"].rpartition("/")[2])
        if "oneOf" in node:
            return WireType("named", self._union(node["oneOf"]))
        if "enum" in node:
            return WireType("named", self._enum(place, tuple(node["enum"])))
        if "anyOf" in node:
            scalar = all(one.get("type") in (*SCALARS, "null") for one in node["anyOf"])
            return WireType("scalar" if scalar else "json")
        if node.get("type") == "array":
            return WireType("list", of=self._type(place, node["items"]))
        if node.get("type") == "object":
            each = node.get("additionalProperties")
            return WireType("map", of=self._type(place, each) if isinstance(each, dict) else WireType("json"))
        if node.get("format") == "date-time":
            return WireType("timestamp")
        return WireType(SCALARS.get(node.get("type", ""), "json"))

    def _enum(self, place: str, values: tuple[str, ...]) -> str:
        name = self._literals.get(values, place)
        self._enums[name] = WireEnum(name, "", values)
        return name

    def _union(self, parts: list[JsonObject]) -> str:
        members = [part["$ref"].rpartition("/")[2] for part in parts]
        name, tag = self._unions[frozenset(members)]
        by_tag = {self._definitions[one]["properties"][tag]["const"]: one for one in members}
        self._found[name] = WireUnion(name, tag, by_tag)
        return name


def _said(node: JsonObject) -> str:
    """What is told of a field: its description, and a default that is not the empty value of its type."""
    default = None if "const" in node else node.get("default")
    return " ".join(filter(None, (node.get("description", ""), f"Absent means {default}." if default else "")))


def _modules() -> Iterator[ModuleType]:
    for found in sorted(pkgutil.iter_modules(schemas.__path__), key=lambda one: one.name):
        yield importlib.import_module(f"{schemas.__name__}.{found.name}")


def _named_literals() -> dict[tuple[str, ...], str]:
    """The names of module-level `Literal`s, by their values."""
    named = chain.from_iterable(vars(module).items() for module in _modules())
    return {get_args(value): name for name, value in named if get_origin(value) is Literal}


def _named_unions() -> dict[frozenset[str], tuple[str, str]]:
    """The name and the tag of module-level unions of models, by the names of these."""
    found: dict[frozenset[str], tuple[str, str]] = {}
    for name, value in chain.from_iterable(vars(module).items() for module in _modules()):
        tag = _tag(value)
        if tag is not None:
            found[frozenset(member.__name__ for member in get_args(get_args(value)[0]))] = (name, tag)
    return found


def _tag(value: Any) -> str | None:
    if get_origin(value) is not Annotated:
        return None
    tags = (one.discriminator for one in get_args(value)[1:] if isinstance(one, FieldInfo))
    return next((tag for tag in tags if isinstance(tag, str)), None)


def pascal(name: str) -> str:
    """`message_id` as `MessageId`."""
    return "".join(part[:1].upper() + part[1:] for part in name.replace("-", "_").replace(" ", "_").split("_"))
