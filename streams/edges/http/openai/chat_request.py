"""A chat completion as its caller asks for it: the question in it, what came before, and the place of its context.

Everything else in the request is the model's business and passes untouched.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from schemas.base import derive
from schemas.chat import text_of

JsonMessage = Mapping[str, Any]
INSTRUCTING = ("system", "developer")
OPENING, CLOSING = "<fathom-context>", "</fathom-context>"
# Servers refuse messages with fields that they do not know.
DECISIONS = "fathom_calls"


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """The messages of a request, of which `asked` is the number of the user's last."""

    document: Mapping[str, Any]
    messages: Sequence[JsonMessage]
    asked: int

    @property
    def question(self) -> str:
        """The text of the user's last message; empty where it is only images, say."""
        return text_of(self.messages[self.asked].get("content"))

    @property
    def follows(self) -> None:
        """Chats are sent whole."""

    @property
    def conversation(self) -> None:
        """Nor have they a name."""

    @property
    def continues(self) -> bool:
        """Whether the model goes on after its tools: the user has said nothing new."""
        return self.asked != len(self.messages) - 1

    def fingerprint(self) -> str:
        """An id of the dialogue up to the question, the same for a retry.

        Instructions are left out: many callers write the time of day into them.
        """
        dialogue = self.messages[: self.asked + 1]
        return digest([_without_ours(each) for each in dialogue if each.get("role") not in INSTRUCTING])

    def stated_user(self) -> tuple[str, object] | None:
        """The field that says who asks, and what it says; None without any."""
        return stated_user(self.document)

    def opening(self) -> str:
        """An id of the chat: who the caller says the user is, and how the user began."""
        first = next(message for message in self.messages if message.get("role") == "user")
        return digest([self.document.get("user"), first.get("content")])

    def with_context(self, text: str) -> bytes:
        """The request with a text in its first instructions, between marks, once; it comes first where there are none.

        Marks in the text itself are left out, and from the messages what an answer of ours has added.
        """
        messages = [_without_ours(message) for message in self.messages]
        if not text:
            return orjson.dumps({**self.document, "messages": messages})
        block = with_block("", text)
        place = next((n for n, message in enumerate(messages) if message.get("role") in INSTRUCTING), None)
        if place is None:
            messages.insert(0, {"role": "system", "content": block})
        else:
            messages[place] = {**messages[place], "content": _appended(messages[place].get("content"), block)}
        return orjson.dumps({**self.document, "messages": messages})


def chat_of(document: object) -> ChatRequest | None:
    """The request; None for one without a user's message, or of a form that only the model's server can judge."""
    messages = document.get("messages") if isinstance(document, dict) else None
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        return None
    asked = [number for number, message in enumerate(messages) if message.get("role") == "user"]
    return ChatRequest(document, messages, asked[-1]) if isinstance(document, dict) and asked else None


def stated_user(document: Mapping[str, Any]) -> tuple[str, object] | None:
    """Who asks, by the fields of OpenAI's interface.

    `safety_identifier` comes first: the older `user` may be what several users share, a key of a cache.
    """
    fields = ((name, document.get(name)) for name in ("safety_identifier", "user"))
    return next((each for each in fields if each[1] not in (None, "")), None)


def with_block(before: str, text: str) -> str:
    """Instructions with a text at their end, between marks; marks in the text itself are left out."""
    block = f"{OPENING}\n{text.replace(OPENING, '').replace(CLOSING, '')}\n{CLOSING}"
    return f"{before}\n\n{block}" if before else block


def without_block(instructions: str) -> str:
    """Instructions without the context of an earlier request, and without the blanks before it."""
    kept, at = list[str](), 0
    while (start := instructions.find(OPENING, at)) >= 0 and (end := instructions.find(CLOSING, start)) >= 0:
        kept.append(instructions[at:start].rstrip())
        at = end + len(CLOSING)
    return "".join((*kept, instructions[at:]))


def digest(said: object) -> str:
    """An id of what was said."""
    return derive("chat", orjson.dumps(said, option=orjson.OPT_SORT_KEYS).decode())


def _without_ours(message: JsonMessage) -> JsonMessage:
    """A message without the context of an earlier request, and without what only our answers have."""
    content = message.get("content")
    if message.get("role") not in INSTRUCTING:
        return {name: value for name, value in message.items() if name != DECISIONS}
    if isinstance(content, str):
        return {**message, "content": without_block(content)}
    if not isinstance(content, list):
        return message
    parts = [
        {**part, "text": without_block(part["text"])}
        if isinstance(part, dict) and isinstance(part.get("text"), str)
        else part
        for part in content
    ]
    return {**message, "content": [part for part in parts if not (isinstance(part, dict) and part.get("text") == "")]}


def _appended(content: object, block: str) -> object:
    if isinstance(content, list):
        return [*content, {"type": "text", "text": block}]
    return f"{content}\n\n{block}" if isinstance(content, str) and content else block
