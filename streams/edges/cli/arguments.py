"""The options that several verbs share, with their help."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Machine-readable: JSON on stdout.")]
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
Client = Annotated[str, typer.Option("--client", help="The application that asks.")]
ConversationId = Annotated[str, typer.Option("--conversation", help="The conversation.")]
User = Annotated[str | None, typer.Option("--user", help="Who asks. Default: the client.")]
