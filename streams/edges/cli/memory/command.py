"""`fathom memory`: the single facts that are remembered of a user, listed, searched, added, corrected, taken back."""

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote

import typer

from streams.edges.cli.arguments import Broker, Json
from streams.edges.client.console_output import printable
from streams.edges.client.errors import USAGE, CommandFailed
from streams.edges.client.standard_output import print_json
from streams.edges.operations.up_http import answer_of_up

User = Annotated[str, typer.Option("--user", help="Whose memory.")]
Id = Annotated[str, typer.Argument(metavar="MEMORY_ID", help="The fact: its id in the list.")]
Reason = Annotated[str, typer.Option("--reason", help="Why, for its history.")]
All = Annotated[bool, typer.Option("--all", help="Also what was replaced or taken back.")]
Limit = Annotated[int, typer.Option("--limit", min=1, max=200, help="How many.")]
After = Annotated[str | None, typer.Option("--after", help="Go on behind a page: what it named last.")]

app = typer.Typer(rich_markup_mode=None)


@app.command("list")
def list_(
    user: User = "default", every: All = False, limit: Limit = 50, after: After = None, broker: Broker = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """The facts of a user, newest first."""
    _page("", user, every, limit, after, broker, as_json)


@app.command()
def search(
    words: Annotated[str, typer.Argument(metavar="WORDS", help="All of them are in the fact, in any order.")],
    user: User = "default", every: All = False, limit: Limit = 50, after: After = None, broker: Broker = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """The facts of a user that have some words, newest first."""
    _page(words, user, every, limit, after, broker, as_json)


@app.command()
def show(memory_id: Id, broker: Broker = None, as_json: Json = False) -> None:
    """One fact with its history: other values of the same thing, and edits."""
    found = _called("GET", memory_id, {}, broker)
    if as_json:
        print_json(found)
        return
    known = {each["memory_id"]: each["value"] for each in (found, *found["history"])}
    print(_line(found, known))
    for each in found["history"]:
        print(f"  {'before' if each['said_at'] <= found['said_at'] else 'after'}: {_line(each, known)}")
    for each in found["edits"]:
        print(printable(f"  {each['at'][:10]} {each['kind']} by {each['user_id']}: {each['text']}"))


@app.command()
def add(
    text: Annotated[str, typer.Argument(help="As its user would say it: My locker code is 7781.")],
    user: User = "default",
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """Remember a fact of a user, as a turn in a conversation of its own."""
    if not text.strip():
        raise CommandFailed("there is nothing to remember: the text is empty", USAGE)
    made = _called("POST", None, {}, broker, {"text": text}, user)
    if as_json:
        print_json(made)
    else:
        print(f"remembered, as message {made['message_id']}")


@app.command()
def correct(
    memory_id: Id,
    value: Annotated[str, typer.Argument(help="The value that is right.")],
    reason: Reason = "",
    broker: Broker = None,
    as_json: Json = False,
) -> None:
    """Give a fact another value; the old one stays in its history."""
    _edited(_called("PATCH", memory_id, {}, broker, {"value": value, "reason": reason}), "corrected", as_json)


@app.command()
def confirm(memory_id: Id, reason: Reason = "", broker: Broker = None, as_json: Json = False) -> None:
    """Say that a fact holds still, whatever was said against it."""
    _edited(_called("PATCH", memory_id, {}, broker, {"confirm": True, "reason": reason}), "confirmed", as_json)


@app.command()
def delete(memory_id: Id, reason: Reason = "", broker: Broker = None, as_json: Json = False) -> None:
    """Take a fact back: neither it nor the turns that stated it are in any later pack.

    The log keeps them; `fathom forget` erases a conversation.
    """
    _edited(_called("DELETE", memory_id, {"reason": reason}, broker), "taken back", as_json)


def _page(words: str, user: str, every: bool, limit: int, after: str | None, broker: str | None, as_json: bool) -> None:
    query = {"user": user, "q": words, "status": "all" if every else "current", "limit": limit}
    found = _called("GET", None, query | ({"after": after} if after else {}), broker)
    if as_json:
        print_json(found)
        return
    nothing = f"nothing is remembered of user {user}" + (f" that has {words!r}" if words else "")
    known = {each["memory_id"]: each["value"] for each in found["memories"]}
    print("\n".join(_line(each, known) for each in found["memories"]) or printable(nothing))
    if "next" in found:
        print(f"more: --after {found['next']}")


def _line(found: Mapping[str, Any], known: Mapping[str, str]) -> str:
    """A fact in one line; others by their values where these are known."""
    by = f" by {', '.join(known.get(each, each) for each in found['by'])}" if "by" in found else ""
    status = f"{found['status'].replace('_', ' ')}{by}"
    said = f"{found['author']} {found['said_at'][:10]}"
    return printable(f"{found['memory_id']}  {found['subject']}: {found['value']}  ({said}, {status})  {found['text']}")


def _edited(made: Mapping[str, Any], how: str, as_json: bool) -> None:
    if as_json:
        print_json(made)
    else:
        print(f"{how}: {', '.join(made['memory_ids'])}")


def _called(
    method: str,
    memory_id: str | None,
    query: Mapping[str, object],
    broker: str | None,
    body: Any = None,
    user: str | None = None,
) -> Any:
    """The answer of the `fathom up` of the directory; raises `CommandFailed`."""
    path = "/memories" if memory_id is None else f"/memories/{quote(memory_id, safe='')}"
    return answer_of_up(broker, method, path, query, body=body, user=user)
