"""Records that may have killed the processes before this one: set apart, and given up after some deaths.

Where some processes in a row died without coming further in a partition, one of the records that were in hand then may
be why. They are handled with nothing else in hand in the process: some of a group together, and one by one those that
were together when the next process died. Which ones is left with the committed offset before. A record that was alone
when two processes died is a dead letter: once may be by chance. It costs nothing until then.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple, Protocol

from streams.faust.crash_mark import HELD, NO_DEATHS, SURVIVED_S, CrashMark
from streams.kafka.records import Record, TopicPartition
from streams.runtime.dead_letters import Failure
from streams.runtime.in_flight import InFlightRecord, InFlightSuspect
from streams.runtime.stage_runner import StageRunner
from streams.telemetry import metrics

LOGGER = logging.getLogger("fathom.group")
CODE = "crash_loop"
# How often a record is alone in hand when a process dies before it is given up.
TWICE = 2
# So many suspects are in hand together at most. One by one, many kills in a row left minutes of records to read.
TOGETHER = 64
# Other groups have the process as long as suspects had it before, at most so long.
PAUSE_S = 1.0
# As many as may have been in hand beyond the committed offset; one further on is found by a later process.
MOST_SUSPECTS = 256
# As long what is in hand already may take, so that nothing is in hand beside suspects.
QUIET_S, LOOK_S = 0.3, 0.005


class SuspectTurns:
    """The turns of a process in which suspects are handled: no group begins anything else meanwhile."""

    def __init__(self) -> None:
        self.busy = False
        self._turn = asyncio.Lock()
        self._free = asyncio.Event()
        self._loads: list[Callable[[], int]] = []

    def watch(self, load: Callable[[], int]) -> None:
        """Wait for what a group has in hand, too."""
        self._loads.append(load)

    async def begin(self) -> None:
        """Wait for the turn, and for what is in hand."""
        await self._turn.acquire()
        self.busy = True
        self._free.clear()
        try:
            async with asyncio.timeout(QUIET_S):
                while any(load() for load in self._loads):  # noqa: ASYNC110 - an event would cost every record
                    await asyncio.sleep(LOOK_S)
        except TimeoutError:
            return  # it waits for a store, say
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """Let all groups go on."""
        self.busy = False
        self._free.set()
        self._turn.release()

    async def ended(self) -> None:
        """Wait until no suspect is in hand."""
        await self._free.wait()


class Leaving(Protocol):
    """What a consumer group leaves beside its committed offsets."""

    def found(self, tp: TopicPartition) -> tuple[CrashMark, int]: ...

    def position(self, tp: TopicPartition) -> int | None: ...

    async def leave(self, marks: Mapping[TopicPartition, CrashMark]) -> bool: ...


@dataclass(slots=True)
class _Suspected:
    """A partition with suspects, which are below `until`; `mark` is what is left while none is in hand."""

    found: CrashMark
    mark: CrashMark
    until: int
    # Accepted, and not handled yet.
    pending: int = 0


class _Suspect(NamedTuple):
    tp: TopicPartition
    record: Record
    readers: Sequence[StageRunner]
    ack: Callable[[Record], None]


class Suspects:
    """The suspects of one group."""

    def __init__(self, group: str, most_deaths: int, turns: SuspectTurns) -> None:
        self._group = group
        self._most_deaths = most_deaths
        # From so many on what may be to blame is handled with nothing else in hand.
        self._some_deaths = max(most_deaths - TWICE, 1)
        self._process_turns = turns
        self._suspected: dict[TopicPartition, _Suspected] = {}
        self._numbers: set[int] = set()
        self._waiting: deque[_Suspect] = deque()
        self._turned = asyncio.Event()
        self._turns: asyncio.Task[None] | None = None

    def assigned(self, partitions: Collection[TopicPartition], leaving: Leaving) -> None:
        """Suspect what may have been in hand at the last deaths.

        Where a partition is suspected, so are those of the same number: conversations are read in order across topics.
        """
        self._suspected.clear()
        dying = {tp.partition for tp in partitions if self._most_deaths and self._is_dying(tp, leaving)}
        for tp in partitions:
            (found, end), start = leaving.found(tp), leaving.position(tp)
            if tp.partition not in dying or start is None or start >= end:
                continue
            until = max(min(end, start + MOST_SUSPECTS), found.alone.stop)
            self._suspected[tp] = _Suspected(found, found.acquitting(), until)
            metrics.log(
                LOGGER, logging.WARNING, "group.dying", group=self._group, topic=tp.topic, partition=tp.partition,
                deaths=found.deaths, from_offset=start, to_offset=until - 1,
            )  # fmt: skip
        self._told()

    def _is_dying(self, tp: TopicPartition, leaving: Leaving) -> bool:
        (found, end), start = leaving.found(tp), leaving.position(tp)
        if start is None or start >= end or found.deaths < self._some_deaths:
            return False
        return not found.alone or found.alone[-1] >= start

    def has(self, record: Record) -> bool:
        """Whether a record may be a suspect, or has to wait for one."""
        return record.partition in self._numbers

    async def take(
        self, record: Record, readers: Sequence[StageRunner], leaving: Leaving, ack: Callable[[Record], None]
    ) -> bool:
        """Accept a suspect; False for what is none, once no suspect before it is in hand or waits."""
        tp = TopicPartition(record.topic, record.partition)
        while tp.partition in self._numbers:
            suspected = self._suspected.get(tp)
            if suspected is None or record.offset >= suspected.until:
                if not self._pending(tp.partition):
                    break
                self._turned.clear()
                await self._turned.wait()
            elif len(self._waiting) < TOGETHER:
                suspected.pending += 1
                self._waiting.append(_Suspect(tp, record, readers, ack))
                if self._turns is None or self._turns.done():
                    self._turns = asyncio.create_task(self._take_turns(leaving))
                return True
            else:
                self._turned.clear()
                await self._turned.wait()
        if tp in self._suspected:
            await leaving.leave(self._cleared([tp]))
        return False

    def _pending(self, number: int) -> bool:
        """Whether a suspect of the partitions of a number waits or is in hand."""
        return any(one.pending for tp, one in self._suspected.items() if tp.partition == number)

    async def handled(self) -> None:
        """Wait until no suspect waits or is in hand."""
        if self._turns is not None:
            await asyncio.wait({self._turns})

    def revoked(self) -> None:
        """Let other groups go on; what is under way is drained, or read again by the next owner."""
        self._suspected.clear()
        self._numbers.clear()
        self._waiting.clear()
        if self._turns is not None:
            self._turns.cancel()
            self._turns = None

    async def _take_turns(self, leaving: Leaving) -> None:
        while self._waiting:
            begun = monotonic()
            await self._process_turns.begin()
            try:
                await self._handle(self._next(), leaving)
            finally:
                self._process_turns.end()
                self._turned.set()
            await asyncio.sleep(min(monotonic() - begun, PAUSE_S))

    def _next(self) -> list[_Suspect]:
        """One that was in hand at the last death, or some that were not."""
        suspects = [self._waiting.popleft()]
        while self._waiting and not any(self._accused(one) for one in (suspects[0], self._waiting[0])):
            suspects.append(self._waiting.popleft())
        return suspects

    def _accused(self, one: _Suspect) -> bool:
        return one.record.offset in self._suspected[one.tp].found.alone

    async def _handle(self, suspects: Sequence[_Suspect], leaving: Leaving) -> None:
        failures = [self._failure(one) for one in suspects]
        offsets: dict[TopicPartition, range] = {}
        for (tp, record, *_), failure in zip(suspects, failures, strict=True):
            # One before the accused was handled like this and killed nothing.
            if failure is None and record.offset >= self._suspected[tp].found.alone.start:
                offsets[tp] = range(offsets.get(tp, range(record.offset, 0)).start, record.offset + 1)
        left = {tp: self._suspected[tp] for tp in offsets}
        if left:
            await leaving.leave({tp: one.mark.begun().accusing(offsets[tp], one.found) for tp, one in left.items()})
        in_hand = [_submit(one, failure) for one, failure in zip(suspects, failures, strict=True)]
        with suppress(TimeoutError):
            async with asyncio.timeout(SURVIVED_S):
                for each in in_hand:
                    await each.over.wait()
        for one in suspects:
            self._suspected[one.tp].pending -= 1
        # Before anything else is begun: they would be blamed for what that does, and be dead letters twice.
        over = {one.tp for one in suspects if one.record.offset + 1 >= self._suspected[one.tp].until}
        given_up = {one.tp for one, failure in zip(suspects, failures, strict=True) if failure is not None}
        marks = {tp: self._suspected[tp].mark for tp in left.keys() | given_up} | self._cleared(over)
        if marks:
            await leaving.leave(marks)

    def _cleared(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, CrashMark]:
        """Suspect nothing more in these; what to leave for them."""
        for tp in partitions:
            del self._suspected[tp]
        self._told()
        return dict.fromkeys(partitions, HELD)

    def _told(self) -> None:
        self._numbers = {tp.partition for tp in self._suspected}
        metrics.SUSPECTED.labels(self._group).set(len(self._suspected))

    def _failure(self, one: _Suspect) -> Failure | None:
        """Why a record is not handled again."""
        suspected = self._suspected[one.tp]
        found, only = suspected.found, range(one.record.offset, one.record.offset + 1)
        if found.alone != only or found.times < TWICE or found.deaths < self._most_deaths:
            return None
        # What follows is not to blame for these deaths.
        suspected.found = suspected.mark = NO_DEATHS
        return Failure(
            CODE,
            f"{found.deaths} processes died of it, the last {found.times} with nothing else in hand",
            "ProcessDied",
        )


def _submit(one: _Suspect, failure: Failure | None) -> InFlightSuspect:
    """Have a suspect's stages handle it."""
    in_flight = InFlightSuspect(len(one.readers))
    delivery = InFlightRecord(one.record, len(one.readers), one.ack, suspect=in_flight, failure=failure)
    for runner in one.readers:
        runner.submit(delivery)
    return in_flight
