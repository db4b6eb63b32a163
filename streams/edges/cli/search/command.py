"""`fathom search`: what memory has on a query, which is not remembered."""

from typing import Annotated, Any

import typer
from pydantic import ValidationError

from schemas.retrieval import SearchMade
from streams.edges.cli.arguments import Broker, Client, Json, Tenant, User, time_of
from streams.edges.client import clients
from streams.edges.client.arguments import wrong
from streams.edges.client.console_output import console, printable
from streams.edges.client.console_pack import line
from streams.edges.client.errors import USAGE, CommandFailed
from streams.edges.client.records import Identity
from streams.edges.client.send import text_of
from streams.edges.operations import search as searches
from streams.edges.operations.search import SearchWanted

OPTIONS = {"document_id": "document", "conversation_id": "conversation"}


def search(
    query: Annotated[str, typer.Argument(help="What to search for; - reads it from stdin.")],
    limit: Annotated[int, typer.Option("--limit", help="The most results, 1 to 50.")] = 10,
    kind: Annotated[
        str | None,
        typer.Option("--kind", metavar="KIND", help="document, turn, summary, claim, event or process."),
    ] = None,
    document: Annotated[str | None, typer.Option("--document", help="Only of this document.")] = None,
    conversation: Annotated[str | None, typer.Option("--conversation", help="Only of this conversation.")] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="Recorded then or later.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Recorded then or before.")] = None,
    broker: Broker = None,
    tenant: Tenant = None,
    client: Client = "default",
    user: User = None,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds to wait.")] = 10.0,
    as_json: Json = False,
) -> None:
    """Search memory without saying anything: what a pack of the same question would have."""
    wanted = _wanted(
        query=text_of(query), limit=limit, kind=kind, document_id=document, conversation_id=conversation,
        since=time_of(since, "--since"), until=time_of(until, "--until"),
    )  # fmt: skip
    prepared = searches.record_of(wanted, Identity(tenant, user), client)
    bootstrap = clients.bootstrap_of(broker, writes=True)
    raw = clients.run(searches.found(prepared, bootstrap, timeout))
    if as_json:
        print(raw.decode())
        return
    _show(SearchMade.model_validate_json(raw, extra="ignore"))


def _wanted(**stated: Any) -> SearchWanted:
    """The search; raises `CommandFailed` for one that cannot be made."""
    try:
        return SearchWanted(**stated)
    except ValidationError as error:
        found = [
            {**each, "loc": tuple(OPTIONS.get(str(part), part) for part in each["loc"])} for each in error.errors()
        ]
        raise CommandFailed(f"this is no search: {wrong(found, SearchWanted.model_fields, 'field')}", USAGE) from None


def _show(made: SearchMade) -> None:
    out = console()
    if not made.results:
        why = f"; {', '.join(made.missing)} did not answer in time" if made.missing else ""
        out.print(line(0, f"nothing was found{why}"))
        return
    for number, each in enumerate(made.results, 1):
        where = each.document_id or each.conversation_id or each.message_id or each.id
        out.print(line(0, printable(f"{number}. {each.title or each.kind}")), style="bold")
        about = f"{each.kind} {where}, {each.score:.2f}, {each.recorded_at:%Y-%m-%d}: {each.reason}"
        for text in (about, *each.text.splitlines()):
            out.print(line(1, printable(text)))
    if made.missing:
        out.print(line(0, f"did not answer in time: {', '.join(made.missing)}"))
