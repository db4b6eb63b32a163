"""A model's answer on its way to the caller: its text is read for the conversation, calls of policed tools are decided.

Whatever has no such call passes byte for byte.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from streams.edges.http.openai.chat_request import DECISIONS
from streams.edges.http.openai.tool_calls import CallDecision, ModelCall, PolicedTools

Decide = Callable[[Sequence[ModelCall]], Awaitable[list[CallDecision]]]
ENDED = "stop"
# After these an answer lacks its end.
CUT = (None, "length", "content_filter")
CALLING = ("tool_calls", "function_call")


@dataclass(slots=True)
class SpokenAnswer:
    """The text of the first choice so far, and how it ended; None while it has not."""

    parts: list[str] = field(default_factory=list)
    finish: str | None = None
    response_id: str | None = None

    @property
    def text(self) -> str:
        return "".join(self.parts)

    @property
    def whole(self) -> bool:
        return self.finish not in CUT

    @property
    def calls_tools(self) -> bool:
        """Whether the model goes on after its tools: what it said is no answer yet."""
        return self.finish in CALLING


async def settled(body: bytes, policed: PolicedTools, decide: Decide) -> tuple[bytes, SpokenAnswer]:
    """The body of an answer after the gate's decisions, and what is said in it."""
    spoken = SpokenAnswer()
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return body, spoken
    changed = False
    for number, choice in enumerate(_dicts(document, "choices")):
        message = choice.get("message")
        if isinstance(message, dict):
            changed |= await _settle_message(choice, message, policed, decide)
            if number == 0:
                spoken = SpokenAnswer([_text(message)], choice.get("finish_reason"))
    return (orjson.dumps(document) if changed else body), spoken


async def _settle_message(
    choice: dict[str, Any], message: dict[str, Any], policed: PolicedTools, decide: Decide
) -> bool:
    """Decide on the calls of a message, in place; whether there were any to decide on."""
    raw = _calls(message)
    calls = [call_of(each) for each in raw]
    if not any(policed.names(call.name) for call in calls):
        return False
    decisions = await decide(calls)
    message.pop("tool_calls", None)
    message.pop("function_call", None)
    allowed = [(each, made) for each, made in zip(raw, decisions, strict=True) if made.arguments is not None]
    for each, made in allowed:
        set_arguments(each, made)
        _add_call(message, each)
    refused = [made for made in decisions if made.arguments is None]
    if refused:
        message["content"] = "\n\n".join(filter(None, (_text(message), *(made.words for made in refused))))
        message[DECISIONS] = [made.told() for made in refused]
    if not allowed:
        choice["finish_reason"] = ENDED
    return True


def call_of(raw: dict[str, Any]) -> ModelCall:
    """A call of any form: a function, a custom tool, or the older `function_call`."""
    inner = _inner(raw)
    name, arguments = inner.get("name"), inner.get("arguments", inner.get("input", ""))
    call_id = raw.get("id")
    return ModelCall(
        call_id if isinstance(call_id, str) else "",
        name if isinstance(name, str) else "",
        arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode(),
    )


def set_arguments(raw: dict[str, Any], made: CallDecision) -> None:
    """Put the gate's arguments into a call; one that the gate has not seen stays as it is."""
    if made.gate_call_id is not None:
        _inner(raw)["input" if "input" in _inner(raw) else "arguments"] = made.arguments


def _inner(raw: dict[str, Any]) -> dict[str, Any]:
    return next((raw[kind] for kind in ("function", "custom") if isinstance(raw.get(kind), dict)), raw)


def _calls(message: dict[str, Any]) -> list[dict[str, Any]]:
    older = message.get("function_call")
    return [*_dicts(message, "tool_calls"), *([older] if isinstance(older, dict) else ())]


def _add_call(message: dict[str, Any], raw: dict[str, Any]) -> None:
    if _inner(raw) is raw:
        message["function_call"] = raw
    else:
        message.setdefault("tool_calls", []).append(raw)


def _text(message: dict[str, Any]) -> str:
    said = message.get("content")
    return said if isinstance(said, str) else ""


def _dicts(document: object, name: str) -> Iterable[dict[str, Any]]:
    found = document.get(name) if isinstance(document, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else ()
