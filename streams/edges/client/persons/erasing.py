"""Erasure of a person: conversations and profile from every store, then the key under which the log has the rest.

Each step may be repeated: killed between two of them, the command run again goes on. The key is destroyed last, since
without it nobody can find the person's conversations; the proof is written after it, for each destroyed key once.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf

from typing_extensions import TypedDict

from agents.core.conversation.erasure import person as place_of_person
from schemas import codec
from schemas.base import Conversation, derive, entity_key
from schemas.envelope import SOURCE, Envelope
from schemas.memory import AuditDecision
from schemas.topics import MEMORY_DECISIONS
from streams.edges.client import clients, forgetting, log_lookup, send
from streams.edges.client.errors import CONFIG, CommandFailed
from streams.edges.client.forgetting import Counts
from streams.edges.client.persons import subject_records
from streams.edges.client.persons.subject_records import Person, TopicRecords
from streams.edges.client.records import OutgoingRecord
from streams.encryption.records import FRESH_S, RecordEncryption
from streams.stores.keys.key_store import DestroyedKey

WAIT_S = 60.0
STAGE = "erase"
PROOF = "subject-erasure"
NO_KEYS = (
    "this needs the keys of persons: set FATHOM_SUBJECT_KEYS as the workers have it; without them the log is in plain "
    "text, and `fathom forget --user` erases from the stores what can be erased"
)


@dataclass(frozen=True, slots=True)
class ErasedPerson:
    """What was erased of a person, or would be: counts by conversation, the keys, and what the log has."""

    tenant: str
    user: str
    conversations: Mapping[Conversation, Counts]
    profile: Counts = field(default_factory=dict)
    destroyed: tuple[DestroyedKey, ...] = ()
    key: str | None = None
    records: Mapping[str, TopicRecords] = field(default_factory=dict)
    proofs: tuple[str, ...] = ()

    @property
    def nothing(self) -> bool:
        """Whether there was nothing to erase."""
        return not self.conversations and not self.proofs and self.key is None


async def survey(bootstrap: str, tenant: str, user: str) -> ErasedPerson:
    """What an erasure would erase, and what it would leave."""
    encryption = _encryption(bootstrap)
    spoke_in = await forgetting.conversations_of(bootstrap, tenant, user)
    subject = entity_key(tenant, user)
    key, gone = await encryption.subjects_key(subject), await encryption.store.destroyed(subject)
    ids = [each.id for each in gone] + ([] if key is None else [key])
    records = await subject_records.records_of(bootstrap, Person.of(tenant, user, ids, spoke_in))
    return ErasedPerson(tenant, user, {each: {} for each in spoke_in}, destroyed=gone, key=key, records=records)


async def erase(bootstrap: str, tenant: str, user: str, by: str | None) -> ErasedPerson:
    """Erase a person; waits until every store has, and every process has lost the key."""
    encryption = _encryption(bootstrap)
    subject = entity_key(tenant, user)
    spoke_in = await forgetting.conversations_of(bootstrap, tenant, user)
    key, gone = await encryption.subjects_key(subject), await encryption.store.destroyed(subject)
    proofs = await _proofs(bootstrap, tenant, user)
    unproven = [each for each in gone if _proof_id(each.id) not in proofs]
    if not spoke_in and key is None and not unproven and (gone or proofs):
        records = await _records(bootstrap, tenant, user, gone, spoke_in)
        return ErasedPerson(tenant, user, {}, destroyed=gone, records=records)
    who = place_of_person(tenant, user)
    async with forgetting.following(bootstrap) as following:
        wishes = {each: forgetting.wish(each) for each in spoke_in}
        counts = await following.wait(await forgetting.sent(bootstrap, wishes, by), WAIT_S)
        # The last: with it the stores rewrite the files that still have what was deleted before.
        last_wish = {who: forgetting.wish(who, user)}
        profile = (await following.wait(await forgetting.sent(bootstrap, last_wish, by), WAIT_S))[who]
    last = await encryption.store.destroy(subject, datetime.now(UTC))
    if last is not None:
        await asyncio.sleep(FRESH_S)
        unproven.append(last)
    gone = await encryption.store.destroyed(subject)
    records = await _records(bootstrap, tenant, user, gone, spoke_in)
    found = ErasedPerson(tenant, user, counts, profile, gone, None if last is None else last.id, records)
    written = [await _write_proof(bootstrap, found, by, each) for each in unproven or (None,)]
    return ErasedPerson(tenant, user, counts, profile, gone, found.key, records, tuple(written))


def _encryption(bootstrap: str) -> RecordEncryption:
    encryption = clients.security_for(bootstrap).encryption
    if encryption is None:
        raise CommandFailed(NO_KEYS, CONFIG)
    return encryption


async def _records(
    bootstrap: str, tenant: str, user: str, gone: Sequence[DestroyedKey], spoke_in: Sequence[Conversation]
) -> dict[str, TopicRecords]:
    return await subject_records.records_of(bootstrap, Person.of(tenant, user, [each.id for each in gone], spoke_in))


async def _proofs(bootstrap: str, tenant: str, user: str) -> set[str]:
    """The ids of the proofs of this person's erasures."""
    found = set()
    async with aclosing(log_lookup.newest_first(bootstrap, MEMORY_DECISIONS, inf)) as windows:
        async for records, _ in windows:
            for one in log_lookup.of_tenant(MEMORY_DECISIONS, records, tenant, PROOF):
                if one.event.kind == PROOF and one.event.subject_id == user:
                    found.add(one.event.id)
    return found


def _proof_id(key: str) -> str:
    return derive(PROOF, key)


async def _write_proof(bootstrap: str, erased: ErasedPerson, by: str | None, key: DestroyedKey | None) -> str:
    """Record an erasure: who asked, when, which key, how many of what, what is left; no content."""
    now = datetime.now(UTC)
    proof = AuditDecision(
        kind="subject-erasure",
        id=derive(PROOF, erased.tenant, erased.user, now.isoformat()) if key is None else _proof_id(key.id),
        actor=by or "fathom erase",
        subject_id=erased.user,
        detail={
            "key_id": key and key.id,
            "destroyed_at": key and codec.rfc3339(key.at),
            "conversations": len(erased.conversations),
            "erased": _sums([*erased.conversations.values(), erased.profile]),
            "records_encrypted": subject_records.total(erased.records)[0],
            "left": left(erased.records),
        },
        created_at=now,
    )
    envelope = Envelope(proof.id, proof.TYPE, f"{SOURCE}:{STAGE}", now, erased.tenant, proof.id)
    record = OutgoingRecord(
        MEMORY_DECISIONS.name,
        entity_key(erased.tenant, erased.user).encode(),
        codec.dump(proof),
        codec.to_headers(envelope),
        proof.id,
    )
    async with clients.producing(bootstrap) as producer:
        await send.deliver(producer, record)
    return proof.id


class RecordsLeft(TypedDict):
    """Records of a topic that can still be read, and until when; None is for ever."""

    topic: str
    plain: int
    under_keys_of_others: int
    until: str | None


def left(records: Mapping[str, TopicRecords]) -> list[RecordsLeft]:
    """The records that can still be read, by topic."""
    return [
        {
            "topic": topic,
            "plain": own.plain,
            "under_keys_of_others": own.others,
            "until": None if own.expires is None else codec.rfc3339(own.expires),
        }
        for topic, own in records.items()
        if own.readable
    ]


def _sums(counts: Sequence[Counts]) -> dict[str, int]:
    names = dict.fromkeys(name for each in counts for name in each)
    return {name: sum(each.get(name, 0) for each in counts) for name in names}
