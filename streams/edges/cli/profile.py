"""`fathom profile`: who a user is, sent as a document and read back from the log."""

import re
import sys
from datetime import UTC, datetime

from aiokafka import ConsumerRecord
from pydantic import ValidationError

from agents.core.language.text import fold
from schemas import codec
from schemas.codec import Undecodable
from schemas.memory import DocumentSubmitted, ObjectiveEntry, Profile
from schemas.topics import DOCUMENTS_IN
from streams.edges.client import clients, records, send
from streams.edges.client.errors import FAILURE, USAGE, CommandFailed
from streams.edges.client.options import SetProfile
from streams.edges.client.records import BadInput, Identity

DEFAULT_TENANT = "default"
NOT_IN_ID = re.compile(r"[^a-z0-9]+")
MARK = b'"profile"'
POLL_S = 0.2


def set_profile(wanted: SetProfile, broker: str | None, *, as_json: bool) -> None:
    """Send the user's profile with what is given changed; raises `CommandFailed`."""
    bootstrap = clients.bootstrap_of(broker)
    known = clients.run(newest_profile(bootstrap, wanted.tenant or DEFAULT_TENANT, wanted.user))
    try:
        changed = merged(known or Profile(user_id=wanted.user), wanted)
        prepared = records.document(codec.dump(document_of(changed)), Identity(wanted.tenant))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise CommandFailed(f"this is no profile: {first['loc'][0]}: {first['msg']}", USAGE) from None
    except BadInput as error:
        raise CommandFailed(f"this is no profile: {error}", USAGE) from None
    send.send_one(prepared, broker, as_json=as_json)


def show_profile(user: str, tenant: str | None, broker: str | None, *, as_json: bool) -> None:
    """Print the newest profile of a user; raises `CommandFailed` when there is none."""
    bootstrap = clients.bootstrap_of(broker)
    found = clients.run(newest_profile(bootstrap, tenant or DEFAULT_TENANT, user))
    if found is None:
        raise CommandFailed(f"nobody said who {user} is; `fathom profile set {user} --role …` does", FAILURE)
    if as_json:
        sys.stdout.write(found.model_dump_json() + "\n")
        return
    sys.stdout.write(f"{found.user_id}: {found.user_role}, {found.department}, access {found.access_level}\n")
    for objective in found.objectives:
        sys.stdout.write(f"  {objective.title} ({objective.status})\n")


def merged(known: Profile, wanted: SetProfile) -> Profile:
    """The known profile with what is given changed. Raises `ValidationError`."""
    objectives = {each.id: each for each in known.objectives}
    for said in wanted.objectives:
        title, _, status = said.partition("=")
        own = NOT_IN_ID.sub("-", fold(title)).strip("-") or title.strip()
        objectives[own] = ObjectiveEntry(id=own, title=title.strip(), status=status.strip() or "active")
    given = {"user_role": wanted.role, "department": wanted.department, "access_level": wanted.access}
    fields = {**known.model_dump(), **{name: text for name, text in given.items() if text is not None}}
    return Profile(**{**fields, "objectives": tuple(objectives.values())})


def document_of(profile: Profile) -> DocumentSubmitted:
    """The profile as it is sent to `documents.in`."""
    return DocumentSubmitted(
        document_id=f"profile-{profile.user_id}",
        title=f"Profile of {profile.user_id}",
        tipo="profile",
        created_at=datetime.now(UTC),
        profile=profile,
    )


async def newest_profile(bootstrap: str, tenant: str, user: str) -> Profile | None:
    """The profile that was sent last for a user, by the log: what was just set is seen at once."""
    counts = await clients.partition_counts(bootstrap)
    partitions = clients.partitions_of(counts, [DOCUMENTS_IN.name])
    newest: tuple[datetime, Profile] | None = None
    async with clients.reading(bootstrap, partitions, from_beginning=True) as consumer:
        ends = await consumer.end_offsets(partitions)
        while not await clients.arrived(consumer, ends):
            for record in await clients.poll(consumer, POLL_S):
                found = profile_in(record, tenant, user)
                if found is not None and (newest is None or found[0] >= newest[0]):
                    newest = found
    return None if newest is None else newest[1]


def profile_in(record: ConsumerRecord, tenant: str, user: str) -> tuple[datetime, Profile] | None:
    """The profile of a record and its time; None for any other document, and for another's."""
    if MARK not in (record.value or b""):
        return None  # documents are large, and most are no profiles
    try:
        received = codec.decode_record(DOCUMENTS_IN, record)  # fmt: skip
    except Undecodable:
        return None
    profile = received.event.profile
    if received.envelope.tenant != tenant or profile is None or profile.user_id != user:
        return None
    return received.event.created_at or received.envelope.time, profile
