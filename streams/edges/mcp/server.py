"""The MCP server: lists the tools, checks arguments, answers; one log line per call.

An invalid call is a tool error that names the field and the next step and never quotes the arguments; an unknown tool
is a protocol error (-32602).

On the SDK's low-level server, not its `MCPServer.tool` decorator (2.3.0), which accepts unknown arguments and so a
`tenant`, reads a string like `[1, 2]` as JSON and refuses it, quotes the caller's values in its errors, answers an
unknown tool with a tool error, and announces prompts and resources, of which there are none.
"""

import asyncio
import logging
import time
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)
from pydantic import ValidationError

from schemas.base import Value, derive
from streams.edges.client.arguments import NAME_CHARS, Arguments, wrong
from streams.edges.client.console_output import shortened
from streams.edges.client.errors import CODES, explain, nearest
from streams.edges.console.address import message_url
from streams.edges.http.tracing import trace_id_of, traceparent_of
from streams.edges.mcp.tool import AnyTool, Call, Context, ServerContext
from streams.telemetry import metrics
from streams.version import version

LOG = logging.getLogger("fathom.mcp")
INSTRUCTIONS = (
    "Fathom decides how much context a query needs and delivers it. Call assess_context_needs first; where it says so, "
    "call the tools it recommends, in their order. Pass conversation_id on to stay in one conversation."
)


def server_of(tools: Iterable[AnyTool], site: ServerContext) -> Server[Any]:
    """A server with these tools, for any transport."""
    by_name = {tool.name: tool for tool in tools}
    listed = [tool.listed() for tool in by_name.values()]

    async def list_tools(_: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=listed)

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        if params.name not in by_name:
            raise MCPError(code=INVALID_PARAMS, message=_unknown(params.name, by_name))
        return await _answered(by_name[params.name], params.arguments or {}, context, site)

    return Server(
        "fathom",
        title="Fathom",
        version=version(),
        description="How much context a query needs, and exactly that.",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _unknown(name: str, known: Iterable[str]) -> str:
    known = list(known)
    said = shortened(name, NAME_CHARS)
    return f"there is no tool {said!r}{nearest(said, known)}; there are: {', '.join(known)}"


async def _answered(
    tool: AnyTool, arguments: Mapping[str, object], context: Context, site: ServerContext
) -> CallToolResult:
    caller = site.caller(context)
    headers = context.request.headers if context.request is not None else None
    call = Call(caller, traceparent_of(context.meta, headers), site)
    trace_id, began = trace_id_of(call.traceparent), time.monotonic()
    wait = site.refuse(caller)
    if wait:
        result, outcome = _failed(f"too many calls: try again in {wait:.1f} s"), "refused"
        result.meta = {"retry_after_seconds": round(wait, 3)}
    else:
        result, outcome = await _tried(tool, arguments, call, trace_id)
    receipt_id = (result.meta or {}).get("receipt_id")
    metrics.log(
        LOG, logging.INFO, "mcp.call", tool=tool.name, tenant=caller.tenant, client=caller.client, outcome=outcome,
        receipt_id=receipt_id, trace_id=trace_id, duration_s=round(time.monotonic() - began, 4),
    )  # fmt: skip
    return result


async def _tried(
    tool: AnyTool, arguments: Mapping[str, object], call: Call, trace_id: str
) -> tuple[CallToolResult, str]:
    try:
        asked = tool.takes.model_validate(arguments)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        said = wrong(found, tool.takes.model_fields, "argument")
        return _failed(f"{tool.name}: {said}; the tool's inputSchema says what it takes"), "invalid"
    most = 2 * call.site.seconds  # as long again to reach the broker
    try:
        async with asyncio.timeout(most):
            return _given(tool, asked, await tool.answer(asked, call), call, trace_id), "ok"
    except TimeoutError:
        return _failed(f"{tool.name}: no answer within {most:g} s; look at the broker, then try again"), "late"
    except Exception as error:  # noqa: BLE001 - whatever happened, the caller gets a sentence and the server goes on
        return _failed(f"{tool.name}: {_sentence(error, trace_id)}"), "failed"


def _given(tool: AnyTool, asked: Arguments, body: Value, call: Call, trace_id: str) -> CallToolResult:
    """The answer as text for the model, and as structured content; receipt and trace are for programs, in `_meta`."""
    structured = body.model_dump(mode="json")
    caller = call.caller
    said = orjson.dumps([asked.model_dump(mode="json"), structured], option=orjson.OPT_SORT_KEYS).decode()
    receipt = derive("mcp-receipt", caller.tenant, caller.client, caller.user, tool.name, said)
    result = CallToolResult(content=[TextContent(type="text", text=tool.text(body))], structured_content=structured)
    result.meta = {"receipt_id": receipt, "trace_id": trace_id}
    message_id = tool.explained_by(body)
    if message_id is not None and (console := call.site.console()) is not None:
        result.meta["explain_url"] = message_url(console, message_id)
    return result


def _sentence(error: Exception, trace_id: str) -> str:
    if any(cls.__name__ in (*CODES, "CommandFailed") for cls in type(error).__mro__):
        return explain(error)[0]
    # The text of an unexpected error may hold anything: log only.
    LOG.error("mcp.bug", exc_info=error, extra={"fields": {"trace_id": trace_id}})
    return f"this is a bug of Fathom's ({type(error).__name__}); its operator finds it in the log as trace {trace_id}"


def _failed(sentence: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=sentence)], is_error=True)
