"""Rebuilding of views of the log: every stage that only stores gets the records of its topics, as in a worker.

The writers are idempotent, so a view need not be empty, and an interrupted run can be repeated.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aiokafka import ConsumerRecord

from agents.errors import Rejected, Unavailable
from agents.ports.handlers import Handler
from schemas import codec
from schemas.codec import Undecodable
from schemas.envelope import Received
from schemas.topics import BY_NAME, CONVERSATION_TURNS, MEMORY_VOTES
from streams.dependencies import Dependencies
from streams.replay.log import Log, PartitionRange
from streams.replay.neighbours import Neighbours
from streams.replay.selection import Selection
from streams.stage import Stage
from streams.topology import STAGES

FIRST_WAIT, LONGEST_WAIT, PATIENCE_S = 0.1, 5.0, 60.0

Advance = Callable[[int, str], None]
Pause = Callable[[], Awaitable[None]]


async def no_pause() -> None:
    """Go on at once."""


def storing(*, graph: bool, index: bool, redis: bool = False) -> list[Stage]:
    """The stages that write to stores, and to one of the wanted ones."""
    stores = [stage for stage in STAGES if stage.storing or not stage.writes]
    return [each for each in stores if (redis if MEMORY_VOTES in each.reads else graph or (index and each.passages))]


def sources(stages: Iterable[Stage]) -> list[str]:
    """The topics that the stages read, each once."""
    return list(dict.fromkeys(topic.name for stage in stages for topic in stage.reads))


@dataclass(slots=True)
class Count:
    """Counts of one topic: records read, records selected, and records that a writer rejected."""

    read: int = 0
    selected: int = 0
    refused: int = 0
    unreadable: int = 0


@dataclass(slots=True)
class Filled:
    """The result of a run, by topic; and the reason for the first rejection."""

    topics: dict[str, Count] = field(default_factory=lambda: defaultdict(Count))
    why: str = ""


class Views:
    """Storing stages, over the stores of `built`."""

    def __init__(self, stages: Iterable[Stage], built: Dependencies) -> None:
        self.neighbours = Neighbours(enabled=built.context.policy.enabled)
        whole = replace(built, working_sets=self.neighbours)
        self._rows: dict[str, list[tuple[Stage, Handler]]] = defaultdict(list)
        for stage in stages:
            handler = stage.handler(whole)
            for topic in stage.reads:
                self._rows[topic.name].append((stage, handler))

    async def store(self, records: Sequence[Received[Any]]) -> list[Rejected]:
        """Store some records of one topic; returns rejections. Raises `Unavailable` after a minute without a store."""
        work = []
        for stage, handler in self._rows[records[0].topic]:
            # Passages of one conversation have each other as context: the last turn must be written last.
            chains = _by_key(records) if stage.passages else [[record] for record in records]
            work += [self._chain(stage, handler, chain) for chain in chains]
        return [refused for each in await asyncio.gather(*work) for refused in each]

    async def _chain(self, stage: Stage, handler: Handler, records: Sequence[Received[Any]]) -> list[Rejected]:
        refused = []
        for record in records:
            if stage.passages and record.topic == CONVERSATION_TURNS.name:
                self.neighbours.pass_by(record)
            try:
                await _patiently(handler, record)
            except Rejected as error:
                refused.append(error)
        return refused


async def _patiently(handler: Handler, record: Received[Any]) -> None:
    """Have a record stored, waiting for an absent store. Raises `Rejected`, `Unavailable`."""
    loop = asyncio.get_running_loop()
    until, wait = loop.time() + PATIENCE_S, FIRST_WAIT
    while True:
        try:
            await handler.handle(record)  # what the eraser sends is in the log
            return
        except Unavailable:
            if loop.time() + wait > until:
                raise
        await asyncio.sleep(wait)
        wait = min(2 * wait, LONGEST_WAIT)


def _by_key(records: Iterable[Received[Any]]) -> list[list[Received[Any]]]:
    found: dict[str, list[Received[Any]]] = defaultdict(list)
    for record in records:
        found[record.key].append(record)
    return list(found.values())


async def spans_of(
    log: Log, topics: Iterable[str], selection: Selection, *, neighbours: bool = False
) -> dict[str, list[PartitionRange]]:
    """The ranges to read of each topic. Turns are read from the beginning where passages need their neighbours."""
    return {
        topic: await log.spans(topic, None if neighbours and topic == CONVERSATION_TURNS.name else selection.since)
        for topic in topics
    }


async def fill(
    log: Log,
    spans: dict[str, list[PartitionRange]],
    views: Views,
    selection: Selection,
    advance: Advance,
    pause: Pause = no_pause,
) -> Filled:
    """Read the ranges topic by topic and store the selected records; `pause` is awaited after each batch."""
    filled = Filled()
    for topic, todo in spans.items():
        count = filled.topics[topic]
        async for batch in log.read(todo):
            chosen = _chosen(batch, selection, count, views)
            if chosen:
                refused = await views.store(chosen)
                count.refused += len(refused)
                filled.why = filled.why or (str(refused[0]) if refused else "")
            count.selected += len(chosen)
            advance(len(batch), topic)
            await pause()
    return filled


def _chosen(batch: Sequence[ConsumerRecord], selection: Selection, count: Count, views: Views) -> list[Received[Any]]:
    chosen = []
    count.read += len(batch)
    for record in batch:
        try:
            received = codec.decode_record(BY_NAME[record.topic], record)
        except Undecodable:
            count.unreadable += 1
            continue
        if not selection.has(received):
            continue
        if selection.since is None or record.timestamp >= selection.since:
            chosen.append(received)
        else:
            views.neighbours.pass_by(received)
    return chosen
