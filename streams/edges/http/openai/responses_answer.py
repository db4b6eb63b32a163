"""Answers of `/v1/responses`, whole or streamed: read for the conversation, calls of policed tools decided.

Whatever has no such call passes byte for byte.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from streams.edges.http.openai.answer import CALLING, ENDED, Decide, SpokenAnswer, call_of
from streams.edges.http.openai.answer_stream import data_of
from streams.edges.http.openai.chat_request import DECISIONS
from streams.edges.http.openai.tool_calls import CallDecision, PolicedTools
from streams.edges.http.problems import openai_error

CALLS = ("function_call", "custom_tool_call")
# How an answer ended, in the words of chat completions.
FINISHES = {"completed": ENDED, "incomplete": "length"}
Item = dict[str, Any]


async def settled_response(body: bytes, policed: PolicedTools, decide: Decide) -> tuple[bytes, SpokenAnswer]:
    """The body of a response after the gate's decisions, and what is said in it."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return body, SpokenAnswer()
    if not isinstance(document, dict):
        return body, SpokenAnswer()
    changed = await _settle(document, policed, decide, {})
    spoken = SpokenAnswer(["\n\n".join(filter(None, map(_said, _items(document))))])
    _ended(spoken, document)
    return (orjson.dumps(document) if changed else body), spoken


class StreamedResponse:
    """The events that the caller gets instead of the model's, and what is said in them."""

    def __init__(self, policed: PolicedTools, decide: Decide) -> None:
        self.spoken = SpokenAnswer()
        self._policed = policed
        self._decide = decide
        self._held: set[int] = set()
        self._made: dict[int, Item] = {}
        self._number: int | None = None

    async def take(self, event: bytes) -> bytes:
        """What the caller gets for one event: itself, something in its place, or nothing yet."""
        said = data_of(event)
        if said is None or not isinstance(said.get("type"), str):
            return event
        kind, place, item = said["type"], int(said.get("output_index") or 0), said.get("item")
        of_item = "output_index" in said
        if self._number is None:
            self._number = said.get("sequence_number")
        if kind == "response.output_item.added" and isinstance(item, dict) and self._is_policed(item):
            self._held.add(place)
            return b""
        if of_item and place in self._held:
            ended = kind == "response.output_item.done" and isinstance(item, dict)
            return await self._replaced(place, item) if ended and item else b""
        if kind == "response.output_text.delta" and isinstance(said.get("delta"), str):
            self.spoken.parts.append(said["delta"])
        response = said.get("response")
        changed = False
        if isinstance(response, dict):
            changed = await _settle(response, self._policed, self._decide, self._made)
            _ended(self.spoken, response)
        if not changed and said.get("sequence_number") == self._number:
            self._count()
            return event
        return self._event(said)

    def broken(self, status: int, detail: str) -> bytes:
        """The event of a stream that has no end."""
        # The official clients raise what is in `error`.
        error = {"code": str(status), "message": detail, "param": None}
        return self._event({"type": "error", **error, **openai_error(status, detail)})

    def _is_policed(self, item: Item) -> bool:
        return item.get("type") in CALLS and self._policed.names(str(item.get("name")))

    async def _replaced(self, place: int, item: Item) -> bytes:
        """The events of a call as the gate decides on it: with its arguments, or the gate's words as a message."""
        self._held.discard(place)
        [decision] = await self._decide([call_of(item)])
        made = self._made[place] = _decided(item, decision)
        if decision.arguments is None:
            self.spoken.parts.append(f"\n\n{decision.words}" if self.spoken.text else decision.words)
            steps = _message_steps(made, decision.words)
        else:
            steps = _call_steps(made, decision.arguments)
        return b"".join(self._event({**step, "output_index": place}) for step in steps)

    def _event(self, said: Item) -> bytes:
        if self._number is not None:
            said = {**said, "sequence_number": self._number}
        self._count()
        return b"event: %s\ndata: %s\n\n" % (said["type"].encode(), orjson.dumps(said))

    def _count(self) -> None:
        if self._number is not None:
            self._number += 1


async def _settle(response: Item, policed: PolicedTools, decide: Decide, made: Mapping[int, Item]) -> bool:
    """Put what was decided in the place of policed calls, deciding on those still open; whether there were any."""
    output = response.get("output")
    if not isinstance(output, list):
        return False
    wanted = [
        (number, item)
        for number, item in enumerate(output)
        if isinstance(item, dict) and item.get("type") in CALLS and policed.names(str(item.get("name")))
    ]
    open_calls = [(number, item) for number, item in wanted if number not in made]
    decisions = await decide([call_of(item) for _, item in open_calls]) if open_calls else []
    for (number, item), decision in zip(open_calls, decisions, strict=True):
        output[number] = _decided(item, decision)
    for number, _ in wanted:
        if number in made:
            output[number] = made[number]
    return bool(wanted)


def _decided(item: Item, decision: CallDecision) -> Item:
    """The call with the gate's arguments; refused, a message with the gate's words."""
    if decision.arguments is not None:
        arguments = "input" if item.get("type") == "custom_tool_call" else "arguments"
        return item if decision.gate_call_id is None else {**item, arguments: decision.arguments}
    part = {"type": "output_text", "text": decision.words, "annotations": []}
    name = f"msg_{item.get('call_id') or item.get('id')}"
    head = {"id": name, "type": "message", "role": "assistant", "status": "completed"}
    return {**head, "content": [part], DECISIONS: [decision.told()]}


def _call_steps(call: Item, arguments: str) -> list[Item]:
    field, said = ("input", "custom_tool_call_input") if "input" in call else ("arguments", "function_call_arguments")
    about = {"item_id": call.get("id")}
    return [
        {"type": "response.output_item.added", "item": {**call, field: "", "status": "in_progress"}},
        {"type": f"response.{said}.delta", **about, "delta": arguments},
        {"type": f"response.{said}.done", **about, field: arguments},
        {"type": "response.output_item.done", "item": call},
    ]


def _message_steps(message: Item, words: str) -> list[Item]:
    about, [part] = {"item_id": message["id"], "content_index": 0}, message["content"]
    return [
        {"type": "response.output_item.added", "item": {**message, "content": [], "status": "in_progress"}},
        {"type": "response.content_part.added", **about, "part": {**part, "text": ""}},
        {"type": "response.output_text.delta", **about, "delta": words, "logprobs": []},
        {"type": "response.output_text.done", **about, "text": words, "logprobs": []},
        {"type": "response.content_part.done", **about, "part": part},
        {"type": "response.output_item.done", "item": message},
    ]


def _ended(spoken: SpokenAnswer, response: Item) -> None:
    """Note the response's id, and how it ended where it has."""
    identity = response.get("id")
    spoken.response_id = identity if isinstance(identity, str) else spoken.response_id
    calls = any(item.get("type") in CALLS for item in _items(response))
    ended = FINISHES.get(str(response.get("status")))
    spoken.finish = CALLING[0] if ended == ENDED and calls else ended


def _items(response: Item) -> list[Item]:
    output = response.get("output")
    return [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []


def _said(item: Item) -> str:
    parts = item.get("content") if item.get("type") == "message" else None
    texts = [part.get("text") for part in parts or () if isinstance(part, dict) and part.get("type") == "output_text"]
    return "".join(text for text in texts if isinstance(text, str))
