"""A user's profile as a document of `documents.in`, and the newest one in the log."""

from datetime import UTC, datetime

from aiokafka import ConsumerRecord

from schemas import codec
from schemas.codec import Undecodable
from schemas.memory import DocumentSubmitted, Profile
from schemas.topics import DOCUMENTS_IN
from streams.edges.client import clients

MARK = b'"profile"'
POLL_S = 0.2


def document_of(profile: Profile) -> DocumentSubmitted:
    """The profile as a document for `documents.in`."""
    return DocumentSubmitted(
        document_id=f"profile-{profile.user_id}",
        title=f"Profile of {profile.user_id}",
        kind="profile",
        created_at=datetime.now(UTC),
        profile=profile,
    )


async def newest_profile(bootstrap: str, tenant: str, user: str) -> Profile | None:
    """The profile sent last for a user, from the log, so that a new one is visible at once."""
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
    """The profile in a record and its time; None for any other document or user."""
    if MARK not in (record.value or b""):
        return None  # documents are large, and few are profiles
    try:
        received = codec.decode_record(DOCUMENTS_IN, record)
    except Undecodable:
        return None
    profile = received.event.profile if isinstance(received.event, DocumentSubmitted) else None
    if received.envelope.tenant != tenant or profile is None or profile.user_id != user:
        return None
    return received.event.created_at or received.envelope.time, profile
