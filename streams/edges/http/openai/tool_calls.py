"""The model's tool calls at the tool gate: what it may not call it does not call, whatever goes wrong."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import ValidationError

from schemas import codec
from schemas.base import derive
from schemas.tools import ToolCallRequested, ToolCallResolved
from schemas.topics import TOOLS_CALLS_IN, TOOLS_CALLS_OUT
from streams.edges.client.records import OutgoingRecord
from streams.edges.http.openai.context import GivenContext
from streams.edges.http.pending_replies import ExpectedReply, TooMany
from streams.edges.http.request_reply import Exchange, NotReachable


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A tool call as the model wrote it; `arguments` is its JSON."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class CallDecision:
    """The gate's word on a call: the JSON to call the tool with, or the text that the user gets instead."""

    call: ModelCall
    arguments: str | None
    words: str = ""
    status: str = "error"
    gate_call_id: str | None = None

    def told(self) -> dict[str, Any]:
        """What a client needs to have a call confirmed."""
        return {"call_id": self.gate_call_id, "name": self.call.name, "status": self.status}


class PolicedTools:
    """The tools that a policy names, and the gate that decides on their calls within `seconds`."""

    def __init__(self, names: Collection[str], exchange: Exchange, seconds: float) -> None:
        self._names = frozenset(names)
        self._exchange = exchange
        self._seconds = seconds

    def names(self, name: str) -> bool:
        """Whether the policy names a tool."""
        return name in self._names

    def may_name(self, beginning: str) -> bool:
        """Whether a name that begins like this may become one of the policy's."""
        return any(name.startswith(beginning) for name in self._names)

    async def decide(self, calls: Sequence[ModelCall], given: GivenContext) -> list[CallDecision]:
        """The decisions on calls, in their order; tools that the policy does not name are called as they are."""
        return list(await asyncio.gather(*(self._decided(call, given) for call in calls)))

    async def _decided(self, call: ModelCall, given: GivenContext) -> CallDecision:
        if not self.names(call.name):
            return CallDecision(call, call.arguments, status="resolved")
        if given.turn is None:
            return _refused(call, "there is no user's message that it could belong to")
        try:
            arguments = orjson.loads(call.arguments or "{}")
        except orjson.JSONDecodeError:
            arguments = None
        if not isinstance(arguments, dict):
            return _refused(call, "its arguments are no JSON object")
        try:
            prepared = _request(call, arguments, given)
            async with asyncio.timeout(self._seconds):
                wanted = ExpectedReply.to(TOOLS_CALLS_OUT.name, prepared)
                _, answer = await self._exchange.ask(prepared, wanted)
                return _decision(call, ToolCallResolved.model_validate_json(await answer, extra="ignore"))
        except ValidationError:
            return _refused(call, "the tool gate cannot read it")
        except TimeoutError:
            return _refused(call, f"the tool gate did not answer within {self._seconds:g} s")
        except (TooMany, NotReachable):
            return _refused(call, "the tool gate cannot be reached")


def _request(call: ModelCall, arguments: Mapping[str, Any], given: GivenContext) -> OutgoingRecord:
    turn = given.turn
    assert turn is not None
    name = derive("chat-call", turn.message_id, call.call_id, call.name, call.arguments)
    asked = ToolCallRequested(
        call_id=name,
        client_id=turn.conversation.client_id,
        session_id=turn.conversation.conversation_id,
        tool_name=call.name,
        args=arguments,
        message_id=turn.message_id if given.filed else None,
    )
    envelope = turn.envelope._replace(id=name, type=asked.TYPE, causation_id=turn.message_id, tier=None, options=None)
    return OutgoingRecord(TOOLS_CALLS_IN.name, turn.key, codec.dump(asked), codec.to_headers(envelope), name)


def _decision(call: ModelCall, verdict: ToolCallResolved) -> CallDecision:
    if verdict.resolved_args is not None:
        return CallDecision(call, orjson.dumps(verdict.resolved_args).decode(), "", verdict.status, verdict.call_id)
    words = verdict.error or (verdict.preview.text if verdict.preview else "")
    return CallDecision(call, None, words, verdict.status, verdict.call_id)


def _refused(call: ModelCall, why: str) -> CallDecision:
    return CallDecision(call, None, f"The tool {call.name} was not called: {why}. Ask again.")
