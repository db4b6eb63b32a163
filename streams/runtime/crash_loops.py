"""Crash loops: a record that kills its process (memory, segmentation fault) is found, and then not handled again.

What is in progress is noted in the metadata of the committed offset, which costs nothing while all is well: a graceful
end writes `released`, so that whoever begins at an offset without it knows that the process before died with its
records in progress. After the first death they are handled in portions, each noted before it is begun; after the second
those of the noted portion one by one, stage by stage, while the process does nothing else; the one that was alone in
progress at the third becomes a dead letter of its stage, and the partition goes on.

A death counts only where the process lived on to note nothing else: a record that another one's crash, or a kill from
outside, interrupted is found harmless when it is handled alone. A record that kills later than ten seconds after it was
begun, while the event loop runs, is not found.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from streams.faust.beginnings import Beginning
from streams.kafka.records import Record, TopicPartition
from streams.runtime.dead_letters import Failure
from streams.telemetry import metrics

LOGGER = logging.getLogger("fathom.group")
CODE = "crash-loop"
MAX_DEATHS = 3
# A portion is noted with one request. Beyond what had been delivered at the last commit, so many may have been begun.
PORTION, MARGIN = 16, 256
# How long a portion waits for the one before; how long a record is alone; how long a search may stand.
LET_GO_S, ALONE_S, SEARCH_S, POLL_S = 1.0, 10.0, 30.0, 0.005
NOTE = re.compile(r"deaths=(\d+) records=(\d+)-(\d+)(?: stage=(\S+))?")
AHEAD = re.compile(r"ahead=(\d+)")


@dataclass(frozen=True, slots=True)
class CrashNote:
    """The offsets from `begin` up to before `end` that were in progress at `deaths` deaths in a row.

    `stage` is the one that handled a single record; where others have given it up before, with commas behind those.
    """

    deaths: int
    begin: int
    end: int
    stage: str = ""

    def __str__(self) -> str:
        return f"deaths={self.deaths} records={self.begin}-{self.end}" + (f" stage={self.stage}" if self.stage else "")

    @property
    def convicts(self) -> bool:
        """Whether there is one record left that can have killed the processes."""
        return self.deaths >= MAX_DEATHS and self.end - self.begin == 1 and self.stage != ""


def suspicion(found: Beginning) -> CrashNote | None:
    """The records that the last process may have died of; None where it ended in order, or there are none."""
    left = found.unfinished
    if left is None:
        return None
    if (told := NOTE.fullmatch(left)) is not None:
        deaths, begin, end = (int(number) for number in told.group(1, 2, 3))
        if end > found.offset:
            return CrashNote(deaths + 1, max(begin, found.offset), min(end, found.end), told.group(4) or "")
    ahead = AHEAD.fullmatch(left)
    end = found.offset + MARGIN + (int(ahead.group(1)) if ahead else 0)
    return CrashNote(1, found.offset, min(end, found.end))


class NotedMembership(Protocol):
    """The operations of a consumer group that keep notes."""

    def beginnings(self) -> Mapping[TopicPartition, Beginning]: ...

    async def note(self, notes: Mapping[TopicPartition, str | None]) -> object: ...

    def keep(self, notes: Mapping[TopicPartition, str]) -> None: ...


class StepwiseRunner(Protocol):
    """The operations of a group's runner that a guard needs."""

    def sink(self, record: Record) -> Awaitable[None] | None: ...

    def load(self) -> int: ...

    async def idle(self) -> None: ...

    async def take_stepwise(
        self, record: Record, before: Callable[[str], Awaitable[None]], refused: Mapping[str, Failure | None]
    ) -> None: ...


class CarefulTurn:
    """The order of a process's groups while some have suspects: the others wait, and one record may be alone."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self._guards: list[CrashGuard] = []
        self._searching: set[CrashGuard] = set()
        self._over = asyncio.Event()
        self._until = 0.0

    @property
    def over(self) -> bool:
        """Whether no group has suspects."""
        return not self._searching

    def join(self, guard: "CrashGuard") -> None:
        """Count a group as one of the process."""
        self._guards.append(guard)

    def begin(self, guard: "CrashGuard") -> None:
        """Count a group as searching."""
        if not self._searching:
            self._until = asyncio.get_running_loop().time() + SEARCH_S
        self._searching.add(guard)
        self._over.clear()

    def end(self, guard: "CrashGuard") -> None:
        """Count a group as done."""
        self._searching.discard(guard)
        if not self._searching:
            self._over.set()

    async def wait(self) -> None:
        """Wait until no group searches, or it takes too long."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(self._until):
                while self._searching:
                    await self._over.wait()

    async def quiet(self) -> bool:
        """Wait until no record of the process is in progress; False where that takes too long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(ALONE_S):
                while any(guard.busy for guard in self._guards):  # noqa: ASYNC110
                    await asyncio.sleep(POLL_S)
                return True
        return False


class CrashGuard:
    """The way of one group's records to its runner: direct, unless a process died with some of them in progress."""

    def __init__(self, runner: StepwiseRunner, turn: CarefulTurn) -> None:
        self._runner = runner
        self._turn = turn
        self._group: NotedMembership | None = None
        self._suspects: dict[TopicPartition, CrashNote] = {}
        self._portions: dict[TopicPartition, int] = {}
        self._ends: asyncio.TimerHandle | None = None
        self._moved_at = 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        self._stepping = 0
        turn.join(self)

    @property
    def busy(self) -> bool:
        """Whether a record of the group is in progress, or about to be."""
        return self._stepping > 0 or self._runner.load() > 0

    def join(self, group: NotedMembership) -> None:
        """Bind the group that feeds `sink`."""
        self._group = group

    def assigned(self) -> None:
        """Look at the notes of the partitions that are to be read."""
        assert self._group is not None
        found = {tp: suspicion(begun) for tp, begun in self._group.beginnings().items()}
        self._suspects = {tp: note for tp, note in found.items() if note is not None}
        if self._suspects:
            self._turn.begin(self)
            self._ends = asyncio.get_running_loop().call_later(SEARCH_S, self._give_up)
            deaths = max(note.deaths for note in self._suspects.values())
            metrics.log(LOGGER, logging.WARNING, "group.careful", partitions=len(self._suspects), deaths=deaths)

    async def revoked(self) -> None:
        """Leave all suspicion to the next owner, once what was begun alone is done or takes too long."""
        assert self._group is not None
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=2 * LET_GO_S)
        self._group.keep({tp: _unchanged(note) for tp, note in self._suspects.items()})
        self._suspects, self._portions = {}, {}
        if self._ends is not None:
            self._ends.cancel()
        self._turn.end(self)

    def sink(self, record: Record) -> Awaitable[None] | None:
        """Hand a record to the runner, as `GroupRunner.sink` does."""
        if self._suspects:
            return self._carefully(record)
        if self._turn.over:
            return self._runner.sink(record)
        return self._after_others(record)

    async def idle(self) -> None:
        """Wait until nothing of the group is in progress, or it takes too long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LET_GO_S):
                await self._runner.idle()

    async def _after_others(self, record: Record) -> None:
        await self._turn.wait()
        await self._hand_over(record)

    async def _hand_over(self, record: Record) -> None:
        if (waiting := self._runner.sink(record)) is not None:
            await waiting

    async def _carefully(self, record: Record) -> None:
        tp, offset = record.tp, record.offset
        self._moved_at = asyncio.get_running_loop().time()
        note = self._suspects.get(tp)
        if note is not None and offset >= note.end:
            await self._passed(tp)
            note = None
        if note is None or offset < note.begin:
            async with self._turn.lock:
                await self._hand_over(record)
        elif note.deaths == 1:
            await self._in_portions(record, note)
        else:
            await self._alone(record, note)
        if note is not None and offset + 1 >= note.end:
            self._later(self._passed(tp))

    async def _in_portions(self, record: Record, note: CrashNote) -> None:
        tp, offset = record.tp, record.offset
        async with self._turn.lock:
            if offset >= self._portions.get(tp, -1):
                await self.idle()
                end = min(offset + PORTION, note.end)
                await self._note(tp, str(CrashNote(note.deaths, offset, end)))
                self._portions[tp] = end
            await self._hand_over(record)

    async def _alone(self, record: Record, note: CrashNote) -> None:
        async with self._turn.lock:
            over = asyncio.Event()
            if not await self._turn.quiet():
                # Named beside others it could be held guilty of their deed.
                over.set()
            begun = asyncio.create_task(self._stepwise(record, note, over))
            self._keep(begun)
            # Where a rebalance cancels this, the record has been begun and counts as accepted.
            with suppress(asyncio.CancelledError):
                await asyncio.wait({begun}, timeout=SEARCH_S if note.convicts else ALONE_S)
                over.set()
            if begun.done():
                begun.result()
            elif over.is_set():
                await self._clear(record.tp, note, record.offset)

    async def _stepwise(self, record: Record, note: CrashNote, over: asyncio.Event) -> None:
        """Let one stage after the other handle a record, each named before; the convicted ones do not."""
        tp, offset = record.tp, record.offset
        *given_up, stage = note.stage.split(",") if note.convicts else [""]
        refused = {**dict.fromkeys(given_up), **({stage: _failure(record, note, stage)} if stage else {})}
        done = given_up

        async def before(name: str) -> None:
            if not name:
                done.append(stage)
            if name in refused or over.is_set() or tp not in self._suspects:
                return
            if done:
                # They are dead letters now, whoever goes on from here.
                self._suspects[tp] = replace(note, stage=",".join([*done, ""]))
            await self._note(tp, str(CrashNote(note.deaths, offset, offset + 1, ",".join([*done, name]))))

        self._stepping += 1
        try:
            await self._runner.take_stepwise(record, before, refused)
        finally:
            self._stepping -= 1
        await self._clear(tp, note, offset)

    async def _clear(self, tp: TopicPartition, note: CrashNote, offset: int) -> None:
        """Name a record no more; those behind it are suspected as before, since they were not in progress."""
        now = self._suspects.get(tp)
        if now is None or offset < now.begin:
            return
        if offset + 1 < note.end:
            self._suspects[tp] = replace(note, begin=offset + 1, stage="")
        await self._note(tp, _unchanged(self._suspects[tp]) if offset + 1 < note.end else None)

    async def _passed(self, tp: TopicPartition) -> None:
        """End the search in one partition, in which the suspects have been begun and killed nothing."""
        if self._suspects.pop(tp, None) is not None:
            await self.idle()
            await self._note(tp, None)
            if not self._suspects:
                self._turn.end(self)

    def _give_up(self) -> None:
        loop = asyncio.get_running_loop()
        if (left := self._moved_at + SEARCH_S - loop.time()) > 0:
            self._ends = loop.call_later(left, self._give_up)
            return
        for tp in list(self._suspects):
            self._later(self._passed(tp))

    async def _note(self, tp: TopicPartition, text: str | None) -> None:
        assert self._group is not None
        await self._group.note({tp: text})

    def _later(self, work: Coroutine[object, object, None]) -> None:
        self._keep(asyncio.get_running_loop().create_task(work))

    def _keep(self, task: "asyncio.Task[None]") -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _unchanged(note: CrashNote) -> str:
    """The note by which the next owner suspects the same records as much, and no more."""
    if note.deaths == 1:
        return f"ahead={max(note.end - note.begin - MARGIN, 0)}"
    return str(replace(note, deaths=note.deaths - 1))


def _failure(record: Record, note: CrashNote, stage: str) -> Failure:
    where = f"{record.topic}:{record.partition}:{record.offset}"
    detail = (
        f"stage {stage} was handling {where}, alone, when its process died, and {note.deaths} processes in a row "
        "died with it in progress; it was not handled again. The system's log says what they died of (memory, a "
        "segmentation fault); mend that, then redrive it with `fathom dlq redrive`"
    )
    fields = {"stage": stage, "record": where, "deaths": note.deaths}
    metrics.log(LOGGER, logging.ERROR, "record.quarantined", **fields)
    return Failure(CODE, detail, "ProcessDied", note.deaths)
