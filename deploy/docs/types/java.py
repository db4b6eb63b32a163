"""The types as Java: one record for each, nested in one class; an absent field is null, an unknown one is in `more`."""

import textwrap
from collections.abc import Mapping

from deploy.docs.types.model import WireEnum, WireField, WireRecord, WireType, WireTypes, WireUnion, pascal

PATH = "clients/java/src/main/java/fathom/Events.java"
WIDTH = 112
HEAD = """\
// Made from the schemas by `make docs`. Do not edit.
package fathom;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonAnySetter;
import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.databind.JsonNode;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;

/**
 * Fathom's events on Kafka, and what they hold, for a plain ObjectMapper.
 *
 * <p>What is read is written again as it was: an absent field is null and stays absent, and the fields that a newer
 * Fathom adds are kept in {@code more}.
 */
public final class Events {
    private Events() {}
"""
MORE = "@JsonAnySetter @JsonAnyGetter Map<String, JsonNode> more"
ALWAYS = "@JsonInclude(JsonInclude.Include.ALWAYS) "
KINDS = {
    "text": "String",
    "integer": "Long",
    "number": "Double",
    "boolean": "Boolean",
    "timestamp": "OffsetDateTime",
    "scalar": "JsonNode",
    "json": "JsonNode",
}
# Java's reserved words, and what a record of ours has in any case.
RESERVED = frozenset((
    "abstract", "assert", "boolean", "break", "case", "catch", "class", "const", "default", "do", "double", "else",
    "enum", "extends", "final", "finally", "float", "for", "goto", "if", "import", "instanceof", "int", "interface",
    "long", "native", "new", "package", "private", "protected", "public", "return", "short", "static", "switch",
    "synchronized", "this", "throw", "throws", "transient", "try", "void", "volatile", "while", "getClass",
    "hashCode", "notify", "toString", "wait", "more",
))  # fmt: skip
PRIMITIVES = {"Long": "long", "Double": "double", "Boolean": "boolean"}


def rendered(types: WireTypes) -> str:
    """The text of the file."""
    union_of = {member: union.name for union in types.unions for member in union.members.values()}
    rows = ",\n".join(f'            Map.entry("{one.event}", {one.name}.class)' for one in types.records if one.event)
    by_type = (
        "    /** The class of every event, by its ce_type. */\n"
        f"    public static final Map<String, Class<?>> BY_TYPE = Map.ofEntries(\n{rows});\n"
    )
    made = [*map(_enum, types.enums), *map(_union, types.unions), *(_record(one, union_of) for one in types.records)]
    return "\n".join([HEAD, by_type, *(textwrap.indent(part, "    ") for part in made)]) + "}\n"


def _enum(enum: WireEnum) -> str:
    said = enum.description or "One of the values below, or one that a newer Fathom knows."
    known = "".join(
        f'    public static final {enum.name} {_constant(value)} = new {enum.name}("{value}");\n'
        for value in enum.values
    )
    return (
        f"{_javadoc(said)}public record {enum.name}(@JsonValue String value) {{\n{known}\n"
        f"    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)\n    public {enum.name} {{}}\n}}\n"
    )


def _union(union: WireUnion) -> str:
    other = f"Other{union.name}"
    kinds = "".join(
        f'    @JsonSubTypes.Type(value = {name}.class, name = "{tag}"),\n' for tag, name in union.members.items()
    )
    permitted = ",\n        ".join([*union.members.values(), other])
    return (
        f"@JsonTypeInfo(\n    use = JsonTypeInfo.Id.NAME, include = JsonTypeInfo.As.EXISTING_PROPERTY, property = "
        f'"{union.tag}",\n    visible = true, defaultImpl = {other}.class)\n@JsonSubTypes({{\n{kinds}}})\n'
        f"public sealed interface {union.name} permits\n        {permitted} {{}}\n\n"
        f"/** An {union.name} of a kind that a newer Fathom knows. */\n@JsonInclude(JsonInclude.Include.NON_NULL)\n"
        f'public record {other}(@JsonProperty("{union.tag}") String {union.tag}, {MORE}) implements {union.name} {{}}\n'
    )


def _record(record: WireRecord, union_of: Mapping[str, str]) -> str:
    params = "\n".join(f"@param {_camel(one.name)} {one.description}" for one in record.fields if one.description)
    event = f"Its ce_type is {record.event}." if record.event else ""
    rows = "".join(f"        {_component(field)},\n" for field in record.fields)
    said = _javadoc("\n\n".join(filter(None, (record.description, event, params))))
    implements = f" implements {union_of[record.name]}" if record.name in union_of else ""
    head = f"{said}@JsonInclude(JsonInclude.Include.NON_NULL)\npublic record {record.name}("
    return f"{head}\n{rows}        {MORE}){implements} {{}}\n"


def _component(field: WireField) -> str:
    of = _type(field.type)
    if field.required and not field.nullable:
        of = PRIMITIVES.get(of, of)
    elif field.nullable and not field.required:
        of = f"Nullable<{of}>"
    before = ALWAYS if field.required and field.nullable else "@Timestamp " if field.type.kind == "timestamp" else ""
    return f'@JsonProperty("{field.name}") {before}{of} {_camel(field.name)}'


def _type(of: WireType) -> str:
    if of.of is None:
        return of.name or KINDS[of.kind]
    return f"Map<String, {_type(of.of)}>" if of.kind == "map" else f"List<{_type(of.of)}>"


def _camel(name: str) -> str:
    made = pascal(name)
    name = made[:1].lower() + made[1:]
    return f"{name}_" if name in RESERVED else name


def _constant(value: str) -> str:
    return value.upper().replace("-", "_")


def _javadoc(said: str) -> str:
    if not said:
        return ""
    # Backquotes and comparison signs mean something else in HTML.
    plain = said.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    lines = [line for part in plain.split("\n") for line in textwrap.wrap(part, WIDTH) or [""]]
    return "/**\n" + "".join(f" * {line}".rstrip() + "\n" for line in lines) + " */\n"
