"""What changed between two versions of a JSON Schema, and whom it breaks, as schema registries mean it.

*Backward*: a new reader refuses what was written before. *Forward*: an old reader refuses what is written now. Keywords
that say nothing of a value's validity are left out, and so is `default`, which readers of ours fill in themselves.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Flag
from typing import Any

Schema = Mapping[str, Any]
# A bound that grows narrows what is valid, and the other way round.
LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
# Of two of these nobody can tell which is wider.
EXACT = ("pattern", "format", "multipleOf")
PARTS = ("items", "propertyNames", "contains")
CHOICES = ("anyOf", "oneOf")


class Breaks(Flag):
    """Which readers a change breaks."""

    NOBODY = 0
    BACKWARD = 1
    FORWARD = 2
    BOTH = 3


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One difference: `path` is of the value, with dots, `[]` for the items of a list, `*` for any field."""

    path: str
    what: str
    breaks: Breaks


def changes(old: Schema, new: Schema) -> list[SchemaChange]:
    """All differences that a reader or a writer may notice, in the order of the new schema's fields."""
    return list(dict.fromkeys(_Comparison(old, new).of(old, new, "", frozenset())))


class _Comparison:
    """Two documents, in which `$ref` points at definitions."""

    def __init__(self, old: Schema, new: Schema) -> None:
        self._old = old
        self._new = new

    def of(self, old: Schema, new: Schema, path: str, above: frozenset[tuple[str, str]]) -> Iterator[SchemaChange]:
        """The differences at a path and below; `above` are the references it lies in, for some contain themselves."""
        met = (str(old.get("$ref")), str(new.get("$ref")))
        if "$ref" in old and "$ref" in new:
            if met in above:
                return
            above |= {met}
        old, new = _resolved(old, self._old), _resolved(new, self._new)
        if any(name in each for name in CHOICES for each in (old, new)):
            yield from self._choices(old, new, path, above)
            return
        yield from _types(old, new, path)
        yield from _values(old, new, path)
        yield from _bounds(old, new, path)
        yield from self._fields(old, new, path, above)
        for name in PARTS:
            if name in old and name in new:
                yield from self.of(old[name], new[name], path + ("[]" if name == "items" else ""), above)
            elif name in old or name in new:
                yield SchemaChange(path, f"{name} {'added' if name in new else 'removed'}", _narrower(name in new))

    def _fields(self, old: Schema, new: Schema, path: str, above: frozenset[tuple[str, str]]) -> Iterator[SchemaChange]:
        was, now = old.get("properties", {}), new.get("properties", {})
        needed, needs = set(old.get("required", ())), set(new.get("required", ()))
        for name in dict.fromkeys((*now, *was)):
            place = f"{path}.{name}" if path else name
            if name not in was:
                # An old writer leaves it out; an old reader refuses it if it is closed.
                breaks = (Breaks.BACKWARD if name in needs else Breaks.NOBODY) | _if(_closed(old), Breaks.FORWARD)
                yield SchemaChange(place, f"{'required' if name in needs else 'optional'} field added", breaks)
            elif name not in now:
                breaks = _if(name in needed, Breaks.FORWARD) | _if(_closed(new), Breaks.BACKWARD)
                yield SchemaChange(place, "field removed", breaks)
            else:
                if (name in needed) != (name in needs):
                    yield SchemaChange(place, "made " + ("required" if name in needs else "optional"),
                                       _narrower(name in needs))  # fmt: skip
                yield from self.of(was[name], now[name], place, above)
        yield from self._others(
            old.get("additionalProperties", True), new.get("additionalProperties", True), path, above
        )

    def _others(self, old: Any, new: Any, path: str, above: frozenset[tuple[str, str]]) -> Iterator[SchemaChange]:
        """Fields without a name of their own: allowed, not allowed, or of a schema."""
        place = f"{path}.*" if path else "*"
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from self.of(old, new, place, above)
        elif old != new:
            # Closed is narrower than a schema, a schema narrower than open.
            yield SchemaChange(
                place, f"other fields: {_said(old)} -> {_said(new)}", _narrower(_width(new) < _width(old))
            )

    def _choices(
        self, old: Schema, new: Schema, path: str, above: frozenset[tuple[str, str]]
    ) -> Iterator[SchemaChange]:
        was, now = (dict(self._named(each, whole)) for each, whole in ((old, self._old), (new, self._new)))
        for name in dict.fromkeys((*now, *was)):
            if name in was and name in now:
                yield from self.of(was[name], now[name], path, above)
            else:
                yield SchemaChange(path, f"{name} {'added' if name in now else 'removed'}", _narrower(name in was))

    def _named(self, schema: Schema, whole: Schema) -> Iterable[tuple[str, Schema]]:
        """The kinds of value that a schema allows, by what tells them apart: their tag, or their type."""
        branches = next((schema[name] for name in CHOICES if name in schema), (schema,))
        for number, branch in enumerate(branches):
            found = _resolved(branch, whole)
            tags = [
                f"{field} {each['const']!r}" for field, each in found.get("properties", {}).items() if "const" in each
            ]
            kind = found.get("type", f"choice {number + 1}")
            yield (tags[0] if tags else str(kind)), branch


def _resolved(schema: Schema, whole: Schema) -> Schema:
    while "$ref" in schema:
        found: Any = whole
        for step in schema["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        schema = found
    return schema


def _types(old: Schema, new: Schema, path: str) -> Iterator[SchemaChange]:
    was, now = _type_set(old), _type_set(new)
    if was != now:
        breaks = _if(not was <= now, Breaks.BACKWARD) | _if(not now <= was, Breaks.FORWARD)
        yield SchemaChange(path, f"type {old.get('type', 'any')} -> {new.get('type', 'any')}", breaks)


def _type_set(schema: Schema) -> frozenset[str]:
    every = ("string", "number", "integer", "boolean", "null", "array", "object")
    named = schema.get("type", every if "const" not in schema and "enum" not in schema else ())
    found = {named} if isinstance(named, str) else set(named)
    return frozenset(found | ({"integer"} if "number" in found else set()))


def _values(old: Schema, new: Schema, path: str) -> Iterator[SchemaChange]:
    was, now = _allowed(old), _allowed(new)
    if was is None and now is None:
        return
    if was is None or now is None:
        yield SchemaChange(path, f"values {_said(was)} -> {_said(now)}", _narrower(now is not None))
        return
    for value in now - was:
        yield SchemaChange(path, f"value {value} added", Breaks.FORWARD)
    for value in was - now:
        yield SchemaChange(path, f"value {value} removed", Breaks.BACKWARD)


def _allowed(schema: Schema) -> frozenset[str] | None:
    if "const" in schema:
        return frozenset({repr(schema["const"])})
    return frozenset(map(repr, schema["enum"])) if "enum" in schema else None


def _bounds(old: Schema, new: Schema, path: str) -> Iterator[SchemaChange]:
    for name in (*LOWER, *UPPER, *EXACT):
        was, now = old.get(name), new.get(name)
        if was == now:
            continue
        if was is None or now is None:
            breaks = _narrower(now is not None)
        else:
            breaks = Breaks.BOTH if name in EXACT else _narrower((now > was) == (name in LOWER))
        yield SchemaChange(path, f"{name} {_said(was)} -> {_said(now)}", breaks)


def _closed(schema: Schema) -> bool:
    return schema.get("additionalProperties") is False


def _width(others: Any) -> int:
    return 1 if isinstance(others, Mapping) else 2 * bool(others)


def _narrower(is_narrower: bool) -> Breaks:
    return Breaks.BACKWARD if is_narrower else Breaks.FORWARD


def _if(holds: bool, breaks: Breaks) -> Breaks:
    return breaks if holds else Breaks.NOBODY


def _said(value: object) -> str:
    if value is None:
        return "any"
    if isinstance(value, frozenset):
        return ", ".join(sorted(value))
    if isinstance(value, bool):
        return "allowed" if value else "refused"
    return "of a schema" if isinstance(value, Mapping) else str(value)
