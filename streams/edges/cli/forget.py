"""`fathom forget`: documents to be offered no more, and conversations to be erased."""

from typing import Annotated

import orjson
import typer

from schemas.base import DEFAULT_TENANT, Conversation
from schemas.topics import DOCUMENTS_IN
from streams.edges.cli.arguments import Broker, Json
from streams.edges.client import clients, forgetting, known, records, send
from streams.edges.client.errors import USAGE, CommandFailed
from streams.edges.client.forgetting import Counts
from streams.edges.client.records import Identity

WAIT_S = 30.0


def forget(
    document: Annotated[
        str | None, typer.Argument(metavar="[DOCUMENT]", help="The document's id, as ingesting it said.")
    ] = None,
    conversation: Annotated[
        str | None, typer.Option("--conversation", help="Erase this conversation, instead of a document.")
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", help="Erase every conversation this user spoke in; reads the whole log.")
    ] = None,
    client: Annotated[str, typer.Option("--client", help="Of the conversation: the application.")] = "default",
    broker: Broker = None,
    tenant: Annotated[
        str | None, typer.Option("--tenant", help="Whose memory. Default: default; of a conversation, the client.")
    ] = None,
    by: Annotated[str | None, typer.Option("--by", help="Who wants it, for audit. Default: the client.")] = None,
    as_json: Json = False,
) -> None:
    """Forget a document, or erase a conversation or all of a user's: nothing of it is offered from now on."""
    if [document, conversation, user].count(None) != 2:
        raise CommandFailed(
            "name what to forget: a document's id, or --conversation ID, or --user ID, and only one of them", USAGE
        )
    bootstrap = clients.bootstrap_of(broker, writes=True)
    if document is not None:
        clients.run(known.check_document(bootstrap, tenant or DEFAULT_TENANT, document))
        prepared = records.of_fields(DOCUMENTS_IN, {"document_id": document, "deleted": True}, Identity(tenant))
        send.send_one(prepared, bootstrap, as_json=as_json)
        return
    whose = tenant or (client if user is None else DEFAULT_TENANT)
    erased = clients.run(_forget(bootstrap, whose, conversation, user, client, by))
    print(_as_json(erased) if as_json else _as_text(erased, user))


async def _forget(
    bootstrap: str, tenant: str, conversation: str | None, user: str | None, client: str, by: str | None
) -> dict[Conversation, Counts]:
    """How many of what was erased of each conversation, once every store has erased it."""
    if user is not None:
        wanted = await forgetting.conversations_of(bootstrap, tenant, user)
    else:
        where = Conversation(tenant=tenant, client_id=client, conversation_id=conversation or "")
        await known.check_conversation(bootstrap, where)
        wanted = [where]
    async with forgetting.following(bootstrap) as erasing:
        return await erasing.wait(
            await forgetting.sent(bootstrap, {each: forgetting.wish(each) for each in wanted}, by), WAIT_S
        )


def _as_text(erased: dict[Conversation, Counts], user: str | None) -> str:
    if not erased:
        return f"{user} spoke in no conversation that is not forgotten"
    return "\n".join(f"erased {where.conversation_id}: {said(counts)}" for where, counts in erased.items())


def said(counts: Counts) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items() if number) or "nothing was left of it"


def _as_json(erased: dict[Conversation, Counts]) -> str:
    found = [{**where.model_dump(), "erased": dict(counts)} for where, counts in erased.items()]
    return orjson.dumps({"conversations": found}).decode()
