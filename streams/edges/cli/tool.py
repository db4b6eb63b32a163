"""`fathom tool`: a tool call and its verdict, a tool's result, a user's confirmation."""

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Annotated
from uuid import uuid4

import orjson
import typer
from typing_extensions import TypedDict

from agents.core.language.messages import LANGUAGES
from schemas.base import Conversation
from schemas.envelope import Received
from schemas.tool_policy import Contract
from schemas.tools import ToolCallResolved
from schemas.topics import TOOLS_CALLS_IN, TOOLS_CALLS_OUT, TOOLS_CONFIRMATIONS_IN, TOOLS_RESULTS_IN
from streams import config, policies
from streams.edges.cli.arguments import Broker, Client, ConversationId, Json, Tenant, User
from streams.edges.client import ask, clients, log_lookup, records, send
from streams.edges.client.console_output import console
from streams.edges.client.console_pack import line
from streams.edges.client.console_tools import verdict_lines
from streams.edges.client.errors import CHECK, OK, USAGE, CommandFailed
from streams.edges.client.in_english import verdict_of
from streams.edges.client.records import Identity, OutgoingRecord
from streams.edges.client.standard_output import print_json

app = typer.Typer(no_args_is_help=True)


class ToolListed(TypedDict):
    """A tool of the policy; of each argument whether it is required."""

    tool: str
    sensitive: bool
    arguments: dict[str, bool]


def _known_language(context: typer.Context, parameter: typer.CallbackParam, told: str | None) -> str | None:
    """One of the languages that texts are in; None for another locale. Raises `BadParameter` for another --lang."""
    lang = (told or "").lower()[:2]
    if lang in LANGUAGES:
        return lang
    if (source := context.get_parameter_source(parameter.name or "")) and source.name == "COMMANDLINE":
        raise typer.BadParameter(f"{told!r} is no language that texts are in; write pt or en")
    return None


ToolName = Annotated[str, typer.Argument(metavar="TOOL", help="The tool, as its contract names it.")]
Arguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME=TEXT]...", help="Its arguments; NAME:=JSON for what is no text."),
]
CallId = Annotated[str | None, typer.Option("--call-id", help="Default: a new one.")]
Lang = Annotated[
    str | None,
    typer.Option(
        "--lang", metavar="pt|en", envvar=["LC_ALL", "LC_MESSAGES", "LANG"], show_envvar=False,
        callback=_known_language, help="Of the answer, where the conversation has none yet. Default: the locale's.",
    ),
]  # fmt: skip
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
    lang: Lang = None,
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
    asked = records.of_fields(TOOLS_CALLS_IN, fields, Identity(tenant, user, locale=lang))
    raise typer.Exit(_verdict(asked, broker, timeout, as_json=as_json))


@app.command(name="list")
def list_tools(as_json: Json = False) -> None:
    """The tools of the policy that a gate with these settings has, and what each call needs."""
    tools = policies.tool_policy(config.load().tool_policy).tools
    for name, contract in sorted(tools.items()):
        arguments = {each: rule.required for each, rule in contract.arguments.items()}
        if as_json:
            print_json(ToolListed(tool=name, sensitive=contract.sensitive, arguments=arguments))
            continue
        shown = " ".join(each if required else f"[{each}]" for each, required in arguments.items())
        print("  ".join(filter(None, (name, shown, _asks(contract)))))


def _asks(contract: Contract) -> str:
    """When the user is asked first; empty for never."""
    if contract.sensitive:
        return "(asks the user first)"
    values = ", ".join(f"{name}={each}" for name, some in contract.confirm_values.items() for each in some)
    return f"(asks the user first for {values})" if values else ""


@app.command()
def result(
    tool: ToolName,
    arguments: Arguments = None,
    call_id: CallId = None,
    report_id: Annotated[str | None, typer.Option("--report-id", help="The report it made or used.")] = None,
    process: Annotated[str | None, typer.Option("--process", help="The case it was about.")] = None,
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
    waits = partial(_check_waits, where=Conversation.model_construct(
        tenant=tenant or client, client_id=client, conversation_id=conversation), call_id=call_id)  # fmt: skip
    raise typer.Exit(_verdict(answer, broker, timeout, as_json=as_json, names=waits))


async def _check_waits(bootstrap: str, where: Conversation, call_id: str) -> None:
    """Raises `CommandFailed` for a call of which the log has no preview."""

    def fits(one: Received[ToolCallResolved]) -> bool:
        verdict = one.event
        return verdict.call_id == call_id and one.key == where.key() and verdict.preview is not None

    found, whole = await log_lookup.search(bootstrap, TOOLS_CALLS_OUT, where.tenant, call_id, fits, log_lookup.SECONDS)
    if whole and not found:
        raise log_lookup.UnknownId(
            f"no call {call_id!r} waits for a yes in conversation {where.conversation_id!r} of client "
            f"{where.client_id!r}; take the id of the call from its preview, and name its conversation"
        )


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


def _verdict(
    prepared: OutgoingRecord,
    broker: str | None,
    seconds: float,
    *,
    as_json: bool,
    names: Callable[[str], Awaitable[None]] | None = None,
) -> int:
    """Send a call or an answer and print its verdict; 0 where the call may be executed, 5 where not."""
    bootstrap = clients.bootstrap_of(broker, writes=True)

    async def story() -> bytes:
        if names is not None:
            await names(bootstrap)
        return await ask.answer_to(prepared, ask.VERDICT, bootstrap, seconds)

    raw = clients.run(story())
    verdict = ToolCallResolved.model_validate_json(raw, extra="ignore")
    if as_json:
        print_json(verdict_of(verdict))
    else:
        out = console()
        out.print(line(0, f"{verdict.tool_name} · call {verdict.call_id}", "bold"))
        for renderable in verdict_lines(verdict):
            out.print(renderable)
    return OK if verdict.status == "resolved" else CHECK
