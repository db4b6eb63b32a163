"""The types as TypeScript: one interface for each record; an absent field is an optional one."""

import json
import textwrap

from deploy.docs.types.model import WireEnum, WireField, WireRecord, WireType, WireTypes

PATH = "clients/typescript/src/types.ts"
WIDTH = 116
HEAD = """\
// Made from the schemas by `make docs`. Do not edit.
//
// Fields that a newer Fathom adds are there at run time, and stay when the value is written again.

/** One of the known texts, or one that a newer Fathom knows. */
export type Open<Known extends string> = Known | (string & {});

/** An instant with its offset from UTC, as RFC 3339 writes it. */
export type Timestamp = string;
"""
KINDS = {
    "text": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "timestamp": "Timestamp",
    "scalar": "string | number | boolean | null",
    "json": "unknown",
}


def rendered(types: WireTypes) -> str:
    """The text of the module."""
    parts = [HEAD]
    parts += map(_enum, types.enums)
    for union in types.unions:
        parts.append(f"export type {union.name} =\n  | " + "\n  | ".join(union.members.values()) + ";\n")
    parts += map(_interface, types.records)
    events = "".join(f'  "{one.event}": {one.name};\n' for one in types.records if one.event)
    parts.append(f"/** Every event, by its `ce_type`. */\nexport interface Events {{\n{events}}}\n")
    return "\n".join(parts)


def _enum(enum: WireEnum) -> str:
    made = f"export type {enum.name} = Open<{' | '.join(map(json.dumps, enum.values))}>;\n"
    if len(made) > WIDTH:
        made = f"export type {enum.name} = Open<\n  | " + "\n  | ".join(map(json.dumps, enum.values)) + "\n>;\n"
    return _comment(enum.description) + made


def _interface(record: WireRecord) -> str:
    event = f"`{record.event}`" if record.event else ""
    said = _comment("\n\n".join(filter(None, (record.description, event))))
    return f"{said}export interface {record.name} {{\n{''.join(map(_field, record.fields))}}}\n"


def _field(field: WireField) -> str:
    written = json.dumps(field.tag) if field.tag is not None else _type(field.type)
    said = textwrap.indent(_comment(field.description), "  ")
    return f"{said}  {field.name}{'' if field.required else '?'}: {written}{' | null' if field.nullable else ''};\n"


def _type(of: WireType) -> str:
    if of.of is None:
        return of.name or KINDS[of.kind]
    if of.kind == "map":
        return f"Record<string, {_type(of.of)}>"
    each = _type(of.of)
    return f"({each})[]" if " " in each and not each.startswith("Record<") else f"{each}[]"


def _comment(said: str) -> str:
    if not said:
        return ""
    if "\n" not in said and len(said) < WIDTH:
        return f"/** {said} */\n"
    lines = [line for part in said.split("\n") for line in textwrap.wrap(part, WIDTH) or [""]]
    return "/**\n" + "".join(f" * {line}".rstrip() + "\n" for line in lines) + " */\n"
