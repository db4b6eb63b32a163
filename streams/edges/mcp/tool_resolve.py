"""`resolve_tool_call`: the tool gate's verdict on a tool call, over its topics."""

from collections.abc import Mapping
from typing import Annotated
from uuid import uuid4

import orjson
from pydantic import Field

from schemas.base import Id, Value
from schemas.tools import ErrorCode, Injection, Preview, ToolCallResolved, Verdict
from schemas.topics import TOOLS_CALLS_IN
from streams.edges.client import ask, records
from streams.edges.client.arguments import Arguments
from streams.edges.mcp.tool import RECORDS, Call, Tool, filled


class ResolveArguments(Arguments):
    tool_name: Annotated[str, Field(min_length=1, max_length=200)]
    conversation_id: Id = Field(description="the conversation whose session completes the call")
    arguments: Mapping[str, object] = Field(default_factory=dict, description="what the call has already")
    call_id: Id | None = Field(default=None, description="same id, same verdict")
    message_id: Id | None = Field(default=None, description="the user's message; without it, the last one")


class Resolved(Value):
    """The verdict: only where `status` is resolved may the tool be called, with exactly `arguments`.

    `error` is the text for the user; `preview` the call to confirm first; `injections` the sources of added values.
    """

    call_id: Id
    status: Verdict
    arguments: Mapping[str, object] | None
    error: str | None
    error_code: ErrorCode | None
    preview: Preview | None
    injections: tuple[Injection, ...]


async def answer(asked: ResolveArguments, call: Call) -> Resolved:
    """Raises `CommandFailed` where no broker answers or no verdict comes in time."""
    fields = {
        "call_id": asked.call_id or str(uuid4()),
        "client_id": call.caller.client,
        "session_id": asked.conversation_id,
        "nome_tool": asked.tool_name,
        "args": asked.arguments,
        "message_id": asked.message_id,
    }
    prepared = records.of_fields(TOOLS_CALLS_IN, fields, call.identity, refusal="this is no call")
    raw = await ask.answer_to(prepared, ask.VERDICT, call.site.bootstrap(), call.site.seconds)
    verdict = ToolCallResolved.model_validate_json(raw, extra="ignore")
    return filled(Resolved, verdict, arguments=verdict.resolved_args)


def text(found: Resolved) -> str:
    """The verdict with what follows from it: the arguments, the question to the user, or the refusal."""
    said = found.error or (found.preview.text if found.preview else None)
    return f"{found.status}: {said or orjson.dumps(found.arguments).decode()}"


TOOL = Tool(
    name="resolve_tool_call",
    title="Resolve a tool call",
    description=(
        "Call this BEFORE executing a tool. Completes arguments that were left out from the conversation and defaults, "
        "or refuses with a sentence for the user, or says that a user has to allow it first. Execute only where status "
        "is resolved, with exactly the arguments given back."
    ),
    takes=ResolveArguments,
    gives=Resolved,
    # The verdict is stored, so it is not read-only; under the same call_id it is the same.
    annotations=RECORDS,
    answer=answer,
    text=text,
)
