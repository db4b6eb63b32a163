"""A request to `/v1/responses` as its caller makes it; what came before it may be on the model's server only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from schemas.chat import text_of
from streams.edges.http.openai.chat_request import (
    DECISIONS,
    INSTRUCTING,
    JsonMessage,
    digest,
    stated_user,
    with_block,
    without_block,
)


@dataclass(frozen=True, slots=True)
class ResponsesRequest:
    """The items of a request, of which `asked` is the number of the user's last message; None where it has none."""

    document: Mapping[str, Any]
    items: Sequence[JsonMessage]
    asked: int | None

    @property
    def question(self) -> str:
        """The text of the user's last message; empty without any."""
        return "" if self.asked is None else text_of(self.items[self.asked].get("content"))

    @property
    def continues(self) -> bool:
        """Whether the model goes on after its tools: the user has said nothing new."""
        return self.asked != len(self.items) - 1

    @property
    def follows(self) -> str | None:
        """The response of the model that this request goes on from."""
        return _text(self.document.get("previous_response_id"))

    def fingerprint(self) -> str:
        """An id of the dialogue up to the question, the same for a retry."""
        dialogue = self.items[: 0 if self.asked is None else self.asked + 1]
        said = [_without_ours(item) for item in dialogue if item.get("role") not in INSTRUCTING]
        return digest([self.follows, self.conversation, said])

    def stated_user(self) -> tuple[str, object] | None:
        """The field that says who asks, and what it says; None without any."""
        return stated_user(self.document)

    @property
    def conversation(self) -> str | None:
        """What the model's server calls the talk."""
        stated = self.document.get("conversation")
        return _text(stated.get("id") if isinstance(stated, dict) else stated)

    def opening(self) -> str:
        """An id of the talk: what the model's server calls it, else who the user is and how the user began."""
        if known := self.conversation or self.follows:
            return digest(["responses", known])
        first = next((item for item in self.items if item.get("role") == "user"), {})
        user = self.document.get("user") or self.document.get("safety_identifier")
        return digest([user, text_of(first.get("content"))])

    def with_context(self, text: str) -> bytes:
        """The request with a text in its instructions, between marks, once."""
        made = dict(self.document)
        instructions = self.document.get("instructions")
        kept = without_block(instructions) if isinstance(instructions, str) else ""
        if text:
            made["instructions"] = with_block(kept, text)
        elif isinstance(instructions, str):
            made["instructions"] = kept
        if isinstance(self.document.get("input"), list):
            made["input"] = [_without_ours(item) for item in self.items]
        return orjson.dumps(made)


def responses_of(document: object) -> ResponsesRequest | None:
    """The request; None for one of a form that only the model's server can judge."""
    said = document.get("input") if isinstance(document, dict) else None
    items = [{"role": "user", "content": said}] if isinstance(said, str) else said
    if not isinstance(document, dict) or not isinstance(items, list):
        return None
    if not all(isinstance(item, dict) for item in items):
        return None
    asked = [number for number, item in enumerate(items) if item.get("role") == "user"]
    return ResponsesRequest(document, items, asked[-1] if asked else None)


def _without_ours(item: JsonMessage) -> JsonMessage:
    return {name: value for name, value in item.items() if name != DECISIONS}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
