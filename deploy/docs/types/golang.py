"""The types as Go: one struct for each record; an absent field is a nil, an unknown one is in `Extra`."""

import re
import textwrap

from deploy.docs.types.model import WireEnum, WireField, WireRecord, WireType, WireTypes, WireUnion, pascal

PATH = "clients/go/types.go"
WIDTH = 116
HEAD = """\
// Code generated from the schemas by `make docs`. DO NOT EDIT.

package fathom

import "encoding/json"
"""
KINDS = {
    "text": "string",
    "integer": "int64",
    "number": "float64",
    "boolean": "bool",
    "timestamp": "Timestamp",
    "scalar": "json.RawMessage",
    "json": "json.RawMessage",
}
INITIALISMS = {"Id": "ID", "Ids": "IDs", "Uid": "UID", "Uri": "URI", "Llm": "LLM"}


def rendered(types: WireTypes) -> str:
    """The text of the file, as gofmt has it."""
    parts = [HEAD, *map(_enum, types.enums), *map(_union, types.unions), *map(_struct, types.records)]
    rows = _columns([[f'"{one.event}":', f"func() any {{ return new({one.name}) }},"]
                     for one in types.records if one.event])  # fmt: skip
    parts.append(
        "// Events makes an empty value of every event, by its `ce_type`.\n"
        f"var Events = map[string]func() any{{\n{rows}}}\n"
    )
    return "\n".join(parts)


def _enum(enum: WireEnum) -> str:
    said = enum.description or "one of the values below, or one that a newer Fathom knows."
    rows = _columns([[f"{enum.name}{_name(value)}", enum.name, f'= "{value}"'] for value in enum.values])
    return f"{_comment(enum.name + ': ' + said)}type {enum.name} string\n\nconst (\n{rows})\n"


def _union(union: WireUnion) -> str:
    made = _columns([[f'"{tag}":', f"func() any {{ return new({name}) }},"] for tag, name in union.members.items()])
    members = ", ".join(f"*{name}" for name in union.members.values())
    held = f"{union.name} holds one of {members}, or, of a kind that a newer Fathom knows, a json.RawMessage."
    kinds = f"{union.name[0].lower()}{union.name[1:]}Kinds"
    return (
        f"{_comment(held)}type {union.name} struct{{ Value any }}\n\n"
        f"var {kinds} = map[string]func() any{{\n{made}}}\n\n"
        f"func (v *{union.name}) UnmarshalJSON(data []byte) (err error) {{\n"
        f'\tv.Value, err = readUnion(data, "{union.tag}", {kinds})\n\treturn err\n}}\n\n'
        f"func (v {union.name}) MarshalJSON() ([]byte, error) {{ return json.Marshal(v.Value) }}\n"
    )


def _struct(record: WireRecord) -> str:
    name = record.name
    about = f"{name}: {record.description}" if record.description else ""
    said = "\n\n".join(filter(None, (about, f"Its ce_type is {record.event}." if record.event else "")))
    fields = _fields(record.fields)
    return (
        f"{_comment(said)}type {name} struct {{\n{fields}}}\n\n"
        f"func (v *{name}) UnmarshalJSON(data []byte) error {{\n\ttype plain {name}\n"
        f"\treturn read(data, (*plain)(v), &v.Extra)\n}}\n\n"
        f"func (v {name}) MarshalJSON() ([]byte, error) {{\n\ttype plain {name}\n"
        f"\treturn write(plain(v), v.Extra)\n}}\n"
    )


def _fields(fields: tuple[WireField, ...]) -> str:
    """Rows in columns, which gofmt begins anew below a comment."""
    text, rows = "", list[list[str]]()
    for field in fields:
        if field.description:
            text, rows = text + _columns(rows), []
            text += textwrap.indent(_comment(field.description), "\t")
        rows.append([_name(field.name), *_typed(field)])
    rows.append(["Extra", "map[string]json.RawMessage", '`json:"-"`'])
    return text + _columns(rows)


def _typed(field: WireField) -> list[str]:
    of = _type(field.type)
    empties = field.type.kind in ("list", "map", "json", "scalar")
    if field.required:
        return [f"*{of}" if field.nullable and not empties else of, f'`json:"{field.name}"`']
    if field.nullable:
        return [f"Nullable[{of}]", f'`json:"{field.name},omitzero"`']
    return [of if empties else f"*{of}", f'`json:"{field.name},omitzero"`']


def _type(of: WireType) -> str:
    if of.of is None:
        return of.name or KINDS[of.kind]
    return f"map[string]{_type(of.of)}" if of.kind == "map" else f"[]{_type(of.of)}"


def _name(name: str) -> str:
    parts = re.findall(r"[A-Z][a-z0-9]*|[0-9]+", pascal(name)) or [pascal(name)]
    return "".join(INITIALISMS.get(part, part) for part in parts)


def _columns(rows: list[list[str]]) -> str:
    """Rows below each other, aligned as gofmt aligns them."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = (" ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "".join(f"\t{line.rstrip()}\n" for line in padded)


def _comment(said: str) -> str:
    lines = [line for part in said.split("\n") for line in textwrap.wrap(part, WIDTH) or [""]]
    return "".join(f"// {line}".rstrip() + "\n" for line in lines if said)
