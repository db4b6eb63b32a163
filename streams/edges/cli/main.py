"""The `fathom` command: its verbs and their options. What a verb does is imported when it is called.

stdout carries data, stderr everything else. Exit codes: 0 ok, 1 failure, 2 usage, 3 configuration, 4 something we need
is down, 5 a check failed, 130 interrupted.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from streams.edges.cli.arguments import Broker, Client, ConversationId, Json, Tenant, User
from streams.edges.cli.judging import assess, eval_app
from streams.edges.cli.mcp import mcp
from streams.edges.cli.serve import serve
from streams.edges.cli.tools import tool_app
from streams.edges.cli.users import correct, feedback, profile_app
from streams.edges.client.errors import OK, ExitHandler
from streams.edges.client.options import AskOptions, Demo, Ingest, Send, Tail
from streams.edges.client.version import version

EPILOG = (
    "Exit codes: 0 ok, 1 failure, 2 usage, 3 configuration, 4 something needed is down, 5 a check failed, "
    "130 interrupted. Settings are FATHOM_… variables: `fathom config show` lists them."
)

app = typer.Typer(
    name="fathom",
    help="Decide how much context a chat assistant needs, and deliver exactly that.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
topics_app = typer.Typer(help="Topics as they should be against topics as they are.", no_args_is_help=True)
config_app = typer.Typer(help="Settings.", no_args_is_help=True)
app.add_typer(topics_app, name="topics")
app.add_typer(config_app, name="config")
app.add_typer(profile_app, name="profile")
app.add_typer(eval_app, name="eval")
app.add_typer(tool_app, name="tool")
app.command()(feedback)
app.command()(correct)
app.command()(assess)
app.command()(mcp)
app.command()(serve)

Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port of the embedded broker; 0 picks a free one.")]


def run(arguments: Sequence[str]) -> int:
    """Run one command line; ends the process with the command's exit code where that is not 0."""
    with ExitHandler():
        app(args=list(arguments), prog_name="fathom")
    return OK


def _say_version(value: bool) -> None:
    if value:
        typer.echo(f"fathom {version()}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Say the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def up(
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="Where broker and stores keep their files. [.fathom]")
    ] = None,
    port: Port = 9092,
    _: Json = False,
) -> None:
    """All stages with a broker and stores of their own, in one directory; no server needed.

    Prints one JSON line when everything consumes. Ctrl-C ends it in order; twice, at once.
    """
    from streams.edges.cli import up as cli_up

    raise typer.Exit(cli_up.up(data, port))


@app.command()
def worker(
    groups: Annotated[list[str] | None, typer.Argument(metavar="[GROUP]...", help="Groups or stages; all.")] = None,
    port: Port = 9092,
    _: Json = False,
) -> None:
    """Some stages, or all, on the broker of FATHOM_BROKER; start as many as there are partitions."""
    from streams.edges.cli import up as cli_up

    raise typer.Exit(cli_up.worker(groups or [], port))


@app.command()
def send(
    text: Annotated[str | None, typer.Argument(help="What is said; - reads it from stdin.")] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="F.jsonl", help="One message per line, of either shape; - is stdin."),
    ] = None,
    document: Annotated[
        Path | None,
        typer.Option("--document", metavar="F", help="Text or Markdown to remember; .json(l) with all fields."),
    ] = None,
    broker: Broker = None,
    tenant: Tenant = None,
    client: Client = "default",
    conversation: ConversationId = "default",
    user: User = None,
    role: Annotated[str, typer.Option("--role", help="user, assistant or system.")] = "user",
    answers: Annotated[str | None, typer.Option("--answers", help="The message an assistant's turn answers.")] = None,
    message_id: Annotated[str | None, typer.Option("--message-id", help="Default: a new one.")] = None,
    title: Annotated[str | None, typer.Option("--title", help="Of a document. Default: its first heading.")] = None,
    access_level: Annotated[
        str, typer.Option("--access-level", help="Of a document: public, internal, restricted or confidential.")
    ] = "public",
    as_json: Json = False,
) -> None:
    """Send a turn, a file of turns, or a document."""
    if sum(given is not None for given in (text, file, document)) != 1:
        raise typer.BadParameter("give one of TEXT, --file or --document")
    from streams.edges.client import send as cli_send

    wanted = Send(
        text, file, document, tenant, client, conversation, user, role, answers, message_id, title, access_level
    )
    cli_send.send(wanted, broker, as_json=as_json)


@app.command()
def ingest(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files, folders, patterns; - is stdin.")],
    broker: Broker = None,
    tenant: Tenant = None,
    client: Client = "default",
    access_level: Annotated[
        str, typer.Option("--access", help="Who may see them: public, internal, restricted or confidential.")
    ] = "public",
    lang: Annotated[str | None, typer.Option("--lang", help="pt or en. Default: as each is written.")] = None,
    title: Annotated[
        str | None, typer.Option("--title", help="Default: the first heading, or the file's name.")
    ] = None,
    document_id: Annotated[
        str | None, typer.Option("--id", help="Of one document. Default: made of its path and tenant.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only say what would be sent.")] = False,
    as_json: Json = False,
) -> None:
    """Remember documents: text, Markdown, HTML, PDF, and .json(l) with all fields.

    Sent again, a document replaces its earlier version; what has not changed is not remembered twice.
    """
    from streams.edges.cli import ingest as cli_ingest

    wanted = Ingest(tuple(paths), tenant, client, access_level, lang, title, document_id, dry_run)
    raise typer.Exit(cli_ingest.ingest(wanted, broker, as_json=as_json))


@app.command()
def ask(
    text: Annotated[str, typer.Argument(help="The question; - reads it from stdin.")],
    broker: Broker = None,
    tenant: Tenant = None,
    client: Client = "default",
    conversation: ConversationId = "default",
    user: User = None,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds to wait for the pack.")] = 10.0,
    as_json: Json = False,
) -> None:
    """Send a question, wait for its context pack, show it."""
    from streams.edges.client import ask as cli_ask

    cli_ask.ask(AskOptions(text, tenant, client, conversation, user, timeout), broker, as_json=as_json)


@app.command()
def tail(
    topic: Annotated[str, typer.Argument(help="The topic, as `fathom topics plan` names it.")],
    broker: Broker = None,
    from_beginning: Annotated[bool, typer.Option("--from-beginning", help="Also what is there already.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="End after so many records.")] = None,
    follow: Annotated[bool, typer.Option("--follow/--no-follow", help="Wait for more at the end of the log.")] = True,
    as_json: Json = False,
) -> None:
    """Show the records of a topic as they come, decoded."""
    from streams.edges.client import tail as cli_tail

    cli_tail.tail(Tail(topic, from_beginning, limit, follow), broker, as_json=as_json)


@app.command()
def replay(
    mode: Annotated[
        str, typer.Option("--mode", help="exact: packs from recorded partial packs; rebuild: stores from the log.")
    ],
    to_earliest: Annotated[
        bool, typer.Option("--to-earliest", help="From the beginning of the log. [default]")
    ] = False,
    to_datetime: Annotated[
        str | None, typer.Option("--to-datetime", metavar="TIME", help="From a time on, ISO 8601; UTC without a zone.")
    ] = None,
    by_duration: Annotated[
        str | None, typer.Option("--by-duration", metavar="PnDTnHnMnS", help="From so long ago on; also 90m.")
    ] = None,
    tenant: Annotated[str | None, typer.Option("--tenant", help="Only this tenant's.")] = None,
    conversation: Annotated[str | None, typer.Option("--conversation", help="Only this conversation's.")] = None,
    stores: Annotated[str, typer.Option("--stores", help="Of a rebuild: what to fill.")] = "redis,graph,index",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done. [default]")] = False,
    execute: Annotated[bool, typer.Option("--execute", help="Do it.")] = False,
    replay_id: Annotated[
        str | None, typer.Option("--id", help="Names the replay's topics. Default: a new one.")
    ] = None,
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """Read the log again: packs to a topic of their own, or memory into its stores. Workers are not touched.

    Exits with 5 where packs come out otherwise than they were recorded, or a record cannot be stored.
    """
    from streams.edges.cli import replay as cli_replay

    wanted = cli_replay.wanted(
        mode,
        since=(to_earliest, to_datetime, by_duration),
        whose=(tenant, conversation),
        stores=stores,
        execute=(dry_run, execute),
        replay_id=replay_id,
        as_json=as_json,
    )
    raise typer.Exit(cli_replay.replay(wanted, broker))


@app.command()
def doctor(
    reconcile: Annotated[bool, typer.Option("--reconcile", help="Hold graph and index against the log.")] = False,
    repair: Annotated[bool, typer.Option("--repair", help="Write what is missing again from the log.")] = False,
    remove_orphans: Annotated[
        bool, typer.Option("--remove-orphans", help="Remove from graph and index what the log does not know.")
    ] = False,
    tenant: Annotated[str | None, typer.Option("--tenant", help="Reconcile only this tenant's.")] = None,
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """Whether everything that is needed answers and fits; with --reconcile, whether the stores hold what the log says.

    Exits with 4 where something does not answer, with 5 where something is wrong.
    """
    from streams.edges.cli import doctor as cli_doctor

    asked = cli_doctor.Asked(reconcile or repair or remove_orphans, repair, remove_orphans, tenant, as_json)
    raise typer.Exit(cli_doctor.doctor(asked, broker))


@topics_app.command("plan")
def topics_plan(broker: Broker = None, as_json: Json = False) -> None:
    """What `apply` would do, setting by setting. Exits with 5 when there is anything to do."""
    from streams.edges.cli import topics

    raise typer.Exit(topics.plan(broker, as_json=as_json))


@topics_app.command("apply")
def topics_apply(
    broker: Broker = None,
    allow_destructive: Annotated[
        list[str] | None,
        typer.Option("--allow-destructive", metavar="TOPIC", help="Do to this topic also what loses something."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Create and change topics as planned; what would lose records or their order is refused, with exit code 5."""
    from streams.edges.cli import topics

    raise typer.Exit(topics.apply(broker, allow_destructive or [], as_json=as_json))


@config_app.command("show")
def config_show(as_json: Json = False) -> None:
    """Every setting, its value and where it comes from; secrets are not shown."""
    from streams.edges.cli import config

    config.show(as_json=as_json)


@app.command()
def demo(
    broker: Broker = None,
    pause: Annotated[float, typer.Option("--pause", min=0, help="Seconds between messages, to read along.")] = 0.0,
    as_json: Json = False,
) -> None:
    """Play a conversation through everything, and show what was decided and delivered, and why."""
    from streams.edges.cli.demo import run as cli_demo

    cli_demo.demo(Demo(pause), broker, as_json=as_json)


def commands() -> dict[str, Any]:
    """The commands by name, for completion and tests."""
    return dict(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
