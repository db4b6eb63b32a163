"""Packs made again from the recorded partial results, by the assembler that made them, and held against the recorded.

A pack depends on its own records, on the time of its partition, and on the packs before it in its conversation, of
which it leaves out what they carried. So an earlier stretch is read too: the records from `READ_BACK` before the first
pack that is compared, and the recorded packs from as long again before those, which the assembler is told as it is at
an assignment.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple

import orjson

from agents.core.packs.join import ORPHAN_AFTER
from agents.core.packs.join_table import REPEAT_WINDOW
from agents.stages.assembler import Assembler
from schemas import codec
from schemas.codec import Undecodable
from schemas.envelope import Outgoing, Received, Refused
from schemas.packs import ContextPack
from schemas.topics import BY_NAME, CONTEXT_PACKS, PACKS_PARTIAL, Topic
from streams.kafka.records import Record
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
    """A pack as it would be sent; `found_as` is its id and revision."""

    found_as: PackKey
    record: Received[ContextPack]
    value: bytes
    headers: Headers


@dataclass(frozen=True, slots=True)
class Difference:
    """A pack that is not as it was recorded: `different` (with the first field that is), `missing` or `extra`."""

    what: str
    pack_id: str
    revision: int
    partition: int
    field: str = ""


@dataclass(slots=True)
class Verdict:
    """What came of it, in packs; `waiting` were made and are not recorded yet, `lost` cannot be made again."""

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
        """Count it; the first are kept."""
        setattr(self, difference.what, getattr(self, difference.what) + 1)
        if len(self.differences) < SHOWN:
            self.differences.append(difference)


@dataclass(frozen=True, slots=True)
class ReplayRange:
    """What of one partition is read: its records, its recorded packs, and when the packs begin that are compared.

    Where retention has `cut` the log, packs from `asked` (None: any) up to `since` are lost, beside those `skipped`.
    """

    records: PartitionRange
    packs: PartitionRange
    since: datetime | None
    asked: datetime | None = None
    cut: bool = False
    skipped: int = 0

    def lacks(self, pack: ContextPack) -> bool:
        """Whether a pack before `since` was asked for, and cannot be made again."""
        return self.cut and (self.asked is None or pack.assembled_at >= self.asked)


def decoded(topic: Topic, record: Record) -> Received[Any]:
    """The event of a record; raises `Undecodable`."""
    return codec.decode_record(topic, record)


async def stretches(log: Log, since: int | None) -> list[ReplayRange]:
    """What is read of each partition."""
    # The packs' ends first: what is recorded up to there was made of records that lie before the others'.
    packs = await log.spans(CONTEXT_PACKS.name, None if since is None else since - 2 * READ_BACK_MS)
    records = await log.spans(PACKS_PARTIAL.name, None if since is None else since - READ_BACK_MS)
    return [await _stretch(log, one, other, since) for one, other in zip(records, packs, strict=True)]


async def _stretch(log: Log, records: PartitionRange, packs: PartitionRange, since: int | None) -> ReplayRange:
    asked = None if since is None else datetime.fromtimestamp(since / 1000, UTC)
    first = await log.first(records) if records.kept_from and records.begin == records.kept_from else None
    if first is None:
        return ReplayRange(records, packs, asked, asked)
    # Retention has cut the log here: a pack whose first records may be gone cannot be made again.
    possible = datetime.fromtimestamp(first.timestamp / 1000, UTC) + READ_BACK
    if asked is not None:
        return ReplayRange(records, packs, max(asked, possible), asked, cut=possible > asked)
    told = await log.spans(CONTEXT_PACKS.name, first.timestamp - READ_BACK_MS)
    begin = min(told[packs.partition].begin, packs.end)
    return ReplayRange(records, replace(packs, begin=begin), possible, cut=True, skipped=begin - packs.begin)


class PackReplayer:
    """The packs of one partition, made again record by record; `before` are those recorded before."""

    def __init__(self, assembler: Assembler, partition: int, before: Sequence[Received[ContextPack]]) -> None:
        self._assembler = assembler
        self.refused = 0
        assembler.assigned(partition, before)

    async def feed(self, record: Received[Any]) -> AsyncIterator[ReplayedPack]:
        """The packs that this record settles."""
        for step in await self._assembler.handle(record):
            if isinstance(step, Refused):
                self.refused += 1
            elif isinstance(step, Outgoing) and step.topic is CONTEXT_PACKS and isinstance(step.event, ContextPack):
                key, value, headers = codec.encode(step, STAGE)
                made = Received(
                    step.event, step.envelope(STAGE), key.decode(), CONTEXT_PACKS.name, record.partition, -1, 0
                )
                yield ReplayedPack((step.event.pack_id, step.event.revision), made, value, headers)


class RecordedPacks:
    """The recorded packs of a partition by id: only digests are kept, the few that differ are read again."""

    def __init__(self) -> None:
        self.before: list[Received[ContextPack]] = []
        self.places: dict[PackKey, tuple[int, bytes]] = {}
        self.lost = 0

    async def read(self, log: Log, stretch: ReplayRange, selection: Selection) -> None:
        """Packs up to the first that is compared are told to the assembler, the others are what it should make."""
        self.lost += stretch.skipped if selection.whole else 0
        compared = stretch.since is None
        async for batch in log.read([stretch.packs]):
            for record in batch:
                try:
                    pack = decoded(CONTEXT_PACKS, record)
                except Undecodable:
                    continue  # an outsider's record on our output: none of ours
                compared = compared or pack.event.assembled_at >= stretch.since
                if not compared:
                    self.before.append(pack)
                    self.lost += stretch.lacks(pack.event) and selection.has(pack)
                elif selection.has(pack):
                    found_as = (pack.event.pack_id, pack.event.revision)
                    # A send that was repeated left the same pack twice: the first counts, as it does for readers.
                    self.places.setdefault(found_as, (record.offset, _digest(record.value or b"", record.headers)))


class Comparison:
    """The packs of one partition, as they are made again, against the recorded."""

    def __init__(self, recorded: RecordedPacks, partition: int, verdict: Verdict) -> None:
        self._recorded = recorded
        self._partition = partition
        self._verdict = verdict
        self._left = dict(recorded.places)
        self._unknown: list[PackKey] = []
        self._differing: list[ReplayedPack] = []

    def take(self, made: ReplayedPack) -> None:
        """Count one."""
        self._verdict.made += 1
        place = self._left.pop(made.found_as, None)
        if place is None:
            self._unknown.append(made.found_as)
            return
        # Whatever was recorded after it proves that its turn had come.
        for found_as in self._unknown:
            self._verdict.note(Difference("extra", *found_as, self._partition))
        self._unknown.clear()
        if place[1] == _digest(made.value, made.headers):
            self._verdict.equal += 1
        elif len(self._differing) < SHOWN:
            self._differing.append(made)
        else:
            self._verdict.different += 1

    async def settle(self, log: Log, packs: PartitionRange) -> None:
        """Count what was not made, and find where the others differ."""
        self._verdict.waiting += len(self._unknown)
        for found_as in self._left:
            self._verdict.note(Difference("missing", *found_as, self._partition))
        for made in self._differing:
            was = await log.first(replace(packs, begin=self._recorded.places[made.found_as][0]))
            where = "" if was is None else first_difference(was, made)
            self._verdict.note(Difference("different", *made.found_as, self._partition, where))


async def compare(
    log: Log, stretch: ReplayRange, assembler: Assembler, selection: Selection, verdict: Verdict, write: Write
) -> None:
    """Make the packs of one partition again, write them and count what they are against the recorded."""
    recorded = RecordedPacks()
    await recorded.read(log, stretch, selection)
    partition = stretch.records.partition
    remaker = PackReplayer(assembler, partition, recorded.before)
    comparison = Comparison(recorded, partition, verdict)
    async for made in _made(log, stretch, remaker, verdict):
        if selection.has(made.record):
            await write(partition, made.record.key.encode(), made.value, made.headers)
            comparison.take(made)
    await comparison.settle(log, stretch.packs)
    verdict.lost += recorded.lost
    verdict.refused += remaker.refused
    assembler.revoked(partition)


async def _made(log: Log, stretch: ReplayRange, remaker: PackReplayer, verdict: Verdict) -> AsyncIterator[ReplayedPack]:
    async for batch in log.read([stretch.records]):
        verdict.records += len(batch)
        for record in batch:
            try:
                received = decoded(BY_NAME[record.topic], record)
            except Undecodable:
                verdict.unreadable += 1
                continue
            async for made in remaker.feed(received):
                yield made


def _digest(value: bytes, headers: Headers) -> bytes:
    own = sorted((name, bytes(text)) for name, text in headers if name != REPLAY_HEADER)
    return sha256(b"%d:%b" % (len(value), value) + repr(own).encode()).digest()


def first_difference(recorded: Record, made: ReplayedPack) -> str:
    """The first field in which two records of one pack differ, in the order in which the recorded one has them."""
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
