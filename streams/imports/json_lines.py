"""Turns of our own form: `{"conversation_id", "role", "content", "created_at", "message_id", "user_id"}`."""

from dataclasses import replace

from streams.imports.turns import (
    UNKNOWN,
    ExportPlace,
    Found,
    ImportedTurn,
    JsonValue,
    LeftOut,
    id_of,
    said,
    time_of,
    user_of,
)

FORMAT = "jsonl"


def fits(value: JsonValue) -> bool:
    """Whether it is a turn of a named conversation."""
    return isinstance(value, dict) and "conversation_id" in value and {"role", "content"} <= value.keys()


def turns(value: JsonValue, place: ExportPlace) -> Found:
    """The turn; a stated id is kept, so that it is the same turn as one that was sent by it."""
    if not isinstance(value, dict) or not fits(value):
        yield LeftOut(UNKNOWN)
        return
    stated = value.get("message_id")
    for found in said(
        FORMAT,
        value["role"],
        value["content"],
        conversation_id=id_of(value["conversation_id"], place.name),
        message_id=stated,
        position=place.number,
        at=time_of(value.get("created_at")),
        user_id=user_of(value),
    ):
        if isinstance(found, ImportedTurn) and isinstance(stated, str) and stated:
            yield replace(found, message_id=id_of(stated, found.message_id))
        else:
            yield found
