"""What the log has of a person: records under the person's keys, and records that can be read without them."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta

from aiokafka import ConsumerRecord

from schemas.base import Conversation, entity_key, time_of
from schemas.topics import BY_NAME
from streams.edges.client import clients
from streams.encryption.records import keys_of
from streams.encryption.subjects import subjects_of
from streams.kafka import log_reader, topics_admin
from streams.kafka.clients import PROMPT_MS

DEAD_LETTERS, REPLAYED = "dead-letters.", ".replay."


@dataclass(slots=True)
class TopicRecords:
    """The records of one topic that are about a person; `last` is the time of the newest readable one.

    `encrypted` are under a key of the person, `plain` under none, `others` of the person's conversations are under keys
    of others only.
    """

    encrypted: int = 0
    plain: int = 0
    others: int = 0
    last: datetime | None = None
    expires: datetime | None = None

    @property
    def readable(self) -> int:
        """How many stay readable when the person's keys are destroyed."""
        return self.plain + self.others


@dataclass(frozen=True, slots=True)
class Person:
    """Whose records are looked for: a user of a tenant, the ids of all keys the user had, and the conversations."""

    tenant: str
    user: str
    keys: frozenset[str]
    conversations: frozenset[str]

    @classmethod
    def of(cls, tenant: str, user: str, keys: Collection[str], spoke_in: Collection[Conversation]) -> "Person":
        """A person by name, the ids of keys, and where the person spoke."""
        return cls(tenant, user, frozenset(keys), frozenset(each.key() for each in spoke_in))


async def records_of(bootstrap: str, person: Person) -> dict[str, TopicRecords]:
    """The person's records by topic; the whole log is read, topics of replays and dead letters too."""
    counts = await clients.partition_counts(bootstrap)
    wanted = sorted(name for name in counts if name.partition(REPLAYED)[0] in BY_NAME or name.startswith(DEAD_LETTERS))
    found: defaultdict[str, TopicRecords] = defaultdict(TopicRecords)
    partitions = clients.partitions_of(counts, wanted)
    async with clients.reading(bootstrap, partitions, wait_ms=PROMPT_MS, as_stored=True) as consumer:
        begins, ends = await consumer.beginning_offsets(partitions), await consumer.end_offsets(partitions)
        ranges = {tp: (begins[tp], ends[tp]) for tp in partitions}
        async with aclosing(log_reader.batches(consumer, ranges)) as batches:
            async for batch in batches:
                _count(batch, person, found[batch[0].topic])
    kept = await topics_admin.retentions(bootstrap, list(found), clients.security_for(bootstrap))
    for topic, own in found.items():
        own.expires = _expires(own.last, kept.get(topic))
    return {topic: own for topic, own in sorted(found.items()) if own.encrypted or own.readable}


def _count(batch: list[ConsumerRecord], person: Person, into: TopicRecords) -> None:
    for record in batch:
        said = keys_of(record.headers)
        if said is not None and person.keys & {*said.split(",")}:
            into.encrypted += 1
        elif record.value is not None and _is_readable(record, person, encrypted=said is not None):
            if said is None:
                into.plain += 1
            else:
                into.others += 1
            at = time_of(record.timestamp)
            into.last = at if into.last is None else max(into.last, at)


def _is_readable(record: ConsumerRecord, person: Person, *, encrypted: bool) -> bool:
    """Whether a record that the person's keys do not protect is about the person."""
    if encrypted:
        return (record.key or b"").decode(errors="replace") in person.conversations
    subjects = set(_subjects(record))
    if not subjects:
        return False
    named = entity_key(person.tenant, person.user) in subjects
    return named or (record.key or b"").decode(errors="replace") in person.conversations


def _subjects(record: ConsumerRecord) -> Iterator[str]:
    yield from subjects_of(record.topic, record.key, record.value, record.headers)


def _expires(last: datetime | None, kept: timedelta | None) -> datetime | None:
    return None if last is None or kept is None else last + kept


def total(found: Mapping[str, TopicRecords]) -> tuple[int, int]:
    """How many records are under the person's keys, and how many can be read without them."""
    return sum(each.encrypted for each in found.values()), sum(each.readable for each in found.values())
