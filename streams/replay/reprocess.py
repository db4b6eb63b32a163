"""Reprocessing: the messages of the log classified, planned, retrieved for and assembled again, as of then.

Memory is that of then: stores of its own get every record of the log in the order of time, and a message sees what was
recorded before it was filed as a turn. Decisions, claims and summaries are the recorded ones; depth, plan, parts and
pack are made again. Two runs with the same settings make the same packs. What was quarantined then is hidden, or what
is quarantined now.
"""

import time
from collections import Counter, defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, cast

from aiokafka import ConsumerRecord

from agents.core.packs.join_table import Partial
from agents.core.quarantine.sources import Quarantines
from agents.errors import Rejected
from agents.stages.assembler import Assembler
from schemas import codec
from schemas.base import PUBLIC_TENANT, Event, Source
from schemas.chat import Turn
from schemas.codec import Undecodable
from schemas.depth import DepthClassified
from schemas.envelope import Outgoing, Received, Step
from schemas.packs import ContextPack
from schemas.topics import (
    BY_NAME,
    CONTEXT_PACKS,
    DEPTH_CLASSIFIED,
    MEMORY_QUARANTINES,
    MESSAGES_IN,
    PACKS_PARTIAL,
    RETRIEVAL_PLANS,
)
from streams.dependencies import Dependencies
from streams.replay.selection import Selection
from streams.replay.views import Pause, Views, no_pause, sources
from streams.stage import Stage
from streams.topology import CHAINED_PATH, STAGES

# What is made again, and so written; nothing else of what the stages say leaves them.
WRITTEN = (DEPTH_CLASSIFIED, RETRIEVAL_PLANS, PACKS_PARTIAL, CONTEXT_PACKS)
DEPTH, RETRIEVAL, ASSEMBLER = "depth", "retrieval", "assembler"


Write = Callable[[int, str, Outgoing, float], Awaitable[None]]


class ReplayClock:
    """The time of the message that is processed again."""

    def __init__(self) -> None:
        self.at = datetime.fromtimestamp(0, UTC)

    def now(self) -> datetime:
        """The time of that message."""
        return self.at


@dataclass(slots=True)
class Reprocessed:
    """Counts of a run, in messages; `seconds` is what each pack took."""

    messages: int = 0
    packs: int = 0
    rejected: int = 0
    unreadable: int = 0
    memory: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    seconds: float = 0.0


def memory_stages() -> list[Stage]:
    """The stages that fill the stores from the log."""
    return [stage for stage in STAGES if stage.storing or not stage.writes]


def topics() -> list[str]:
    """The topics that are read; of the same millisecond, a message comes before what was learnt from it."""
    return [MESSAGES_IN.name, MEMORY_QUARANTINES.name, *sources(memory_stages())]


class Reprocessing:
    """A run over the records of a log; `pause` is called after each message.

    Quarantines are those of then, as the log has them, unless others are given.
    """

    def __init__(
        self,
        built: Dependencies,
        selection: Selection,
        write: Write,
        pause: Pause = no_pause,
        quarantines: Quarantines | None = None,
    ) -> None:
        self._clock = ReplayClock()
        hidden = Quarantines() if quarantines is None else quarantines
        self._then = hidden if quarantines is None else None
        again = replace(built, clock=self._clock, quarantines=hidden, hurried=False, tables={})
        self._pause = pause
        self._selection = selection
        self._write = write
        self._views = Views(memory_stages(), again)
        # A message is processed when its turn was filed: it may have waited in the log, while others were learnt from.
        self._waiting: dict[int, deque[Received[Any]]] = defaultdict(deque)
        path = {stage.name: stage.handler(again) for stage in CHAINED_PATH}
        self._depth, self._retrieval = path[DEPTH], path[RETRIEVAL]
        self._assembler = cast("Assembler", path[ASSEMBLER])
        self._offsets: Counter[tuple[str, int]] = Counter()
        self._done: set[str] = set()
        self.result = Reprocessed()

    def resume(self, partition: int, done: Sequence[Received[ContextPack]]) -> None:
        """Pass over the packs of a partition that an earlier attempt has written."""
        take = self._assembler.assigned(partition)
        for pack in done:
            take(pack)
        self._done |= {pack.event.pack_id for pack in done}

    async def window(self, records: Sequence[ConsumerRecord]) -> None:
        """Process the records of a window, which are in the order of time."""
        waiting: list[Received[Any]] = []
        for record in records:
            received = self._read(record)
            if received is None:
                continue
            if record.topic == MEMORY_QUARANTINES.name:
                if self._then is not None:
                    self._then.apply(received)
                continue
            if record.topic == MESSAGES_IN.name:
                self._waiting[record.partition].append(received)
                continue
            if isinstance(received.event, Turn) and self._is_due(received.event.source):
                await self._store(waiting)
                await self._messages(received.event.source)
            if waiting and waiting[-1].topic != received.topic:
                await self._store(waiting)
            waiting.append(received)
        await self._store(waiting)

    async def end(self) -> None:
        """Process the messages that were never filed as turns."""
        for partition, waiting in self._waiting.items():
            if waiting:
                await self._messages(Source(topic=MESSAGES_IN.name, partition=partition, offset=waiting[-1].offset))

    def _is_due(self, source: Source) -> bool:
        waiting = self._waiting[source.partition]
        return bool(waiting) and waiting[0].offset <= source.offset

    async def _messages(self, source: Source) -> None:
        """Process the messages of a partition up to the one that was filed then."""
        waiting = self._waiting[source.partition]
        while waiting and waiting[0].offset <= source.offset:
            await self._message(waiting.popleft())
            await self._pause()

    def _read(self, record: ConsumerRecord) -> Received[Any] | None:
        """The event of a record that the run needs: the selected messages, and what their tenants may see."""
        try:
            received = codec.decode_record(BY_NAME[record.topic], record)
        except Undecodable:
            self.result.unreadable += 1
            return None
        if record.topic == MESSAGES_IN.name:
            return received if self._selection.has(received) else None
        tenant = self._selection.tenant
        return received if tenant is None or received.envelope.tenant in (tenant, PUBLIC_TENANT) else None

    async def _store(self, waiting: list[Received[Any]]) -> None:
        if waiting:
            self.result.memory[waiting[0].topic] += len(waiting)
            self.result.refused += len(await self._views.store(waiting))
            waiting.clear()

    async def _message(self, record: Received[Any]) -> None:
        """Classify a message again, which keeps its conversation's state, and answer it where it is asked for."""
        began = time.perf_counter()
        self._clock.at = record.logged_at
        self.result.messages += 1
        try:
            steps = await self._depth.handle(record)
        except Rejected:
            self.result.rejected += 1
            return
        for step in _sent(steps, DEPTH_CLASSIFIED):
            if self._selection.answers(record, cast("DepthClassified", step.event).message_id):
                await self._answer(record.partition, step, began)

    async def _answer(self, partition: int, step: Outgoing, began: float) -> None:
        made: list[tuple[str, Outgoing]] = [(DEPTH, step)]
        made += [
            (RETRIEVAL, cast("Outgoing", each))
            for each in await self._retrieval.handle(self._received(DEPTH, step, partition))
        ]
        inputs = _sent((each for _, each in made), PACKS_PARTIAL)
        if not inputs or getattr(inputs[0].event, "pack_id", "") in self._done:
            return
        asked = cast("Received[Partial]", self._received(RETRIEVAL, inputs[0], partition))
        packs = _sent(await self._assembler.handle(asked), CONTEXT_PACKS)
        took = time.perf_counter() - began
        self.result.packs += len(packs)
        self.result.seconds += took
        for stage, each in [*made, *((ASSEMBLER, pack) for pack in packs)]:
            await self._write(partition, stage, each, took)

    def _received(self, stage: str, step: Outgoing, partition: int) -> Received[Event]:
        """A step as its reader would get it."""
        place = (step.topic.name, partition)
        offset = self._offsets[place]
        self._offsets[place] += 1
        stamp = round(self._clock.at.timestamp() * 1000)
        return Received(step.event, step.envelope(stage), step.key, step.topic.name, partition, offset, stamp)


def _sent(steps: Iterable[Step], *to: object) -> list[Outgoing]:
    return [step for step in steps if isinstance(step, Outgoing) and step.topic in to]
