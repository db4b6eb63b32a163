"""The JSON Schema (2020-12) of every event, generated from the models.

Only keywords with the same meaning in draft 7 are used, so that AsyncAPI tools can read the same files.
"""

from collections.abc import Mapping
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from schemas.base import Event
from schemas.topics import Topic

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Untitled(GenerateJsonSchema):
    """A schema generator without titles, which only repeat a field's name."""

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002  (the library's signature)
        return False


def file_name(event: type[Event]) -> str:
    """`<ce_type>.schema.json`"""
    return f"{event.TYPE}.schema.json"


def schema_of(event: type[Event], topic: Topic) -> dict[str, object]:
    """The schema of an event's value; its `$id` is relative.

    The schema of an outside topic is closed, as its reader is; others are open: a newer producer may add a field.
    """
    made = event.model_json_schema(by_alias=True, schema_generator=Untitled)
    return {"$schema": DIALECT, "$id": file_name(event), **plain(made, closed=topic.outside)}


def plain(node: Any, *, closed: bool) -> Any:
    """The schema without `discriminator`, an OpenAPI keyword, and open unless `closed`."""
    if isinstance(node, list):
        return [plain(part, closed=closed) for part in node]
    if not isinstance(node, Mapping):
        return node
    kept: dict[str, Any] = {}
    for name, part in node.items():
        if name in ("properties", "$defs"):
            kept[name] = {field: plain(schema, closed=closed) for field, schema in part.items()}
        elif name != "discriminator" and (closed or name != "additionalProperties" or part is not False):
            kept[name] = plain(part, closed=closed)
    tags = [field for field, schema in kept.get("properties", {}).items() if "const" in schema]
    if tags:
        # Optional for producers because of its default, but readers of a union need the tag to tell its kinds apart.
        kept["required"] = list(dict.fromkeys([*tags, *kept.get("required", [])]))
    return kept
