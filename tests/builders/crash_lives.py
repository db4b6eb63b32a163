"""Lives of a worker process in which records kill it: a journal in a real folder, everything else in memory.

A death leaves what a killed process would: a copy of the journal as it is at that moment, and the offset committed
until then. What the stage does after it is not seen.
"""

import asyncio
import shutil
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from agents.errors import Unavailable
from schemas.envelope import Outgoing, Received
from schemas.topics import DOCUMENTS_IN, MEMORY_KNOWLEDGE
from streams import config
from streams.kafka.records import Record, TopicPartition
from streams.runtime.crashes.journal import JournalFile, opened
from streams.runtime.crashes.watch import CrashWatch
from streams.runtime.group_runner import GroupRunner
from streams.stores.sessions.crash_counts import MemoryCrashCounts
from streams.testing.log import FakeClock, MemoryLog
from streams.topology import Stage

TP = TopicPartition(DOCUMENTS_IN.name, 0)
STAGE = "ingestion"
# What a stage does with a record, by its number: it may wait, kill by `Death`, or raise.
Behave = Callable[["CrashLives", int], Awaitable[None]]


class Death(BaseException):
    """The end of a process."""


class LeakyCounts(MemoryCrashCounts):
    """Counts that can be away, and that hear nothing from a dead process."""

    def __init__(self) -> None:
        super().__init__()
        self.away = False
        self.deaf = False

    async def crashed(self, records: Mapping[str, int]) -> None:
        if self.away:
            raise Unavailable("working_set")
        await super().crashed(records)

    async def forget(self, records: Collection[str]) -> None:
        if not self.deaf:
            await super().forget(records)


class CrashLives:
    """One partition of a topic with `records` of `keys` keys, read by one stage in one life after the other."""

    def __init__(self, folder: Path, records: int, behave: Behave, *, keys: int = 5) -> None:
        self.folder = folder
        self.behave = behave
        self.log = MemoryLog(FakeClock(), 1)
        self.counts = LeakyCounts()
        self.begun: dict[int, int] = defaultdict(int)
        self.done: list[int] = []
        self.deaths = 0
        # The records in hand of the living, and at each death.
        self.in_hand: set[int] = set()
        self.beside: list[frozenset[int]] = []
        self.most_beside: dict[int, int] = defaultdict(int)
        self.watch = CrashWatch()
        self._acked: set[int] = set()
        self._dead = False
        self.faults = True  # deaths of its own leave a traceback, as a segmentation fault does
        self._file: JournalFile | None = None
        for number in range(records):
            value = orjson.dumps({"document_id": f"{number}", "title": "t", "text": "x"})
            headers = (("tenant", b"acme"), ("number", b"%d" % number))
            self.log.append(DOCUMENTS_IN.name, b"%d" % (number % keys), value, headers, 0)

    @property
    def letters(self) -> list[Record]:
        return self.log.of(f"dead-letters.{STAGE}")

    @property
    def committed(self) -> int:
        return next(offset for offset in range(len(self.log.records[TP]) + 1) if offset not in self._acked)

    def ack(self, _topic: str, _partition: int, offset: int) -> None:
        if not self._dead:
            self._acked.add(offset)

    def assignment(self) -> frozenset[TopicPartition]:
        return frozenset({TP})

    def position(self, _: TopicPartition) -> int:
        return self.committed

    def highwater(self, _: TopicPartition) -> int:
        return len(self.log.records[TP])

    async def handle(self, received: Received[Any]) -> Sequence[Outgoing]:
        number = int(received.event.document_id)
        if self._dead:
            await asyncio.Event().wait()
        self.begun[number] += 1
        self.in_hand.add(number)
        for each in self.in_hand:
            self.most_beside[each] = max(self.most_beside[each], len(self.in_hand) - 1)
        await self.behave(self, number)
        self.in_hand.discard(number)
        if not self._dead:
            self.done.append(number)
        return ()

    def die(self, *, killed: bool = False) -> None:
        """End the process now; raises `Death`."""
        if not self._dead:
            assert self._file is not None
            self._dead = self.counts.deaf = True
            self.deaths += 1
            self.beside.append(frozenset(self.in_hand))
            shutil.copy(self._file._path, self.folder / f"here-{self.deaths}-copy.journal")
            if self.faults and not killed:
                (self.folder / f"here-{self.deaths}-copy.fault").write_text("Fatal Python error: Segmentation fault")
        raise Death

    async def live(self, *, killed_after: float | None = None, **settings: Any) -> bool:
        """Read all there is; False when the process died. `killed_after`: from outside, after so many seconds."""
        self._dead = self.counts.deaf = False
        self.in_hand.clear()
        self.most_beside.clear()
        before = asyncio.all_tasks()
        self._file = opened(self.folder, "here", (STAGE,), (DOCUMENTS_IN.name,))
        self.watch = CrashWatch(self._file.journal, self.counts)
        await self.watch.count_crashes(self.folder, "here")
        stage = Stage(STAGE, (DOCUMENTS_IN,), (MEMORY_KNOWLEDGE,), lambda _: self)
        runner = GroupRunner(STAGE, [(stage, self)], self.log, config.load({}, **settings), watch=self.watch)
        runner.join(self)
        await runner.on_assigned(frozenset({TP}))
        kill = (
            None if killed_after is None else asyncio.get_running_loop().call_later(killed_after, self._killed, runner)
        )
        reading = asyncio.ensure_future(self._read(runner))
        await asyncio.wait({reading, runner.failed}, return_when=asyncio.FIRST_COMPLETED)
        if kill is not None:
            kill.cancel()
        died = self._dead
        self._dead = True
        mine = asyncio.all_tasks() - before - {asyncio.current_task()}
        for task in mine:
            task.cancel()
        await asyncio.gather(*mine, return_exceptions=True)
        self._file.close()
        if died:
            return False
        if runner.failed.done():
            raise runner.failed.result()
        return True

    def _killed(self, runner: GroupRunner) -> None:
        try:
            self.die(killed=True)
        except Death as death:
            if not runner.failed.done():
                runner.failed.set_result(death)

    async def _read(self, runner: GroupRunner) -> None:
        for record in self.log.records[TP][self.committed :]:
            if (waiting := runner.sink(record)) is not None:
                await waiting
        await runner.idle()
        await asyncio.sleep(0.01)  # what is forgotten is

    async def live_on(self, most: int = 500) -> None:
        """Start again after each death, until all is read."""
        for _ in range(most):
            if await self.live():
                return
        raise AssertionError(f"{self.deaths} deaths, and still not all is read")
