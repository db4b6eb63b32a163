"""`fathom erase`: a person, from every store, and from the log by destroying the person's key."""

from typing import Annotated

import typer
from typing_extensions import TypedDict

from schemas.base import DEFAULT_TENANT
from streams.edges.cli.arguments import Broker, Json
from streams.edges.cli.forget import ErasedConversation, rows, said
from streams.edges.client import clients
from streams.edges.client.persons import erasing, subject_records
from streams.edges.client.persons.erasing import ErasedPerson, RecordsLeft
from streams.edges.client.standard_output import print_json


class KeyDestroyed(TypedDict):
    """A key of the person, and when it was destroyed."""

    id: str
    at: str


class PersonErased(TypedDict):
    """What was erased of a person, or would be, and the records of the log that stay readable."""

    tenant: str
    user: str
    dry_run: bool
    conversations: list[ErasedConversation]
    profile: dict[str, int]
    key: str | None
    destroyed: list[KeyDestroyed]
    proofs: list[str]
    records_unreadable: int
    left: list[RecordsLeft]


def erase(
    subject: Annotated[str, typer.Option("--subject", metavar="USER", help="The person: a user of the tenant.")],
    broker: Broker = None,
    tenant: Annotated[str | None, typer.Option("--tenant", help="Whose user. Default: default.")] = None,
    by: Annotated[str | None, typer.Option("--by", help="Who wants it, for audit. Default: the command.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would do, and do nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Erase a person: every conversation, the profile, the votes, and what the log keeps, by destroying its key.

    Reads the whole log. May be run again after it was interrupted; says what is left, and until when.
    """
    bootstrap, whose = clients.bootstrap_of(broker, writes=not dry_run), tenant or DEFAULT_TENANT
    if dry_run:
        found = clients.run(erasing.survey(bootstrap, whose, subject))
    else:
        found = clients.run(erasing.erase(bootstrap, whose, subject, by))
    if as_json:
        print_json(_shown(found, dry_run=dry_run))
    else:
        print("\n".join(_as_text(found, dry_run=dry_run)))


def _as_text(found: ErasedPerson, *, dry_run: bool) -> list[str]:
    encrypted, _ = subject_records.total(found.records)
    if dry_run:
        lines = [f"would erase {each.conversation_id} of client {each.client_id}" for each in found.conversations]
        lines.append(f"would destroy key {found.key}" if found.key else f"{found.user} has no key")
    elif found.nothing:
        lines = [f"nothing of {found.user} is left to erase"]
    else:
        lines = [f"erased {each.conversation_id}: {said(counts)}" for each, counts in found.conversations.items()]
        lines.append(f"erased who {found.user} is: {said(found.profile)}")
        lines += [f"destroyed key {each.id} at {each.at:%Y-%m-%d %H:%M:%S} UTC" for each in found.destroyed]
        lines += [f"the proof is {each} on memory.decisions" for each in found.proofs]
    verb = "would become" if dry_run else "are"
    lines.append(f"{encrypted:,} records of the log {verb} unreadable")
    return [*lines, *_left(found)]


def _left(found: ErasedPerson) -> list[str]:
    lines = []
    for topic, own in found.records.items():
        if own.readable:
            until = "for ever" if own.expires is None else f"until {own.expires:%Y-%m-%d %H:%M} UTC"
            plain = f"{own.plain:,} in plain text" if own.plain else ""
            others = f"{own.others:,} under keys of others in the same conversations" if own.others else ""
            lines.append(f"left on {topic}, {until}: {' and '.join(filter(None, (plain, others)))}")
    return lines


def _shown(found: ErasedPerson, *, dry_run: bool) -> PersonErased:
    encrypted, _ = subject_records.total(found.records)
    return PersonErased(
        tenant=found.tenant,
        user=found.user,
        dry_run=dry_run,
        conversations=rows(found.conversations),
        profile=dict(found.profile),
        key=found.key,
        destroyed=[KeyDestroyed(id=each.id, at=each.at.isoformat()) for each in found.destroyed],
        proofs=list(found.proofs),
        records_unreadable=encrypted,
        left=erasing.left(found.records),
    )
