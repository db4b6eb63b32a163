"""The verbs of tool calls: `fathom tool call`, `result` and `confirm`; their options."""

from typing import Annotated

import typer

from streams.edges.cli.arguments import Broker, Client, ConversationId, Json, Tenant, User
from streams.edges.client.options import SessionOptions, ToolCall, ToolConfirmationOptions, ToolResultOptions

tool_app = typer.Typer(help="Tool calls: their verdicts, results and confirmations.", no_args_is_help=True)

Tool = Annotated[str, typer.Argument(metavar="TOOL", help="The tool, as its contract names it.")]
Arguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME=TEXT]...", help="Its arguments; NAME:=JSON for what is no text."),
]
CallId = Annotated[str | None, typer.Option("--call-id", help="Default: a new one.")]
Timeout = Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds to wait for the verdict.")]


@tool_app.command("call")
def call(
    tool: Tool,
    arguments: Arguments = None,
    call_id: CallId = None,
    message_id: Annotated[
        str | None, typer.Option("--message-id", help="The user's message it belongs to. Default: the last one.")
    ] = None,
    broker: Broker = None,
    tenant: Tenant = None,
    client: Client = "default",
    conversation: ConversationId = "default",
    user: User = None,
    timeout: Timeout = 10.0,
    as_json: Json = False,
) -> None:
    """Ask for a tool call, wait for its verdict, show it. Nothing is executed.

    Exits with 0 where the call may be executed, with 5 where it is refused or has to be confirmed first.
    """
    from streams.edges.client import tool_calls

    session = SessionOptions(tenant, client, conversation, user)
    wanted = ToolCall(tool, tuple(arguments or ()), session, call_id, message_id, timeout)
    raise typer.Exit(tool_calls.call(wanted, broker, as_json=as_json))


@tool_app.command("result")
def result(
    tool: Tool,
    arguments: Arguments = None,
    call_id: CallId = None,
    report_id: Annotated[str | None, typer.Option("--report-id", help="The report it made or used.")] = None,
    process: Annotated[str | None, typer.Option("--process", help="The process it was about.")] = None,
    value: Annotated[
        list[str] | None, typer.Option("--value", metavar="NAME=TEXT", help="A further value; may be repeated.")
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="The tool did not succeed.")] = False,
    invalid: Annotated[bool, typer.Option("--invalid", help="Its report no longer counts.")] = False,
    broker: Broker = None,
    tenant: Tenant = None,
    client: Client = "default",
    conversation: ConversationId = "default",
    user: User = None,
    as_json: Json = False,
) -> None:
    """Say what a tool has done; the session keeps what later calls leave out."""
    from streams.edges.client import tool_calls

    session = SessionOptions(tenant, client, conversation, user)
    given, values = tuple(arguments or ()), tuple(value or ())
    wanted = ToolResultOptions(tool, given, session, call_id, report_id, process, values, failed, invalid)
    tool_calls.result(wanted, broker, as_json=as_json)


@tool_app.command("confirm")
def confirm(
    call_id: Annotated[str, typer.Argument(metavar="CALL", help="The call that waits for a yes.")],
    yes: Annotated[bool, typer.Option("--yes/--no", help="Whether it may be executed.")] = True,
    broker: Broker = None,
    tenant: Tenant = None,
    client: Client = "default",
    conversation: ConversationId = "default",
    user: User = None,
    timeout: Timeout = 10.0,
    as_json: Json = False,
) -> None:
    """Answer the preview of a sensitive call, as the user who asked for it; wait for what becomes of the call.

    Exits with 0 where the call may be executed, with 5 where not.
    """
    from streams.edges.client import tool_calls

    wanted = ToolConfirmationOptions(call_id, yes, SessionOptions(tenant, client, conversation, user), timeout)
    raise typer.Exit(tool_calls.confirm(wanted, broker, as_json=as_json))
