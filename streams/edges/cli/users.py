"""The verbs by which people say who they are and what they think of what was answered; their options."""

from typing import Annotated

import typer

from streams.edges.cli.arguments import Broker, Client, ConversationId, Json, Tenant, User
from streams.edges.client.options import Correct, Feedback, SetProfile

profile_app = typer.Typer(help="Who a user is: role, department, access, objectives.", no_args_is_help=True)

Whom = Annotated[str, typer.Argument(metavar="USER", help="The user.")]
TenantOfUser = Annotated[str | None, typer.Option("--tenant", help="Whose user. Default: default.")]


@profile_app.command("set")
def set_profile(
    user: Whom,
    role: Annotated[str | None, typer.Option("--role", help="What the user does.")] = None,
    department: Annotated[str | None, typer.Option("--department", help="Where.")] = None,
    access: Annotated[
        str | None, typer.Option("--access", help="What the user may see: public, internal, restricted, confidential.")
    ] = None,
    objective: Annotated[
        list[str] | None,
        typer.Option("--objective", metavar="TITLE[=STATUS]", help="An objective; with =done it is over. Repeatable."),
    ] = None,
    broker: Broker = None,
    tenant: TenantOfUser = None,
    as_json: Json = False,
) -> None:
    """Say who a user is; what is not given stays as it was."""
    from streams.edges.cli import profile

    profile.set_profile(
        SetProfile(user, tenant, role, department, access, tuple(objective or ())), broker, as_json=as_json
    )


@profile_app.command("show")
def show_profile(user: Whom, broker: Broker = None, tenant: TenantOfUser = None, as_json: Json = False) -> None:
    """Who a user is, by the newest profile sent."""
    from streams.edges.cli import profile

    profile.show_profile(user, tenant, broker, as_json=as_json)


def feedback(
    message: Annotated[str, typer.Argument(metavar="MESSAGE", help="The message whose pack is meant.")],
    rating: Annotated[int, typer.Option("--rating", min=1, max=5, help="How good the pack was, 1 to 5.")],
    expected: Annotated[
        str | None, typer.Option("--expected", metavar="D0..D4", help="How deep it should have gone.")
    ] = None,
    reason: Annotated[str, typer.Option("--reason", help="Why.")] = "",
    broker: Broker = None,
    tenant: Tenant = None,
    client: Client = "default",
    conversation: ConversationId = "default",
    user: User = None,
    as_json: Json = False,
) -> None:
    """Say how good the pack of a message was; three who expected more make its like deeper."""
    from streams.edges.cli import feedback as cli_opinions

    wanted = Feedback(message, rating, expected, reason, tenant, client, conversation, user)
    cli_opinions.feedback(wanted, broker, as_json=as_json)


def correct(
    text: Annotated[str, typer.Argument(help="What is wrong; - reads it from stdin.")],
    user: Annotated[str, typer.Option("--user", help="Who says so.")],
    claim: Annotated[str | None, typer.Option("--claim", help="The claim that is wrong, by its id in a pack.")] = None,
    consultation: Annotated[
        str | None, typer.Option("--consultation", help="The consultation whose answer is wrong.")
    ] = None,
    value: Annotated[str | None, typer.Option("--value", help="The value that is right.")] = None,
    tipo: Annotated[str, typer.Option("--type", help="factual, juridico or formatacao.")] = "factual",
    broker: Broker = None,
    tenant: TenantOfUser = None,
    as_json: Json = False,
) -> None:
    """Contest a claim or the answer of a consultation."""
    if (claim is None) == (consultation is None):
        raise typer.BadParameter("give one of --claim and --consultation")
    from streams.edges.cli import feedback as cli_opinions

    wanted = Correct(text, user, claim, consultation, value, tipo, tenant)
    cli_opinions.correct(wanted, broker, as_json=as_json)
