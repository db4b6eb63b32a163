"""`fathom explain`: one page on what was decided on a message, why, from what, and what was contested since."""

from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated
from urllib.parse import quote

import httpx
import typer

from agents.ports.graph import Asker
from schemas.base import DEFAULT_TENANT, Conversation
from streams import config
from streams.edges.audit.explaining import explanation_of
from streams.edges.cli.arguments import Broker
from streams.edges.cli.up import settings_of
from streams.edges.client import clients
from streams.edges.client.errors import USAGE, CommandFailed
from streams.edges.client.known import UnknownId
from streams.edges.http.tokens import TOKEN_FILE
from streams.explanations.gather import ExplanationQuery
from streams.explanations.pages import FORMATS
from streams.replay.selection import moment
from streams.runtime import data_dir
from streams.runtime.decision_source import of_server

PROBLEM = "application/problem+json"

Seconds = Annotated[float, typer.Option("--seconds", min=0.1, help="How long to search where no graph has it.")]


def explain(
    message_id: Annotated[str, typer.Argument(metavar="MESSAGE_ID", help="The message: its id, as its pack names it.")],
    form: Annotated[str, typer.Option("--format", metavar="text|md|json|html", help="What to print.")] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="TIME", help="As known then, ISO 8601; UTC without a zone.")
    ] = None,
    tenant: Annotated[str | None, typer.Option("--tenant", help="Whose message. Default: the client.")] = None,
    client: Annotated[str, typer.Option("--client", help="The application that asked.")] = "default",
    conversation: Annotated[
        str | None, typer.Option("--conversation", help="Its conversation: finds it faster where no graph is.")
    ] = None,
    seconds: Seconds = 30.0,
    broker: Broker = None,
) -> None:
    """What was decided on a message, why, from what sources, and what was contested since, on one page.

    Read from the log, and from the graph: that of the `fathom up` of the directory, or of FATHOM_NEO4J_URL.
    """
    if form not in FORMATS:
        raise CommandFailed(f"--format is one of {', '.join(FORMATS)}, not {form!r}", USAGE)
    whose = tenant or client
    where = conversation and Conversation(tenant=whose, client_id=client, conversation_id=conversation)
    asked = ExplanationQuery(whose, message_id, Asker(), where or None, time_of(as_of, "--as-of"))
    chosen = "json" if as_json else form
    page = _of_up(config.load(broker=broker).broker, asked, chosen, seconds)
    if page is None:
        graph = of_server(settings_of(broker))
        page = FORMATS[chosen](clients.run(explanation_of(clients.bootstrap_of(broker), asked, graph, seconds)))
    typer.echo(page, nl=False)


def _of_up(address: str, asked: ExplanationQuery, form: str, seconds: float) -> str | None:
    """The page of the `fathom up` of a directory, which alone reads its graph; None where it cannot be asked.

    Raises `UnknownId`.
    """
    home = data_dir.home_of(address)
    up = None if home is None else data_dir.running(home)
    if home is None or up is None or asked.tenant != DEFAULT_TENANT or asked.where is not None:
        return None
    query = {"format": form, **({"as_of": asked.as_of.isoformat()} if asked.as_of else {})}
    url = f"http://{up.http}/explain/{quote(asked.message_id, safe='')}"
    try:
        token = (home / TOKEN_FILE).read_text().strip()
        answer = httpx.get(url, params=query, headers={"authorization": f"Bearer {token}"}, timeout=seconds)
    except (httpx.HTTPError, OSError):
        return None  # a worker has no interface, and the log may be read without one
    if answer.status_code == HTTPStatus.NOT_FOUND and answer.headers.get("content-type") == PROBLEM:
        raise UnknownId(str(answer.json()["detail"]))
    return answer.text if answer.is_success else None


def time_of(stated: str | None, option: str) -> datetime | None:
    """The time of an option; raises `CommandFailed`."""
    if stated is None:
        return None
    try:
        return datetime.fromtimestamp(moment(stated) / 1000, UTC)
    except (ValueError, OverflowError) as error:
        raise CommandFailed(f"{option}: {error}", USAGE) from None
