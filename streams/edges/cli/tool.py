"""`fathom tool`: a tool call and its verdict, a tool's result, a user's confirmation."""

from collections.abc import Iterable
from typing import Annotated
from uuid import uuid4

import orjson
import typer

from schemas.tools import ToolCallResolved
from schemas.topics import TOOLS_CALLS_IN, TOOLS_CONFIRMATIONS_IN, TOOLS_RESULTS_IN
from streams.edges.cli.arguments import Broker, Client, ConversationId, Json, Tenant, User
from streams.edges.client import ask, clients, records, send
from streams.edges.client.console_output import console
from streams.edges.client.console_pack import line
from streams.edges.client.console_tools import verdict_lines
from streams.edges.client.errors import CHECK, OK, USAGE, CommandFailed
from streams.edges.client.records import Identity, OutgoingRecord

app = typer.Typer(no_args_is_help=True)

ToolName = Annotated[str, typer.Argument(metavar="TOOL", help="The tool, as its contract names it.")]
Arguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME=TEXT]...", help="Its arguments; NAME:=JSON for what is no text."),
]
CallId = Annotated[str | None, typer.Option("--call-id", help="Default: a new one.")]
Timeout = Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds to wait for the verdict.")]


@app.command()
def call(
    tool: ToolName,
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
    fields = {
        "call_id": call_id or str(uuid4()),
        "nome_tool": tool,
        "args": arguments_of(arguments),
        "message_id": message_id,
        "client_id": client,
        "session_id": conversation,
    }
    asked = records.of_fields(TOOLS_CALLS_IN, fields, Identity(tenant, user))
    raise typer.Exit(_verdict(asked, broker, timeout, as_json=as_json))


@app.command()
def result(
    tool: ToolName,
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
    fields = {
        "call_id": call_id or str(uuid4()),
        "nome_tool": tool,
        "args": arguments_of(arguments),
        "sucesso": not failed,
        "report_id": report_id,
        "processo_referencia": process,
        "report_valid": False if invalid else None,
        "valores": arguments_of(value),
        "client_id": client,
        "session_id": conversation,
    }
    send.send_one(records.of_fields(TOOLS_RESULTS_IN, fields, Identity(tenant, user)), broker, as_json=as_json)


@app.command()
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
    fields = {
        "call_id": call_id,
        "approved": yes,
        "usuario_id": user or client,
        "client_id": client,
        "session_id": conversation,
    }
    answer = records.of_fields(TOOLS_CONFIRMATIONS_IN, fields, Identity(tenant, user))
    raise typer.Exit(_verdict(answer, broker, timeout, as_json=as_json))


def arguments_of(texts: Iterable[str] | None) -> dict[str, object]:
    """Values by name from NAME=TEXT and NAME:=JSON. Raises `CommandFailed` for other forms and repeated names."""
    found: dict[str, object] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        as_json = name.endswith(":")
        name = name.removesuffix(":")
        if not equals or not name:
            raise CommandFailed(f"{text!r} is no argument: write NAME=TEXT, or NAME:=JSON for true, 3 or [1]", USAGE)
        if name in found:
            raise CommandFailed(f"the argument {name} is given twice; leave one out", USAGE)
        found[name] = _json(name, value) if as_json else value
    return found


def _json(name: str, value: str) -> object:
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        raise CommandFailed(
            f"{value!r} of the argument {name} is no JSON; for a text write {name}={value}", USAGE
        ) from None


def _verdict(prepared: OutgoingRecord, broker: str | None, seconds: float, *, as_json: bool) -> int:
    """Send a call or an answer and print its verdict; 0 where the call may be executed, 5 where not."""
    raw = clients.run(ask.answer_to(prepared, ask.VERDICT, clients.bootstrap_of(broker), seconds))
    verdict = ToolCallResolved.model_validate_json(raw, extra="ignore")
    if as_json:
        print(raw.decode())
    else:
        out = console()
        out.print(line(0, f"{verdict.tool_name} · call {verdict.call_id}", "bold"))
        for renderable in verdict_lines(verdict):
            out.print(renderable)
    return OK if verdict.status == "resolved" else CHECK
