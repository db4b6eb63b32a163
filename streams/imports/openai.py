"""ChatGPT's data export: `conversations.json`, a list of conversations whose messages are a tree.

Each node names its parent; `current_node` is the end of the branch that the user sees. The others are earlier versions
of a question or an answer.
"""

from collections.abc import Mapping
from datetime import datetime

from streams.imports.turns import (
    BRANCH,
    HIDDEN,
    NO_TEXT,
    NOT_SAID,
    TOOL,
    UNKNOWN,
    ExportPlace,
    Found,
    JsonValue,
    LeftOut,
    id_of,
    said,
    time_of,
)

FORMAT = "openai"
# What a message consists of where it is words; others are code, tool output, thoughts and images.
SPOKEN = ("text", "multimodal_text")
Node = Mapping[str, JsonValue]


def fits(value: JsonValue) -> bool:
    """Whether it is a conversation of such an export, or an object with several."""
    if not isinstance(value, dict):
        return False
    several = value.get("conversations")
    return isinstance(value.get("mapping"), dict) or (isinstance(several, list) and any(map(fits, several)))


def turns(value: JsonValue, place: ExportPlace) -> Found:
    """The turns of the branch that the user sees, and what of the conversation is left out."""
    if not isinstance(value, dict) or not fits(value):
        yield LeftOut(UNKNOWN)
        return
    for number, each in enumerate(value.get("conversations") or ()):
        yield from turns(each, ExportPlace(place.name, number))
    if not isinstance(value.get("mapping"), dict):
        return
    nodes = {name: node for name, node in value["mapping"].items() if isinstance(node, dict)}
    where = id_of(value.get("conversation_id") or value.get("id"), f"{place.name}-{place.number}")
    last = time_of(value.get("create_time"))
    branch = _branch(nodes, value.get("current_node"))
    for name in branch:
        message = nodes[name].get("message")
        if isinstance(message, dict):
            last = time_of(message.get("create_time")) or last
            yield from _turn(message, name, where, last)
    seen = set(branch)
    yield from (LeftOut(BRANCH) for name, node in nodes.items() if name not in seen and _is_said(node))


def _branch(nodes: Mapping[str, Node], end: JsonValue) -> list[str]:
    """The names of the nodes from the root to the current one; without a current one to the newest leaf."""
    if end not in nodes:
        leaves = [name for name, node in nodes.items() if not node.get("children")]
        end = max(leaves, key=lambda name: _moment(nodes[name]), default=None)
    found: dict[str, None] = {}
    while isinstance(end, str) and end in nodes and end not in found:
        found[end] = None
        end = nodes[end].get("parent")
    return list(reversed(found))


def _moment(node: Node) -> float:
    message = node.get("message")
    at = time_of(message.get("create_time")) if isinstance(message, dict) else None
    return at.timestamp() if at else 0.0


def _turn(message: Node, name: str, where: str, at: datetime | None) -> Found:
    author, content = _object(message.get("author")), _object(message.get("content"))
    role, metadata = author.get("role"), _object(message.get("metadata"))
    if metadata.get("is_visually_hidden_from_conversation") and role not in NOT_SAID:
        yield LeftOut(HIDDEN)
    elif role == "assistant" and message.get("recipient") not in (None, "all"):
        yield LeftOut(TOOL)
    elif role not in NOT_SAID and content.get("content_type", "text") not in SPOKEN:
        yield LeftOut(NO_TEXT)
    else:
        yield from said(
            FORMAT,
            role,
            content.get("parts"),
            conversation_id=where,
            message_id=message.get("id") or name,
            position=name,
            at=at,
        )


def _is_said(node: Node) -> bool:
    message = node.get("message")
    return isinstance(message, dict) and any(
        not isinstance(found, LeftOut) for found in _turn(message, str(node.get("id")), "-", None)
    )


def _object(value: JsonValue) -> Node:
    return value if isinstance(value, dict) else {}
