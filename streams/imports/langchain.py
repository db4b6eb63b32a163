"""Message histories of LangChain: `messages_to_dict`, `dumpd`, and messages dumped as they are.

They state no time, unless the program or the model's server put one into a message.
"""

from collections.abc import Mapping

from streams.imports.turns import (
    UNKNOWN,
    ExportPlace,
    Found,
    JsonValue,
    LeftOut,
    first_time,
    id_of,
    said,
)

FORMAT = "langchain"
TYPES = ("human", "ai", "system", "tool", "function", "chat", "generic", "AIMessageChunk", "HumanMessageChunk")
CLASSES = ("Message", "MessageChunk")
TIMES = ("created_at", "timestamp")


def fits(value: JsonValue) -> bool:
    """Whether it is a message, a history, or an object with histories by the names of their sessions."""
    if isinstance(value, list):
        return bool(value) and _is_message(value[0])
    if not isinstance(value, dict) or _is_message(value):
        return isinstance(value, dict)
    histories = [each for each in value.values() if isinstance(each, list) and each]
    return bool(histories) and all(map(fits, histories))


def turns(value: JsonValue, place: ExportPlace) -> Found:
    """The turns of a message or of histories: one of a file by itself is a conversation named as the file."""
    if isinstance(value, list):
        yield from _history(value, f"{place.name}-{place.number}")
    elif _is_message(value):
        yield from _turn(value, place.name, place.number)
    elif fits(value):
        for name, history in value.items():
            if isinstance(history, list):
                yield from _history(history, place.name if name == "messages" else id_of(name, place.name))
    else:
        yield LeftOut(UNKNOWN)


def _history(messages: list[JsonValue], where: str) -> Found:
    for number, message in enumerate(messages):
        if _is_message(message):
            yield from _turn(message, where, number)
        else:
            yield LeftOut(UNKNOWN)


def _is_message(value: JsonValue) -> bool:
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("kwargs"), dict) and isinstance(value.get("id"), list):
        return str(value["id"][-1:]).rstrip("']").endswith(CLASSES)
    return value.get("type") in TYPES and (isinstance(value.get("data"), dict) or "content" in value)


def _turn(message: Mapping[str, JsonValue], where: str, number: int) -> Found:
    kind, fields = str(message.get("type")), message
    if isinstance(message.get("data"), dict):
        fields = message["data"]
    elif isinstance(message.get("kwargs"), dict):
        fields = message["kwargs"]
        kind = str(message["id"][-1]).removesuffix("Chunk").removesuffix("Message")
    role = fields.get("role") if kind.lower() in ("chat", "generic") else kind
    stated = (fields, fields.get("additional_kwargs"), fields.get("response_metadata"))
    times = [each.get(name) for each in stated if isinstance(each, dict) for name in TIMES]
    yield from said(
        FORMAT,
        role,
        fields.get("content"),
        conversation_id=where,
        message_id=fields.get("id"),
        position=number,
        at=first_time(*times),
    )
