"""The options that several verbs share, with their help."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from schemas.depth import DepthLevel
from streams.edges.client.errors import USAGE, CommandFailed
from streams.replay.selection import moment

Json = Annotated[bool, typer.Option("--json", help="JSON on stdout; `fathom schema output` has its schema.")]
Broker = Annotated[
    str | None,
    typer.Option(
        "--broker",
        metavar="ADDRESS",
        help="host:port, or embedded://DIR for the `fathom up` of DIR. Default: FATHOM_BROKER, then .fathom.",
    ),
]
Tenant = Annotated[str | None, typer.Option("--tenant", help="Whose memory. Default: the client.")]
TenantOfUser = Annotated[str | None, typer.Option("--tenant", help="Whose user. Default: default.")]
Client = Annotated[
    str,
    typer.Option("--client", help="The application that asks; its name is the tenant, too, unless --tenant says one."),
]
ConversationId = Annotated[str, typer.Option("--conversation", help="The conversation.")]
User = Annotated[str | None, typer.Option("--user", help="Who asks. Default: the client.")]
MinDepth = Annotated[
    DepthLevel | None, typer.Option("--min-depth", help="At least this level. Default: decided by Fathom.")
]
MaxDepth = Annotated[
    DepthLevel | None, typer.Option("--max-depth", help="At most this level. Default: decided by Fathom.")
]
LookUpIn = Annotated[
    str | None,
    typer.Option("--look-up", metavar="auto|always|never", help="Whether memory is searched. Default: auto."),
]
MaxTokens = Annotated[
    int | None, typer.Option("--max-tokens", min=1, help="Of the pack. Default: the budget of its level.")
]
Have = Annotated[
    list[str] | None, typer.Option("--have", metavar="PACK_ID", help="A pack still held: not given again. Repeatable.")
]
Template = Annotated[str | None, typer.Option("--template", help="Of the pack's text. Default: the tenant's.")]


def time_of(stated: str | None, option: str) -> datetime | None:
    """The time of an option; raises `CommandFailed`."""
    if stated is None:
        return None
    try:
        return datetime.fromtimestamp(moment(stated) / 1000, UTC)
    except (ValueError, OverflowError) as error:
        raise CommandFailed(f"{option}: {error}", USAGE) from None
