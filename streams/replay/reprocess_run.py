"""A reprocessing from start to end: stores of its own, topics of its own, at a chosen rate, resumable."""

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import orjson
from aiokafka import AIOKafkaProducer

from schemas import codec
from schemas.envelope import Outgoing, Received, header_map
from schemas.packs import ContextPack
from schemas.topics import CONTEXT_PACKS, MESSAGES_IN
from streams.config import Settings
from streams.dependencies import Dependencies
from streams.models.open import open_models
from streams.redaction import redacted
from streams.replay import packs, runs
from streams.replay.exact import Headers
from streams.replay.folders import ReplayFolder
from streams.replay.log import Log
from streams.replay.packs import ReplayWriter
from streams.replay.reprocess import WRITTEN, Reprocessed, Reprocessing
from streams.replay.selection import Selection, topic_of
from streams.replay.timeline import Timeline
from streams.runtime.app import dependencies
from streams.runtime.stores import open_stores
from streams.stores.settings import StoreSettings
from streams.topology import STAGES
from streams.version import version

# The digest of what a replay was asked for, on each of its records: one that goes on must be asked for the same.
ORDER_HEADER = "fathom_replay_order"
# A replay leaves the processors to what is live: `up`, workers, a broker.
NICENESS = 10
# Packs that wait until the rest of their messages is stored.
HELD_PACKS = 8

Advance = Callable[[int, str], object]


class OtherOrder(Exception):
    """A replay cannot go on: it was begun with other options, settings or another version."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a replay is asked for; `changed` are the settings that differ from the process's own.

    `hidden_now`: what is quarantined now is hidden, instead of what was then.
    """

    replay_id: str
    selection: Selection
    changed: Mapping[str, str]
    hidden_now: bool = False

    @property
    def digest(self) -> bytes:
        chosen = self.selection
        said = [
            chosen.since, chosen.tenant, chosen.conversation, sorted((chosen.offsets or {}).items()), chosen.sample,
            sorted(self.changed.items()), version(), *(["hidden now"] if self.hidden_now else []),
        ]  # fmt: skip
        return hashlib.sha256(orjson.dumps(said)).hexdigest()[:16].encode()


async def create_topics(bootstrap: str, settings: Settings, log: Log, replay_id: str) -> None:
    """Create the replay's topics, each like the one it stands for."""
    for topic in WRITTEN:
        count = log.partitions(topic.name)
        await packs.create(bootstrap, settings, topic_of(topic.name, replay_id), topic.name, count)


@asynccontextmanager
async def opened_memory(settings: Settings) -> AsyncIterator[Dependencies]:
    """Dependencies over empty stores of this process, which end with the context."""
    folder = ReplayFolder()
    try:
        wanted = StoreSettings(
            data_dir=folder.path / "stores",
            redis_url="memory://",
            embedder=settings.embedder,
            public_writable=True,
            lexicons=settings.lexicons,
        )
        stores = await asyncio.to_thread(open_stores, wanted)
        try:
            models = open_models(settings, [stage.group_name for stage in STAGES])
            own = settings.model_copy(update=dict.fromkeys(("neo4j_url", "qdrant_url", "redis_url"), "embedded://"))
            yield replace(dependencies(own, stores), models=models)
        finally:
            await stores.close()
    finally:
        folder.remove()


class Sink:
    """Writes what is made again, except what an earlier attempt has written."""

    def __init__(self, producer: AIOKafkaProducer, order: Order) -> None:
        marks = [(ORDER_HEADER, order.digest)]
        if order.changed:
            shown = {name: redacted(value) for name, value in sorted(order.changed.items())}
            marks.append((runs.SETTINGS_HEADER, orjson.dumps(shown)))
        self._writers = {
            topic.name: ReplayWriter(producer, topic_of(topic.name, order.replay_id), order.replay_id, marks)
            for topic in WRITTEN
        }
        self._packs: list[tuple[int, bytes, bytes, Headers]] = []

    async def write(self, partition: int, stage: str, step: Outgoing, took: float) -> None:
        """Write one step of a stage; a pack with the time it took."""
        key, value, headers = codec.encode(step, stage)
        if step.topic is not CONTEXT_PACKS:
            await self._writers[step.topic.name].write(partition, key, value, headers)
            return
        self._packs.append((partition, key, value, [*headers, (runs.TOOK_HEADER, f"{1000 * took:.1f}".encode())]))
        if len(self._packs) >= HELD_PACKS:
            await self.flush()

    async def flush(self) -> None:
        """Await all that was written, then write the packs: a pack says that its message is done."""
        for writer in self._writers.values():
            await writer.flush()
        packs, self._packs = self._packs, []
        for pack in packs:
            await self._writers[CONTEXT_PACKS.name].write(*pack)
        await self._writers[CONTEXT_PACKS.name].flush()


async def resume(log: Log, order: Order, again: Reprocessing) -> int:
    """Pass over what an earlier attempt has written; returns its packs. Raises `OtherOrder`."""
    found = 0
    for span in await log.spans(topic_of(CONTEXT_PACKS.name, order.replay_id)):
        done: list[Received[ContextPack]] = []
        async for received, record in runs.events(log, [span], CONTEXT_PACKS.name):
            _check(order, header_map(record.headers).get(ORDER_HEADER, ""))
            done.append(received)
        again.resume(span.partition, done)
        found += len(done)
    return found


def _check(order: Order, digest: str) -> None:
    if digest.encode() != order.digest:
        raise OtherOrder(
            f"replay {order.replay_id} was begun with other options, other settings or another version of fathom; "
            "give the same again, or begin a new one without --resume"
        )


class MaxRate:
    """At most so many messages a second; None: as fast as it goes."""

    def __init__(self, max_rate: float | None) -> None:
        self._every = 0.0 if max_rate is None else 1 / max_rate
        self._due = time.monotonic()

    async def wait(self) -> None:
        """Wait until the next message is due."""
        now = time.monotonic()
        self._due = max(self._due + self._every, now)
        await asyncio.sleep(self._due - now)


async def run(timeline: Timeline, again: Reprocessing, sink: Sink, advance: Advance) -> Reprocessed:
    """Process the whole timeline."""
    async for window in timeline.windows():
        await again.window(window)
        await sink.flush()
        advance(len(window), MESSAGES_IN.name)
    await again.end()
    await sink.flush()
    return again.result


def step_aside() -> None:
    """Lower this process's priority, and so that of its children."""
    os.nice(NICENESS)
