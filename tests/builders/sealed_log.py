"""A sealed log in memory, and what somebody with access to its files may do to it afterwards."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from schemas.learning import AuditHead
from schemas.topics import AUDIT_HEADS
from streams.audit.chain import AUDITED, ChainEnd, Partition, advanced, genesis, next_head, segments_of
from streams.audit.verifying import ChainBreak, HeadAnchor, PartitionBounds, PartitionCheck, check_heads, name_of
from streams.kafka.records import Record

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
START_MS = int(AT.timestamp() * 1000)
YEAR = timedelta(days=365)
HEADS = Partition(AUDIT_HEADS.name, 0)


@dataclass
class SealedLog:
    """Records by partition, heads among them, and the newest head as it was noted elsewhere."""

    records: dict[Partition, list[Record]] = field(default_factory=dict)
    anchor: HeadAnchor | None = None

    def append(self, where: Partition, value: bytes) -> None:
        log = self.records.setdefault(where, [])
        offset = log[-1].offset + 1 if log else 0
        headers = (("tenant", b"acme"), ("ce_type", b"x"))
        stamp = START_MS + offset * 7 if where != HEADS else START_MS
        log.append(Record(where.topic, where.number, offset, stamp, f"acme|{offset % 5}".encode(), value, headers))

    def seal(self) -> None:
        """Write the next head, as `audit seal` does, and note it elsewhere."""
        last, ends = None, {}
        for record in self.records.get(HEADS, []):
            head = AuditHead.model_validate_json(record.value or b"")
            last, ends = (head, name_of(record)), advanced(ends, head)
        segments = []
        for where, log in self.records.items():
            if where != HEADS:
                end = ends.get(where, ChainEnd(0, genesis(where)))
                segments += segments_of(where, end, [each for each in log if each.offset >= end.offset])
        value = next_head(last, segments, AT)
        self.append(HEADS, value)
        self.anchor = HeadAnchor(name_of(self.records[HEADS][-1]), 1 if last is None else last[0].number + 1)

    def breaks(self, now: datetime = AT, *, anchored: bool = True) -> list[ChainBreak]:
        """What a check finds."""
        heads = check_heads(
            self.records.get(HEADS, []), 0, PartitionBounds(0, 0, YEAR), now, self.anchor if anchored else None
        )
        found = heads.breaks
        for where in {*heads.segments, *self.records} - {HEADS}:
            log = self.records.get(where, [])
            kept = PartitionBounds(log[0].offset if log else 0, log[-1].offset + 1 if log else 0, YEAR)
            check = PartitionCheck(where, heads.segments.get(where, []), kept, now)
            for record in log:
                check.add(record)
            found += check.finish().breaks
        return found

    def copy(self) -> "SealedLog":
        return SealedLog({where: list(log) for where, log in self.records.items()}, self.anchor)


def sealed(seed: int, records: int = 60, heads: int = 4) -> SealedLog:
    """A log of three topics with two partitions each, sealed every now and then."""
    chance, log = random.Random(seed), SealedLog()
    for _ in range(heads):
        for _ in range(records // heads):
            where = Partition(chance.choice(AUDITED), chance.randrange(2))
            log.append(where, chance.randbytes(chance.randrange(1, 40)))
        log.seal()
    return log


def edited(chance: random.Random, log: list[Record]) -> None:
    """One bit of something that a record has."""
    place = chance.randrange(len(log))
    was = log[place]
    what = chance.choice(("value", "key", "headers", "timestamp", "name", "none"))
    if what == "timestamp":
        log[place] = replace(was, timestamp=was.timestamp + chance.choice((-1, 1)))
    elif what == "headers":
        log[place] = replace(was, headers=((was.headers[0][0], b"beta"), *was.headers[1:]))
    elif what == "name":
        log[place] = replace(was, headers=(("tenants", was.headers[0][1]), *was.headers[1:]))
    elif what == "none":
        log[place] = replace(was, value=None)
    else:
        raw = bytearray(getattr(was, what))
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
        log[place] = replace(was, **{what: bytes(raw)})


def deleted(chance: random.Random, log: list[Record]) -> None:
    """A record, and those behind it move up, or a gap is left."""
    place = chance.randrange(len(log))
    del log[place]
    if chance.random() < 0.5:
        log[place:] = [replace(each, offset=each.offset - 1) for each in log[place:]]


def reordered(chance: random.Random, log: list[Record]) -> None:
    """Two records that differ change their places."""
    one, other = chance.sample(range(len(log)), 2)
    first, second = log[one], log[other]
    log[one] = replace(second, offset=first.offset)
    log[other] = replace(first, offset=second.offset)


def truncated(chance: random.Random, log: list[Record]) -> None:
    """The end, or the beginning before its time; all of it at times."""
    count = chance.randrange(1, len(log) + 1)
    if chance.random() < 0.5:
        del log[-count:]
    else:
        del log[:count]


def inserted(chance: random.Random, log: list[Record]) -> None:
    """A record that was never sent, and those behind it move down; at the end it would only be the next one."""
    place = chance.randrange(len(log) - 1)
    log[place + 1 :] = [replace(each, offset=each.offset + 1) for each in log[place + 1 :]]
    log.insert(place + 1, replace(log[place], offset=log[place].offset + 1))


CHANGES: dict[str, Callable[[random.Random, list[Record]], None]] = {
    "edited": edited, "deleted": deleted, "reordered": reordered, "truncated": truncated, "inserted": inserted,
}  # fmt: skip


def tampered(seed: int, clean: SealedLog) -> tuple[str, Partition, SealedLog]:
    """One change to one partition, of the heads too: which, where, and the log that has it."""
    chance = random.Random(seed)
    log = clean.copy()
    name = chance.choice(list(CHANGES))
    where = chance.choice([each for each, records in sorted(log.records.items()) if len(records) >= 2])
    # What is written after the last head is not sealed yet.
    records = log.records[where]
    while records == clean.records[where]:
        CHANGES[name](chance, records)
    return name, where, log
