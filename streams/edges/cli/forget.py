"""`fathom forget`: documents to be offered no more, and conversations to be erased."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from typing_extensions import TypedDict

from schemas.base import DEFAULT_TENANT, Conversation
from schemas.topics import DOCUMENTS_IN
from streams.edges.cli.arguments import Broker, Json
from streams.edges.client import clients, forgetting, log_lookup, records, send
from streams.edges.client.errors import USAGE, CommandFailed
from streams.edges.client.forgetting import Counts
from streams.edges.client.log_lookup import UnknownId
from streams.edges.client.records import Identity
from streams.edges.client.standard_output import print_json

WAIT_S = 30.0
NOTHING: Counts = {}


class DocumentMeant(TypedDict):
    """The document that would be forgotten."""

    dry_run: bool
    document_id: str


class ErasedConversation(TypedDict):
    """A conversation, and how many of what was erased of it."""

    tenant: str
    client_id: str
    conversation_id: str
    erased: dict[str, int]


class ConversationsErased(TypedDict):
    """The conversations that were erased, or would be."""

    dry_run: bool
    conversations: list[ErasedConversation]


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
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would do, and do nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Forget a document, or erase a conversation or all of a user's: nothing of it is offered from now on."""
    if [document, conversation, user].count(None) != 2:
        raise CommandFailed(
            "name what to forget: a document's id, or --conversation ID, or --user ID, and only one of them", USAGE
        )
    bootstrap = clients.bootstrap_of(broker, writes=not dry_run)
    if document is not None:
        _forget_document(bootstrap, tenant, document, dry_run=dry_run, as_json=as_json)
        return
    whose = tenant or (client if user is None else DEFAULT_TENANT)
    named = Conversation(tenant=whose, client_id=client, conversation_id=conversation) if conversation else None
    wanted = clients.run(_wanted(bootstrap, whose, named, user))
    erased = dict.fromkeys(wanted, NOTHING) if dry_run else clients.run(_forget(bootstrap, wanted, by))
    if as_json:
        print_json(ConversationsErased(dry_run=dry_run, conversations=rows(erased)))
    else:
        print(_as_text(erased, dry_run=dry_run))


def _forget_document(bootstrap: str, tenant: str | None, document: str, *, dry_run: bool, as_json: bool) -> None:
    clients.run(log_lookup.check_document(bootstrap, tenant or DEFAULT_TENANT, document))
    if not dry_run:
        prepared = records.of_fields(DOCUMENTS_IN, {"document_id": document, "deleted": True}, Identity(tenant))
        send.send_one(prepared, bootstrap, as_json=as_json)
    elif as_json:
        print_json(DocumentMeant(dry_run=True, document_id=document))
    else:
        print(f"would forget {document}")


async def _wanted(bootstrap: str, tenant: str, named: Conversation | None, user: str | None) -> list[Conversation]:
    """The conversations that are meant; raises `UnknownId` where there are none."""
    if named is not None:
        try:
            await log_lookup.check_conversation(bootstrap, named)
        except UnknownId as unknown:
            raise UnknownId(f"{unknown} in tenant {tenant!r}; name another one with --tenant") from None
        return [named]
    wanted = await forgetting.conversations_of(bootstrap, tenant, user or "")
    if not wanted:
        raise UnknownId(
            f"tenant {tenant!r} has no conversation of user {user!r} that is not forgotten; check the user's id, or "
            "name another tenant with --tenant"
        )
    return wanted


async def _forget(bootstrap: str, wanted: Sequence[Conversation], by: str | None) -> dict[Conversation, Counts]:
    """How many of what was erased of each conversation, once every store has erased it."""
    async with forgetting.following(bootstrap) as erasing:
        return await erasing.wait(
            await forgetting.sent(bootstrap, {each: forgetting.wish(each) for each in wanted}, by), WAIT_S
        )


def _as_text(erased: dict[Conversation, Counts], *, dry_run: bool) -> str:
    if dry_run:
        return "\n".join(f"would erase {where.conversation_id} of client {where.client_id}" for where in erased)
    return "\n".join(f"erased {where.conversation_id}: {said(counts)}" for where, counts in erased.items())


def said(counts: Counts) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items() if number) or "nothing was left of it"


def rows(erased: Mapping[Conversation, Counts]) -> list[ErasedConversation]:
    """Conversations with what was erased of each."""
    return [
        ErasedConversation(
            tenant=where.tenant,
            client_id=where.client_id,
            conversation_id=where.conversation_id,
            erased=dict(counts),
        )
        for where, counts in erased.items()
    ]
