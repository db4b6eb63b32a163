"""Records that may have killed the processes before this one: handled one at a time, and given up after some deaths.

Where some processes in a row died without coming further in a partition, one of the records that were in hand then may
be why. They are handled alone, one in the whole process, and which one is left with the committed offset before. A
record that was alone when two processes died is a dead letter: once may be by chance. It costs nothing until then.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from streams.faust.crash_mark import HELD, NO_DEATHS, CrashMark
from streams.kafka.records import Record, TopicPartition
from streams.runtime.dead_letters import Failure
from streams.runtime.in_flight import InFlightRecord, InHandAlone
from streams.runtime.stage_runner import StageRunner
from streams.telemetry import metrics

LOGGER = logging.getLogger("fathom.group")
CODE = "crash_loop"
# How often a record is alone in hand when a process dies before it is given up.
TWICE = 2
# What does not kill in so long is not waited for, nor accused.
ALONE_S = 30.0
# As many as may have been in hand beyond the committed offset; one further on is found by a later process.
MOST_SUSPECTS = 256


# As long what is in hand already may take, so that nothing is in hand beside a suspect.
QUIET_S, LOOK_S = 0.3, 0.005


class Alone:
    """The one record of a process that is handled alone: no group begins another one meanwhile."""

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
        """Wait until no record is handled alone."""
        await self._free.wait()


class Leaving(Protocol):
    """What a consumer group leaves beside its committed offsets."""

    def found(self, tp: TopicPartition) -> tuple[CrashMark, int]: ...

    def position(self, tp: TopicPartition) -> int | None: ...

    async def leave(self, tp: TopicPartition, mark: CrashMark) -> bool: ...


@dataclass(slots=True)
class _Suspected:
    """A partition with suspects, which are below `until`; `mark` is what is left with the next one."""

    found: CrashMark
    mark: CrashMark
    until: int


class Suspects:
    """The suspects of one group."""

    def __init__(self, group: str, most_deaths: int, alone: Alone) -> None:
        self._group = group
        self._most_deaths = most_deaths
        # From so many on what may be to blame is handled alone.
        self._some_deaths = max(most_deaths - TWICE, 1)
        self._alone = alone
        self._suspected: dict[TopicPartition, _Suspected] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def assigned(self, partitions: Iterable[TopicPartition], leaving: Leaving) -> None:
        """Suspect what may have been in hand at the last deaths."""
        self._suspected.clear()
        for tp in partitions if self._most_deaths else ():
            (found, end), start = leaving.found(tp), leaving.position(tp)
            dying = found.alone is not None or found.deaths >= self._some_deaths
            if start is None or start >= end or not dying or (found.alone is not None and found.alone < start):
                continue
            until = max(min(end, start + MOST_SUSPECTS), (found.alone or 0) + 1)
            self._suspected[tp] = _Suspected(found, found.begun(), until)
            metrics.log(
                LOGGER, logging.WARNING, "group.dying", group=self._group, topic=tp.topic, partition=tp.partition,
                deaths=found.deaths, from_offset=start, to_offset=until - 1,
            )  # fmt: skip
        metrics.SUSPECTED.labels(self._group).set(len(self._suspected))

    def has(self, record: Record) -> bool:
        """Whether a record may be a suspect."""
        return bool(self._suspected) and (record.topic, record.partition) in self._suspected

    async def take(
        self, record: Record, readers: Sequence[StageRunner], leaving: Leaving, ack: Callable[[Record], None]
    ) -> bool:
        """Begin to handle a record alone, once no other one is; False for one that is no suspect, nor any after it."""
        tp = TopicPartition(record.topic, record.partition)
        await self._alone.begin()
        try:
            suspected = self._suspected.get(tp)
            if suspected is None or record.offset >= suspected.until:
                await self._clear(tp, leaving)
                self._alone.end()
                return False
            failure = self._failure(record, suspected)
            # One before the accused was handled alone and killed nothing.
            if failure is None and record.offset >= (suspected.found.alone or 0):
                await leaving.leave(tp, suspected.mark.accusing(record.offset, suspected.found))
        except BaseException:
            self._alone.end()
            raise
        delivery = InFlightRecord(record, len(readers), ack)
        delivery.alone, delivery.failure = InHandAlone(len(readers)), failure
        for runner in readers:
            runner.submit(delivery)
        task = asyncio.create_task(self._handled(record, delivery.alone, suspected, leaving))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return True

    def revoked(self) -> None:
        """Let other groups go on; what is under way is drained, or read again by the next owner."""
        self._suspected.clear()
        for task in self._tasks:
            task.cancel()

    async def _clear(self, tp: TopicPartition, leaving: Leaving) -> None:
        if self._suspected.pop(tp, None) is not None:
            await leaving.leave(tp, HELD)
            metrics.SUSPECTED.labels(self._group).set(len(self._suspected))

    def _failure(self, record: Record, suspected: _Suspected) -> Failure | None:
        """Why the record is not handled again."""
        found = suspected.found
        if record.offset != found.alone or found.times < TWICE or found.deaths < self._most_deaths:
            return None
        # What follows is not to blame for these deaths.
        suspected.found, suspected.mark = NO_DEATHS, HELD
        return Failure(
            CODE,
            f"{found.deaths} processes died of it, the last {found.times} with nothing else in hand",
            "ProcessDied",
        )

    async def _handled(self, record: Record, alone: InHandAlone, suspected: _Suspected, leaving: Leaving) -> None:
        tp = TopicPartition(record.topic, record.partition)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(ALONE_S):
                    await alone.over.wait()
            # Before anything else is begun: it would be blamed for what that does.
            if record.offset + 1 >= suspected.until:
                await self._clear(tp, leaving)
            elif record.offset >= (suspected.found.alone or 0):
                await leaving.leave(tp, suspected.mark.acquitting())
        finally:
            self._alone.end()
