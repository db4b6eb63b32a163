"""`fathom explain`: one page on what was decided on a message, why, from what, and what was contested since."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated
from urllib.parse import quote

import typer

from schemas.base import DEFAULT_TENANT, Conversation
from streams import config
from streams.edges.cli.arguments import Broker, time_of
from streams.edges.client.errors import FAILURE, USAGE, CommandFailed
from streams.edges.operations.up_http import call_up

FORMS = ("text", "md", "json", "html")

Seconds = Annotated[float, typer.Option("--seconds", min=0.1, help="How long to search where no graph has it.")]


def explain(
    message_id: Annotated[str, typer.Argument(metavar="MESSAGE_ID", help="The message: its id, as its pack names it.")],
    form: Annotated[str, typer.Option("--format", metavar="text|md|json|html", help="What to print.")] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="TIME", help="As known then, ISO 8601; UTC without a zone.")
    ] = None,
    tenant: Annotated[str | None, typer.Option("--tenant", help="Whose message. Default: the client.")] = None,
    client: Annotated[
        str, typer.Option("--client", help="The application that asked; the tenant, too, unless --tenant says one.")
    ] = "default",
    conversation: Annotated[
        str | None, typer.Option("--conversation", help="Its conversation: finds it faster where no graph is.")
    ] = None,
    seconds: Seconds = 30.0,
    broker: Broker = None,
) -> None:
    """What was decided on a message, why, from what sources, and what was contested since, on one page.

    Read from the log, and from the graph: that of the `fathom up` of the directory, or of FATHOM_NEO4J_URL.
    """
    if form not in FORMS:
        raise CommandFailed(f"--format is one of {', '.join(FORMS)}, not {form!r}", USAGE)
    whose, then, chosen = tenant or client, time_of(as_of, "--as-of"), "json" if as_json else form
    page = None
    if whose == DEFAULT_TENANT and conversation is None:
        page = _of_up(config.load(broker=broker).broker, message_id, then, chosen, seconds)
    if page is None:
        where = conversation and Conversation(tenant=whose, client_id=client, conversation_id=conversation)
        page = _of_log(whose, message_id, where or None, then, chosen, seconds, broker)
    typer.echo(page, nl=False)


def _of_up(address: str, message_id: str, as_of: datetime | None, form: str, seconds: float) -> str | None:
    """The page of the `fathom up` of a directory, which alone reads its graph; None where it cannot be asked.

    Raises `CommandFailed` for an unknown message.
    """
    query = {"format": form, **({"as_of": as_of.isoformat()} if as_of else {})}
    reply = call_up(address, "GET", f"/explain/{quote(message_id, safe='')}", query, seconds=seconds)
    if reply is None:
        return None  # a worker has no interface, and the log may be read without one
    if reply.status == HTTPStatus.NOT_FOUND and reply.sentence:
        raise CommandFailed(reply.sentence, FAILURE)
    return reply.body.decode() if reply.status == HTTPStatus.OK else None


def _of_log(
    tenant: str,
    message_id: str,
    where: Conversation | None,
    as_of: datetime | None,
    form: str,
    seconds: float,
    broker: str | None,
) -> str:
    """The page by the log, and by the graph's server where there is one; raises `UnknownId`."""
    from agents.ports.graph import Asker
    from streams.edges.audit.explaining import explanation_of
    from streams.edges.cli.up import settings_of
    from streams.edges.client import clients
    from streams.explanations.locating import ExplanationQuery
    from streams.explanations.pages import FORMATS
    from streams.runtime.decision_source import of_server

    asked = ExplanationQuery(tenant, message_id, Asker(), where, as_of)
    graph = of_server(settings_of(broker))
    return FORMATS[form](clients.run(explanation_of(clients.bootstrap_of(broker), asked, graph, seconds)))
