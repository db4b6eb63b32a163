"""The layout of the pack path on a cluster: chained in one task, or split into stages with consumers of their own.

It is a fact of the cluster, for two at once would answer each message twice. Split is where the assembler's
group has committed offsets, chained is every other cluster. Who leaves the split layout says so in the metadata of
those offsets. A switch needs that no worker of the path runs and that the groups that go have read everything;
messages wait in their topic meanwhile.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Literal

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import GroupAuthorizationFailedError
from aiokafka.structs import OffsetAndMetadata

from schemas.topics import CONTEXT_PACKS, MESSAGES_IN, PACKS_PARTIAL
from streams.config import ConfigError
from streams.kafka import clients
from streams.kafka.ledger import LOOK_BACK_MS
from streams.kafka.log_reader import first_records
from streams.kafka.security import Security
from streams.kafka.topics_admin import existing
from streams.topology import CHAINED_PATH, SPLIT_PATH

Layout = Literal["chained", "split"]
LEFT = "fathom:left"
# The groups that only the split layout has, with what each reads.
GROUPS: Mapping[str, tuple[str, ...]] = {
    stage.consumer_group: tuple(topic.name for topic in stage.reads) for stage in SPLIT_PATH if not stage.first
}
[HEAD] = {stage.consumer_group for stage in CHAINED_PATH}
[JOIN] = {stage.consumer_group for stage in SPLIT_PATH if stage.ledger is CONTEXT_PACKS}


async def layout_of(bootstrap: str, security: Security) -> Layout:
    """The layout of a cluster; a new one is chained."""
    async with clients.administering(bootstrap, security) as admin:
        return await layout_by(admin)


async def layout_by(admin: AIOKafkaAdminClient) -> Layout:
    """The same, by a client that is there."""
    try:
        committed = await admin.list_consumer_group_offsets(JOIN)
    except GroupAuthorizationFailedError as refused:
        needed = f"Describe on the group {JOIN} and the topic {PACKS_PARTIAL.name}"
        raise ConfigError(f"our user may not see the layout of the pack path: give it {needed}") from refused
    held = [each.metadata for each in committed.values() if each.offset >= 0]
    return "split" if held and not all(metadata == LEFT for metadata in held) else "chained"


async def check(bootstrap: str, security: Security, wanted: Layout) -> None:
    """Raises `ConfigError` where the cluster has another layout than the one that is to be run."""
    if (there := await layout_of(bootstrap, security)) != wanted:
        raise ConfigError(
            f"FATHOM_LAYOUT is {wanted}, and the pack path of {bootstrap} is {there}: both at once would answer each "
            f"message twice. Set FATHOM_LAYOUT={there}, or stop all workers and type `fathom layout {wanted}`"
        )


async def members(bootstrap: str, security: Security) -> dict[str, int]:
    """The members of each group of the path, of either layout."""
    async with clients.administering(bootstrap, security) as admin:
        answers = [await admin.describe_consumer_groups([group]) for group in (HEAD, *GROUPS)]
    return {described[1]: len(described[5]) for [answer] in answers for described in answer.groups}


async def unread(bootstrap: str, security: Security) -> dict[str, int]:
    """The records that each group of the split layout has still to read, or to commit; only groups that have some."""
    found = {}
    for group in GROUPS:
        async with _offsets(bootstrap, security, group) as (consumer, partitions):
            ends, begins = await consumer.end_offsets(partitions), await consumer.beginning_offsets(partitions)
            left = 0
            for tp in partitions:
                left += ends[tp] - max(await consumer.committed(tp) or 0, begins[tp])
            if left:
                found[group] = left
    return found


async def leave_split(bootstrap: str, security: Security) -> None:
    """Make a cluster chained; its split groups have no members and nothing to read."""
    for group in GROUPS:
        async with _offsets(bootstrap, security, group) as (consumer, partitions):
            ends = await consumer.end_offsets(partitions)
            await consumer.commit({tp: OffsetAndMetadata(end, LEFT) for tp, end in ends.items()})


async def enter_split(bootstrap: str, security: Security) -> None:
    """Make a cluster split; its chained group has no members.

    What that group had in hand comes again as its next owner reads the messages, and all before it is done: the groups
    begin at the end. Only the join looks back for the inputs of packs that are not out.
    """
    async with _offsets(bootstrap, security, HEAD, (MESSAGES_IN.name,)) as (consumer, partitions):
        ends = await consumer.end_offsets(partitions)
        uncommitted = {tp: (await consumer.committed(tp) or 0, ends[tp]) for tp in partitions}
        consumer.assign(list(partitions))
        first = {tp.partition: record.timestamp for tp, record in (await first_records(consumer, uncommitted)).items()}
    for group in GROUPS:
        async with _offsets(bootstrap, security, group) as (consumer, partitions):
            begin: dict[TopicPartition, int] = await consumer.end_offsets(partitions)
            if group == JOIN:
                since = {tp: first[tp.partition] - LOOK_BACK_MS for tp in partitions if tp.partition in first}
                found = await consumer.offsets_for_times({tp: max(at, 0) for tp, at in since.items()}) if since else {}
                begin |= {tp: place.offset for tp, place in found.items() if place is not None}
            await consumer.commit({tp: OffsetAndMetadata(offset, "") for tp, offset in begin.items()})


@asynccontextmanager
async def _offsets(
    bootstrap: str, security: Security, group: str, topics: tuple[str, ...] = ()
) -> AsyncIterator[tuple[AIOKafkaConsumer, list[TopicPartition]]]:
    """A client of a group that has no members, and the partitions that the group reads."""
    known = await existing(bootstrap, security)
    partitions = [TopicPartition(name, n) for name in topics or GROUPS[group] for n in range(known.get(name, 0))]
    consumer = clients.new_consumer(bootstrap, security, group_id=group)
    await consumer.start()
    try:
        consumer.assign(partitions)
        yield consumer, partitions
    finally:
        await consumer.stop()
