"""Packs remade from the recorded partial results by the recorded assembler's code, and compared with the recorded ones.

A pack depends on its own records, on the time of its partition, and on the previous packs of its conversation, whose
items it leaves out. So an earlier range is read, too: the records from `READ_BACK` before the first compared pack, and
the recorded packs from as long again before those, which the assembler receives as on an assignment.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple

import orjson
from aiokafka import ConsumerRecord

from agents.core.packs.emitted_items import REPEAT_WINDOW
from agents.core.packs.join import ORPHAN_AFTER
from agents.stages.assembler import Assembler
from schemas import codec
from schemas.codec import Undecodable
from schemas.envelope import Outgoing, Received, Refused
from schemas.packs import ContextPack
from schemas.topics import BY_NAME, CONTEXT_PACKS, PACKS_PARTIAL
from streams.replay.log import Log, PartitionRange
from streams.replay.selection import REPLAY_HEADER, Selection

STAGE = "assembler"
READ_BACK = REPEAT_WINDOW + ORPHAN_AFTER
READ_BACK_MS = round(READ_BACK.total_seconds() * 1000)
SHOWN = 20

Headers = Sequence[tuple[str, bytes]]
Write = Callable[[int, bytes, bytes, Headers], Awaitable[None]]
PackKey = tuple[str, int]


class ReplayedPack(NamedTuple):
    """A remade pack as it would be sent; `found_as` is its id and revision."""

    found_as: PackKey
    record: Received[ContextPack]
    value: bytes
    headers: Headers


@dataclass(frozen=True, slots=True)
class Difference:
    """A deviation from the recorded packs: `different` (with the first different field), `missing` or `extra`."""

    what: str
    pack_id: str
    revision: int
    partition: int
    field: str = ""


@dataclass(slots=True)
class Verdict:
    """The result in packs; `waiting` were made and are not recorded yet, `lost` cannot be remade."""

    made: int = 0
    equal: int = 0
    different: int = 0
    missing: int = 0
    extra: int = 0
    waiting: int = 0
    lost: int = 0
    unreadable: int = 0
    records: int = 0
    refused: int = 0
    differences: list[Difference] = field(default_factory=list)

    @property
    def identical(self) -> bool:
        return not (self.different or self.missing or self.extra)

    def note(self, difference: Difference) -> None:
        """Count a difference; the first ones are kept."""
        setattr(self, difference.what, getattr(self, difference.what) + 1)
        if len(self.differences) < SHOWN:
            self.differences.append(difference)


@dataclass(frozen=True, slots=True)
class ReplayRange:
    """The range to read of one partition: its records, its recorded packs, and the start of the compared packs.

    Where retention has `cut` the log, packs from `asked` (None: any) up to `since` are lost, in addition to `skipped`.
    """

    records: PartitionRange
    packs: PartitionRange
    since: datetime | None
    asked: datetime | None = None
    cut: bool = False
    skipped: int = 0

    def lacks(self, pack: ContextPack) -> bool:
        """Whether a pack before `since` was asked for, and cannot be remade."""
        return self.cut and (self.asked is None or pack.assembled_at >= self.asked)


async def stretches(log: Log, since: int | None) -> list[ReplayRange]:
    """The range to read of each partition."""
    # The packs' ends first: recorded packs then depend only on records before the ends of the others.
    packs = await log.spans(CONTEXT_PACKS.name, None if since is None else since - 2 * READ_BACK_MS)
    records = await log.spans(PACKS_PARTIAL.name, None if since is None else since - READ_BACK_MS)
    return [await _stretch(log, one, other, since) for one, other in zip(records, packs, strict=True)]


async def _stretch(log: Log, records: PartitionRange, packs: PartitionRange, since: int | None) -> ReplayRange:
    asked = None if since is None else datetime.fromtimestamp(since / 1000, UTC)
    first = await log.first(records) if records.kept_from and records.begin == records.kept_from else None
    if first is None:
        return ReplayRange(records, packs, asked, asked)
    # Retention has cut the log here: a pack whose first records may be gone cannot be remade.
    possible = datetime.fromtimestamp(first.timestamp / 1000, UTC) + READ_BACK
    if asked is not None:
        return ReplayRange(records, packs, max(asked, possible), asked, cut=possible > asked)
    told = await log.spans(CONTEXT_PACKS.name, first.timestamp - READ_BACK_MS)
    begin = min(told[packs.partition].begin, packs.end)
    return ReplayRange(records, replace(packs, begin=begin), possible, cut=True, skipped=begin - packs.begin)


class Comparison:
    """The remade packs of one partition against the recorded ones."""

    def __init__(self, stretch: ReplayRange, selection: Selection, verdict: Verdict) -> None:
        self._stretch = stretch
        self._selection = selection
        self._verdict = verdict
        self._partition = stretch.records.partition
        self.before: list[Received[ContextPack]] = []
        # Only offsets and digests of the recorded packs are kept: the few that differ are read again.
        self._left: dict[PackKey, tuple[int, bytes]] = {}
        self._unknown: list[PackKey] = []
        self._differing: list[tuple[int, ReplayedPack]] = []

    async def read(self, log: Log) -> None:
        """Pass the packs before the first compared one to the assembler, and record the others as expected."""
        stretch, has = self._stretch, self._selection.has
        self._verdict.lost += stretch.skipped if self._selection.whole else 0
        compared = stretch.since is None
        async for pack, record in _decoded(log, stretch.packs):
            if pack is None:
                continue  # an outsider's record on our output: none of ours
            compared = compared or pack.event.assembled_at >= stretch.since
            if not compared:
                self.before.append(pack)
                self._verdict.lost += stretch.lacks(pack.event) and has(pack)
            elif has(pack):
                found_as = (pack.event.pack_id, pack.event.revision)
                # A send that was repeated left the same pack twice: the first counts, as it does for readers.
                self._left.setdefault(found_as, (record.offset, _digest(record.value or b"", record.headers)))

    def take(self, made: ReplayedPack) -> None:
        """Count one remade pack."""
        self._verdict.made += 1
        place = self._left.pop(made.found_as, None)
        if place is None:
            self._unknown.append(made.found_as)
            return
        # Packs recorded after it prove that it should have been sent.
        for found_as in self._unknown:
            self._verdict.note(Difference("extra", *found_as, self._partition))
        self._unknown.clear()
        if place[1] == _digest(made.value, made.headers):
            self._verdict.equal += 1
        elif len(self._differing) < SHOWN:
            self._differing.append((place[0], made))
        else:
            self._verdict.different += 1

    async def settle(self, log: Log) -> None:
        """Count the packs that were not remade, and find the differences of the others."""
        self._verdict.waiting += len(self._unknown)
        for found_as in self._left:
            self._verdict.note(Difference("missing", *found_as, self._partition))
        for offset, made in self._differing:
            was = await log.first(replace(self._stretch.packs, begin=offset))
            where = "" if was is None else first_difference(was, made)
            self._verdict.note(Difference("different", *made.found_as, self._partition, where))


async def compare(
    log: Log, stretch: ReplayRange, assembler: Assembler, selection: Selection, verdict: Verdict, write: Write
) -> None:
    """Remake the packs of one partition, write them, and count the differences to the recorded ones."""
    comparison = Comparison(stretch, selection, verdict)
    await comparison.read(log)
    partition = stretch.records.partition
    take = assembler.assigned(partition)
    for pack in comparison.before:
        take(pack)
    async for made in _made(log, stretch.records, assembler, verdict):
        if selection.has(made.record):
            await write(partition, made.record.key.encode(), made.value, made.headers)
            comparison.take(made)
    await comparison.settle(log)
    assembler.revoked(partition)


async def _made(log: Log, span: PartitionRange, assembler: Assembler, verdict: Verdict) -> AsyncIterator[ReplayedPack]:
    """The packs that the records of a partition settle."""
    async for received, _ in _decoded(log, span):
        verdict.records += 1
        verdict.unreadable += received is None
        for step in () if received is None else await assembler.handle(received):
            if isinstance(step, Refused):
                verdict.refused += 1
            elif isinstance(step, Outgoing) and step.topic is CONTEXT_PACKS and isinstance(step.event, ContextPack):
                key, value, headers = codec.encode(step, STAGE)
                made = Received(
                    step.event, step.envelope(STAGE), key.decode(), CONTEXT_PACKS.name, span.partition, -1, 0
                )
                yield ReplayedPack((step.event.pack_id, step.event.revision), made, value, headers)


async def _decoded(log: Log, span: PartitionRange) -> AsyncIterator[tuple[Received[Any] | None, ConsumerRecord]]:
    """Every record of a span, with its event; None for an undecodable one."""
    async for batch in log.read([span]):
        for record in batch:
            try:
                received = codec.decode_record(BY_NAME[span.topic], record)
            except Undecodable:
                received = None
            yield received, record


def _digest(value: bytes, headers: Headers) -> bytes:
    own = sorted((name, bytes(text or b"")) for name, text in headers if name != REPLAY_HEADER)
    return sha256(b"%d:%b" % (len(value), value) + repr(own).encode()).digest()


def first_difference(recorded: ConsumerRecord, made: ReplayedPack) -> str:
    """The first different field of two records of one pack, in the order of the recorded one."""
    try:
        where = _difference(orjson.loads(recorded.value or b""), orjson.loads(made.value))
    except orjson.JSONDecodeError:
        return "value: no JSON"
    if where is not None:
        return where.lstrip(".") or "value"
    if recorded.value != made.value:
        return "value: other bytes for the same fields"
    was, now = dict(recorded.headers), dict(made.headers)
    return next((f"header {name}" for name in {**was, **now} if was.get(name) != now.get(name)), "headers: their order")


def _difference(was: object, now: object) -> str | None:
    if isinstance(was, dict) and isinstance(now, dict):
        for name in {**was, **now}:
            if name not in was or name not in now:
                return f".{name}"
            if (below := _difference(was[name], now[name])) is not None:
                return f".{name}{below}"
        return None
    if isinstance(was, list) and isinstance(now, list):
        for at, (one, other) in enumerate(zip(was, now, strict=False)):
            if (below := _difference(one, other)) is not None:
                return f"[{at}]{below}"
        return None if len(was) == len(now) else f"[{min(len(was), len(now))}]"
    return None if was == now else ""
