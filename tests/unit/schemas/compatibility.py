"""Whether what was written under one JSON Schema can be read under another; for the schemas that pydantic makes.

Readers ignore fields they do not know, so one more field never hurts. What is compared is what both know.
"""

from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]
LOWER = ("minLength", "minimum", "exclusiveMinimum", "minItems")
UPPER = ("maxLength", "maximum", "exclusiveMaximum", "maxItems")


def unreadable(written: Schema, read: Schema) -> list[str]:
    """Why a value of the schema `written` may not be one of the schema `read`; nothing where each is."""
    return [*dict.fromkeys(_differences(_Side(written), _Side(read), "$"))]


class _Side:
    """A schema with the document that its references are in."""

    def __init__(self, schema: Schema, document: Schema | None = None) -> None:
        self.document = schema if document is None else document
        while "$ref" in schema:
            schema = self.document["$defs"][schema["$ref"].rpartition("/")[2]]
        self.schema = schema

    def at(self, schema: Schema) -> "_Side":
        return _Side(schema, self.document)

    def variants(self) -> list["_Side"]:
        """What a value may be: each of a union's members, or the schema itself."""
        of = self.schema.get("anyOf") or self.schema.get("oneOf")
        return [found for each in of for found in self.at(each).variants()] if of else [self]

    def __getitem__(self, key: str) -> Any:
        return self.schema.get(key)


def _differences(
    written: _Side, read: _Side, path: str, seen: frozenset[tuple[int, int]] = frozenset()
) -> Iterator[str]:
    pair = (id(written.schema), id(read.schema))
    if pair in seen:
        return  # a schema that contains itself
    seen |= {pair}
    allowed = read.variants()
    for variant in written.variants():
        tried = [[*_mismatch(variant, each, path, seen)] for each in allowed]
        if all(tried):
            yield from min(tried, key=len)


def _mismatch(written: _Side, read: _Side, path: str, seen: frozenset[tuple[int, int]]) -> Iterator[str]:
    yield from _types(written, read, path)
    yield from _values(written, read, path)
    yield from _bounds(written, read, path)
    theirs = written["properties"] or {}
    for name in read["required"] or ():
        if name not in (written["required"] or ()):
            yield f"{path}.{name} is required and may be missing"
    for name, schema in (read["properties"] or {}).items():
        if name in theirs:
            yield from _differences(written.at(theirs[name]), read.at(schema), f"{path}.{name}", seen)
    for key in ("items", "additionalProperties"):
        if isinstance(written[key], Mapping) and isinstance(read[key], Mapping):
            yield from _differences(written.at(written[key]), read.at(read[key]), f"{path}.*", seen)


def _types(written: _Side, read: _Side, path: str) -> Iterator[str]:
    mine, theirs = read["type"], written["type"]
    if mine is not None and theirs is not None and mine != theirs and (mine, theirs) != ("number", "integer"):
        yield f"{path} was {theirs} and must be {mine}"


def _values(written: _Side, read: _Side, path: str) -> Iterator[str]:
    allowed = read["enum"] or ([read["const"]] if read["const"] is not None else None)
    given = written["enum"] or ([written["const"]] if written["const"] is not None else None)
    if allowed is not None:
        wrong = ["anything"] if given is None else [str(each) for each in given if each not in allowed]
        if wrong:
            yield f"{path} may be {', '.join(wrong)}, which is not allowed"
    if read["pattern"] is not None and read["pattern"] != written["pattern"]:
        yield f"{path} must match {read['pattern']}"
    if read["format"] is not None and read["format"] != written["format"]:
        yield f"{path} must be a {read['format']}"


def _bounds(written: _Side, read: _Side, path: str) -> Iterator[str]:
    for key in LOWER:
        if read[key] is not None and (written[key] is None or written[key] < read[key]):
            yield f"{path} may be below its {key} of {read[key]}"
    for key in UPPER:
        if read[key] is not None and (written[key] is None or written[key] > read[key]):
            yield f"{path} may be above its {key} of {read[key]}"
