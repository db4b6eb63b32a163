"""`resolve_tool_call`: the tool gate's verdict on a tool call, over its topics."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal
from uuid import uuid4

import orjson
from pydantic import Field

from schemas.base import Id
from schemas.tools import ToolCallResolved
from schemas.topics import TOOLS_CALLS_IN
from streams.edges.client import ask, records
from streams.edges.client.arguments import Arguments
from streams.edges.client.in_english import CallVerdict, verdict_of
from streams.edges.mcp.tool import RECORDS, Call, Tool


class ResolveArguments(Arguments):
    tool_name: Annotated[str, Field(min_length=1, max_length=200)]
    conversation_id: Id = Field(description="whose session completes the call")
    arguments: Mapping[str, object] = Field(default_factory=dict, description="what the call has already")
    call_id: Id | None = Field(default=None, description="same id, same verdict")
    message_id: Id | None = Field(default=None, description="else the user's last one")
    lang: Literal["pt", "en"] | None = Field(default=None, description="of refusals")


async def answer(asked: ResolveArguments, call: Call) -> CallVerdict:
    """Raises `CommandFailed` where no broker answers or no verdict comes in time."""
    fields = {
        "call_id": asked.call_id or str(uuid4()),
        "client_id": call.caller.client,
        "session_id": asked.conversation_id,
        "nome_tool": asked.tool_name,
        "args": asked.arguments,
        "message_id": asked.message_id,
    }
    whose = replace(call.identity, locale=asked.lang)
    prepared = records.of_fields(TOOLS_CALLS_IN, fields, whose, refusal="this is no call")
    raw = await ask.answer_to(prepared, ask.VERDICT, call.site.bootstrap(), call.site.seconds)
    return verdict_of(ToolCallResolved.model_validate_json(raw, extra="ignore"))


def text(found: CallVerdict) -> str:
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
    gives=CallVerdict,
    # The verdict is stored, so it is not read-only; under the same call_id it is the same.
    annotations=RECORDS,
    answer=answer,
    text=text,
)
