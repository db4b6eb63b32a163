"""Sealing and checking of the audit topics on a broker: beside the workers, which know nothing of it."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition

from schemas import codec
from schemas.base import derive, entity_key
from schemas.envelope import SOURCE, Envelope
from schemas.learning import AuditHead, SealedSegment
from schemas.topics import AUDIT_HEADS
from streams.audit.chain import (
    AUDITED,
    HEAD_RECORDS,
    SEGMENT_RECORDS,
    ChainEnd,
    Partition,
    digest,
    end_of,
    genesis,
    next_head,
    partition_of,
    segments_of,
)
from streams.audit.verifying import (
    ChainBreak,
    CheckedHeads,
    HeadAnchor,
    PartitionBounds,
    PartitionCheck,
    check_heads,
)
from streams.kafka import log_reader
from streams.kafka import producer as placing
from streams.kafka.log_reader import batches

# Heads are of no tenant; all have one key, and so one order.
OWNER = "fathom"
KEY = entity_key(OWNER, "heads")

Advance = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class AuditLog:
    """The audit topics of a broker: a reader without a group, partition counts and retentions by topic."""

    consumer: AIOKafkaConsumer
    counts: Mapping[str, int]
    retentions: Mapping[str, timedelta | None]

    @property
    def heads_partition(self) -> int:
        """Where the heads are."""
        return placing.partition_of(KEY, self.counts[AUDIT_HEADS.name])

    def partitions(self) -> list[Partition]:
        """The audited partitions."""
        return [Partition(topic, number) for topic in AUDITED for number in range(self.counts.get(topic, 0))]

    async def bounds(self, wanted: Sequence[Partition]) -> dict[Partition, PartitionBounds]:
        """What is kept of partitions; of one that is no longer there nothing."""
        asked = {each: TopicPartition(each.topic, each.number) for each in wanted}
        there = [tp for tp in asked.values() if tp.partition < self.counts.get(tp.topic, 0)]
        begins = await self.consumer.beginning_offsets(there) if there else {}
        ends = await self.consumer.end_offsets(there) if there else {}
        return {
            each: PartitionBounds(begins.get(tp, 0), ends.get(tp, 0), self.retentions.get(each.topic))
            for each, tp in asked.items()
        }

    async def read(self, where: Partition, begin: int, end: int) -> AsyncGenerator[list[ConsumerRecord], None]:
        """Records of a partition in batches."""
        ranges = {TopicPartition(where.topic, where.number): (begin, end)}
        async with aclosing(batches(self.consumer, ranges)) as found:
            async for batch in found:
                yield batch


@dataclass(slots=True)
class AuditVerdict:
    """What a check has found."""

    verified: int = 0
    unsealed: int = 0
    expired: int = 0
    heads: int = 0
    newest: HeadAnchor | None = None
    breaks: list[ChainBreak] = field(default_factory=list)


async def heads_of(log: AuditLog) -> list[ConsumerRecord]:
    """The records of all heads, oldest first."""
    where = Partition(AUDIT_HEADS.name, log.heads_partition)
    kept = (await log.bounds([where]))[where]
    ranges = {TopicPartition(*where): (kept.begin, kept.end)}
    return await log_reader.records(log.consumer, ranges)


async def checked_heads(log: AuditLog, now: datetime, anchor: HeadAnchor | None = None) -> CheckedHeads:
    """All heads of the log against each other, and against an anchor."""
    where = Partition(AUDIT_HEADS.name, log.heads_partition)
    kept = (await log.bounds([where]))[where]
    return check_heads(await heads_of(log), log.heads_partition, kept, now, anchor)


async def seal(log: AuditLog, producer: AIOKafkaProducer, now: Callable[[], datetime]) -> tuple[int, HeadAnchor | None]:
    """Seal what has been written since the last head; the number of records, and the newest head.

    Raises `ChainBroken` where less is there than was sealed: that is not to be sealed again.
    """
    heads = await checked_heads(log, now())
    if heads.breaks:
        raise ChainBroken(heads.breaks[0])
    sealed, newest, ends = 0, heads.newest, dict(heads.ends)
    last = None
    if newest is not None:
        [*_, record] = await heads_of(log)
        last = AuditHead.model_validate_json(record.value), newest.digest
    while segments := await _unsealed(log, ends):
        at = now()
        value = next_head(last, segments, at)
        last = AuditHead.model_validate_json(value), await _send(log, producer, value, at)
        newest = HeadAnchor(last[1], last[0].number)
        ends |= {partition_of(each): end_of(each) for each in segments}
        sealed += sum(each.records for each in segments)
    return sealed, newest


class ChainBroken(Exception):
    """The log has not what was sealed; the argument is where."""


async def _unsealed(log: AuditLog, ends: Mapping[Partition, ChainEnd]) -> list[SealedSegment]:
    """Segments over the next records, at most of one head."""
    found: list[SealedSegment] = []
    room = HEAD_RECORDS
    for where, kept in (await log.bounds(log.partitions())).items():
        end = ends.get(where, ChainEnd(0, genesis(where)))
        if kept.end < end.offset:
            raise ChainBroken(ChainBreak(where.topic, where.number, kept.end, "sealed records are gone"))
        begin = max(end.offset, kept.begin)
        records = [each async for batch in log.read(where, begin, min(kept.end, begin + room)) for each in batch]
        found += segments_of(where, end, records)
        room -= len(records)
        if room < SEGMENT_RECORDS:
            break
    return found


async def _send(log: AuditLog, producer: AIOKafkaProducer, value: bytes, at: datetime) -> str:
    identity = derive("audit-head", value.decode())
    envelope = Envelope(identity, AuditHead.TYPE, f"{SOURCE}:audit", at, OWNER, identity)
    headers = codec.to_headers(envelope)
    await producer.send_and_wait(
        AUDIT_HEADS.name, value, key=KEY.encode(), partition=log.heads_partition, headers=headers,
        timestamp_ms=round(at.timestamp() * 1000),
    )  # fmt: skip
    return digest(KEY.encode(), value, headers)


async def verify(log: AuditLog, now: datetime, anchor: HeadAnchor | None, advance: Advance) -> AuditVerdict:
    """Check every kept record of the audit topics against the heads, and these against an anchor."""
    heads = await checked_heads(log, now, anchor)
    found = AuditVerdict(heads=heads.heads, newest=heads.newest, breaks=list(heads.breaks))
    wanted = sorted({*log.partitions(), *heads.segments})
    for where, kept in (await log.bounds(wanted)).items():
        check = PartitionCheck(where, heads.segments.get(where, []), kept, now)
        async with aclosing(log.read(where, kept.begin, kept.end)) as read:
            async for batch in read:
                for record in batch:
                    check.add(record)
                advance(len(batch))
        result = check.finish()
        found.verified += result.verified
        found.unsealed += result.unsealed
        found.expired += result.expired
        found.breaks += result.breaks
    return found
