"""`fathom list`: the conversations, users and documents of the directory's tenant, and where a document was used."""

from typing import Annotated, Any
from urllib.parse import quote

import typer

from streams.edges.cli.arguments import Broker, Json
from streams.edges.client.console_output import printable
from streams.edges.client.standard_output import print_json
from streams.edges.operations.up_http import answer_of_up

Words = Annotated[str, typer.Argument(metavar="[WORDS]", help="Only those whose title or id has all of them.")]
Days = Annotated[int, typer.Option("--days", min=1, max=3_660, help="Used in so many days.")]
Limit = Annotated[int, typer.Option("--limit", min=1, max=200, help="How many.")]
Offset = Annotated[int, typer.Option("--offset", min=0, max=10_000, help="How many to pass over.")]

app = typer.Typer(rich_markup_mode=None)


@app.command()
def conversations(
    words: Words = "", days: Days = 30, limit: Limit = 50, offset: Offset = 0, broker: Broker = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """The conversations of the last days, that of the last use first."""
    query = {"q": words, "days": days, "limit": limit, "offset": offset}
    found = answer_of_up(broker, "GET", "/conversations", query)
    _show(found, "conversations", "{last_at:.16}  {conversation_id}  questions: {questions}  {title}", as_json)


@app.command()
def users(
    words: Words = "", days: Days = 30, limit: Limit = 50, offset: Offset = 0, broker: Broker = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """The users of the last days, that of the last use first."""
    query = {"q": words, "days": days, "limit": limit, "offset": offset}
    found = answer_of_up(broker, "GET", "/users", query)
    _show(found, "users", "{last_at:.16}  {user_id}  questions: {questions}, conversations: {conversations}", as_json)


@app.command()
def documents(
    words: Words = "", limit: Limit = 50, offset: Offset = 0, broker: Broker = None, as_json: Json = False
) -> None:
    """The documents, the newest first."""
    found = answer_of_up(broker, "GET", "/documents", {"q": words, "limit": limit, "offset": offset})
    shape = "{recorded_at:.16}  {document_id}  passages: {passages}{hidden}  {title}"
    _show(found, "documents", shape, as_json)


@app.command()
def uses(
    document_id: Annotated[str, typer.Argument(help="The document: its id in the list.")],
    limit: Limit = 50,
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """The packs of the last 30 days that a document is in, the newest first."""
    found = answer_of_up(broker, "GET", f"/documents/{quote(document_id, safe='')}/uses", {"limit": limit})
    shape = "{at:.16}  {message_id}  passages: {passages}, tokens: {tokens}  in {conversation_id}"
    _show(found, "uses", shape, as_json)


def _show(found: dict[str, Any], what: str, shape: str, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    for each in found[what]:
        hidden = ", quarantined" if each.get("quarantined") else ""
        print(printable(shape.format_map({"title": "", "hidden": hidden, **each})))
    if not found[what]:
        print("none of them" if found.get("total") else f"no {what}")
    elif len(found[what]) < found.get("total", 0):
        print(f"{found['total']} in all: --offset shows more")
