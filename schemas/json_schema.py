"""The JSON Schema (2020-12) of every event, made from the models.

Only keywords that mean the same in draft 7 are used, so that AsyncAPI tools can read the same files.
"""

from collections.abc import Mapping
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from schemas.base import Event
from schemas.topics import Topic

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Untitled(GenerateJsonSchema):
    """Without the titles that only repeat a field's name."""

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002  (the library's signature)
        return False


def file_name(event: type[Event]) -> str:
    """`<ce_type>.schema.json`"""
    return f"{event.TYPE}.schema.json"


def schema_of(event: type[Event], topic: Topic) -> dict[str, object]:
    """What a value of the event looks like; its `$id` is relative.

    An outside topic's schema is closed, as its reader is. Inside it is open: a newer producer may add a field.
    """
    made = event.model_json_schema(by_alias=True, schema_generator=Untitled)
    return {"$schema": DIALECT, "$id": file_name(event), **_plain(made, closed=topic.outside)}


def _plain(node: Any, *, closed: bool) -> Any:
    """Without `discriminator`, which is OpenAPI's, and open where it is not closed."""
    if isinstance(node, list):
        return [_plain(part, closed=closed) for part in node]
    if not isinstance(node, Mapping):
        return node
    kept: dict[str, Any] = {}
    for name, part in node.items():
        if name in ("properties", "$defs"):
            kept[name] = {field: _plain(schema, closed=closed) for field, schema in part.items()}
        elif name != "discriminator" and (closed or name != "additionalProperties" or part is not False):
            kept[name] = _plain(part, closed=closed)
    tags = [field for field, schema in kept.get("properties", {}).items() if "const" in schema]
    if tags:
        # A default where it is made; but whoever reads a union needs the tag to know which of its kinds this is.
        kept["required"] = list(dict.fromkeys([*tags, *kept.get("required", [])]))
    return kept
