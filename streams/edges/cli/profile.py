"""`fathom profile`: a user's profile, sent as a document and read back from the log."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated

import typer
from pydantic import ValidationError

from agents.core.language.text import fold
from schemas import codec
from schemas.base import DEFAULT_TENANT
from schemas.memory import ObjectiveEntry, Profile
from schemas.topics import DOCUMENTS_IN
from streams.edges.cli.arguments import Broker, Json, TenantOfUser
from streams.edges.client import clients, records, send
from streams.edges.client.errors import FAILURE, USAGE, CommandFailed
from streams.edges.client.profiles import document_of, newest_profile
from streams.edges.client.records import BadInput, Identity
from streams.edges.client.standard_output import print_json

NOT_IN_ID = re.compile(r"[^a-z0-9]+")

app = typer.Typer(no_args_is_help=True)

UserId = Annotated[str, typer.Argument(metavar="USER", help="The user.")]


@app.command("set")
def set_profile(
    user: UserId,
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
    bootstrap = clients.bootstrap_of(broker, writes=True)
    known = clients.run(newest_profile(bootstrap, tenant or DEFAULT_TENANT, user)) or Profile(user_id=user)
    given = {"user_role": role, "department": department, "access_level": access}
    try:
        changed = merged(known, {name: text for name, text in given.items() if text is not None}, objective or ())
        prepared = records.record_of(DOCUMENTS_IN, codec.dump(document_of(changed)), Identity(tenant))
    except ValidationError as error:
        raise CommandFailed(f"this is no profile: {records.first_wrong(error, 'profile')}", USAGE) from None
    except BadInput as error:
        raise CommandFailed(f"this is no profile: {error}", USAGE) from None
    send.send_one(prepared, bootstrap, as_json=as_json)


@app.command("show")
def show_profile(user: UserId, broker: Broker = None, tenant: TenantOfUser = None, as_json: Json = False) -> None:
    """Who a user is, by the newest profile sent."""
    bootstrap = clients.bootstrap_of(broker)
    found = clients.run(newest_profile(bootstrap, tenant or DEFAULT_TENANT, user))
    if found is None:
        raise CommandFailed(f"No profile for user {user!r}. Create one: fathom profile set {user} --role …", FAILURE)
    if as_json:
        print_json(found)
        return
    print(f"{found.user_id}: {found.user_role}, {found.department}, access {found.access_level}")
    for objective in found.objectives:
        print(f"  {objective.title} ({objective.status})")


def merged(known: Profile, changes: Mapping[str, str], objectives: Iterable[str]) -> Profile:
    """The known profile with some fields changed; an objective is `TITLE` or `TITLE=STATUS`.

    Raises `ValidationError`.
    """
    kept = {each.id: each for each in known.objectives}
    for said in objectives:
        title, _, status = said.partition("=")
        own = NOT_IN_ID.sub("-", fold(title)).strip("-") or title.strip()
        kept[own] = ObjectiveEntry(id=own, title=title.strip(), status=status.strip() or "active")
    return Profile(**{**known.model_dump(), **changes, "objectives": tuple(kept.values())})
