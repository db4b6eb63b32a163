"""A streamed answer (SSE): events pass as they come; calls of policed tools wait until they are whole and decided."""

import re
from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from streams.edges.http.openai.answer import CALLING, ENDED, Decide, SpokenAnswer, call_of, set_arguments
from streams.edges.http.openai.chat_request import DECISIONS
from streams.edges.http.openai.tool_calls import PolicedTools
from streams.edges.http.problems import openai_error

# The blank line after an event; a stream has one kind of line end.
END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
DONE = b"[DONE]"
OLDER = "function_call"
Place = int | str


async def events(chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """The events of a stream, whole and with their blank lines: joined, they are the stream."""
    rest = b""
    async for chunk in chunks:
        rest += chunk
        begin = 0
        for found in END.finditer(rest):
            yield rest[begin : found.end()]
            begin = found.end()
        rest = rest[begin:]
    if rest:
        yield rest


@dataclass(slots=True)
class _ChoiceCalls:
    """Calls of one choice: the numbers of those that have passed, and by number those that are held."""

    passed: set[Place] = field(default_factory=set)
    held: dict[Place, dict[str, Any]] = field(default_factory=dict)


class StreamedAnswer:
    """The events that the caller gets instead of the model's, and what is said in them."""

    def __init__(self, policed: PolicedTools, decide: Decide) -> None:
        self.spoken = SpokenAnswer()
        self._policed = policed
        self._decide = decide
        self._calls: dict[int, _ChoiceCalls] = {}

    async def take(self, event: bytes) -> bytes:
        """What the caller gets for one event: itself, something in its place, or nothing yet."""
        chunk = data_of(event)
        if chunk is None or not isinstance(chunk.get("choices"), list):
            return event
        before: list[bytes] = []
        changed = False
        for choice in chunk["choices"]:
            if not isinstance(choice, dict):
                continue
            changed |= self._hold(choice)
            self._hear(choice)
            calls = self._calls.get(choice.get("index", 0))
            if choice.get("finish_reason") is not None and calls and calls.held:
                before += await self._settle(chunk, choice, calls)
                changed = True
        if not changed:
            return event
        return b"".join((*before, *([_event(chunk)] if _says_anything(chunk) else ())))

    def broken(self, status: int, detail: str) -> bytes:
        """The event of a stream that has no end."""
        return _event(openai_error(status, detail))

    def _hold(self, choice: dict[str, Any]) -> bool:
        """Take the calls that wait out of a choice; whether there were any."""
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return False
        calls = self._calls.setdefault(choice.get("index", 0), _ChoiceCalls())
        found = delta.get("tool_calls")
        listed = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
        waiting = [each for number, each in enumerate(listed) if self._waits(calls, each.get("index", number), each)]
        if waiting:
            delta["tool_calls"] = [each for each in listed if each not in waiting]
            if not delta["tool_calls"]:
                del delta["tool_calls"]
        older = delta.get(OLDER)
        if isinstance(older, dict) and self._waits(calls, OLDER, older):
            del delta[OLDER]
            return True
        return bool(waiting)

    def _waits(self, calls: _ChoiceCalls, place: Place, part: dict[str, Any]) -> bool:
        """Whether this part of a call is held; what follows a held call is, too, so that their order stays."""
        if place in calls.passed:
            return False
        if place not in calls.held and not calls.held and not self._policed.may_name(call_of(part).name):
            calls.passed.add(place)
            return False
        _merge(calls.held.setdefault(place, {}), part)
        return True

    def _hear(self, choice: dict[str, Any]) -> None:
        if choice.get("index", 0) != 0:
            return
        delta = choice.get("delta")
        if isinstance(delta, dict) and isinstance(delta.get("content"), str):
            self.spoken.parts.append(delta["content"])
        if choice.get("finish_reason") is not None:
            self.spoken.finish = choice["finish_reason"]

    async def _settle(self, chunk: dict[str, Any], choice: dict[str, Any], calls: _ChoiceCalls) -> list[bytes]:
        """The events of the calls that may be made, and of the words on the others; the choice ends as these do."""
        number = choice.get("index", 0)
        decisions = await self._decide([call_of(raw) for raw in calls.held.values()])
        made: list[bytes] = []
        for (place, raw), decision in zip(calls.held.items(), decisions, strict=True):
            if decision.arguments is None:
                spoken = bool(self.spoken.text) if number == 0 else False
                words = f"\n\n{decision.words}" if spoken else decision.words
                made.append(_delta_event(chunk, number, {"content": words, DECISIONS: [decision.told()]}))
                if number == 0:
                    self.spoken.parts.append(words)
                continue
            set_arguments(raw, decision)
            delta = {OLDER: raw} if place == OLDER else {"tool_calls": [{**raw, "index": len(calls.passed)}]}
            calls.passed.add(place)
            made.append(_delta_event(chunk, number, delta))
        calls.held.clear()
        if not calls.passed and choice["finish_reason"] in CALLING:
            choice["finish_reason"] = ENDED
            if number == 0:
                self.spoken.finish = ENDED
        return made


def data_of(event: bytes) -> dict[str, Any] | None:
    """The JSON object of an event; None for any other event."""
    data = b"\n".join(line[5:].strip() for line in event.splitlines() if line.startswith(b"data:"))
    if not data or data == DONE:
        return None
    try:
        said = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    return said if isinstance(said, dict) else None


def _merge(whole: dict[str, Any], part: dict[str, Any]) -> None:
    """Add a part of a call to what came of it before: texts go on; ids, kinds and numbers are of one part."""
    for name, value in part.items():
        known = whole.get(name)
        if isinstance(value, dict):
            _merge(whole.setdefault(name, {}), value)
        elif isinstance(known, str) and isinstance(value, str) and name in ("name", "arguments", "input"):
            whole[name] = known + value
        elif value is not None or known is None:
            whole[name] = value


def _delta_event(chunk: dict[str, Any], number: int, delta: dict[str, Any]) -> bytes:
    said = {name: value for name, value in chunk.items() if name not in ("choices", "usage")}
    return _event({**said, "choices": [{"index": number, "delta": delta, "finish_reason": None}]})


def _event(chunk: dict[str, Any]) -> bytes:
    return b"data: " + orjson.dumps(chunk) + b"\n\n"


def _says_anything(chunk: dict[str, Any]) -> bool:
    """Whether anything is left in a chunk from which held calls were taken."""
    return bool(chunk.get("usage")) or any(
        isinstance(choice, dict) and (choice.get("delta") or choice.get("finish_reason")) for choice in chunk["choices"]
    )
