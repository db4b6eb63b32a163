"""Filling of damaged stores from the log while packs go on: until it is done, reads of these stores are refused.

So a pack says which memory is missing, instead of that nothing is remembered. Writes go through: what happens meanwhile
is stored by the writers as ever, and storing it twice changes nothing.
"""

import asyncio
import copy
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import cast

from aiokafka.errors import KafkaError

from agents.errors import Unavailable
from agents.ports.passages import Hit, Passage, PassageIndex, PassageQuery
from streams.config import Settings
from streams.kafka.broker_diagnosis import BrokerRejected
from streams.kafka.clients import administering
from streams.kafka.security import security_of
from streams.replay import views
from streams.replay.log import opened
from streams.replay.null_index import NullPassageIndex
from streams.replay.selection import Selection
from streams.runtime.app import dependencies
from streams.runtime.stores import Check, Stores
from streams.stores.damage import mark_filled
from streams.stores.graph.rows import Found, Properties, RowBatch
from streams.stores.graph.store import Engine, GraphStore
from streams.telemetry import metrics

LOGGER = logging.getLogger("fathom.up")
RETRY_S = 5.0
# The longest pause after a batch, as long as which it is: packs have at least half of the event loop.
LONGEST_PAUSE_S = 1.0
STEPS = 10
GRAPH, INDEX = "graph", "index"

Refuse = Callable[[str], None]


async def refilling(settings: Settings, stores: Stores, missing: Collection[str], bootstrap: str) -> "Refilling | None":
    """The filling of the unfilled stores, if there are any; raises nothing.

    Those that were `missing` when this process began are new, unless their writers have stored something before.
    """
    unfilled = dict(stores.unfilled)
    for name in unfilled.keys() & {*missing}:
        if not await _had_stored(settings, name, bootstrap):
            mark_filled(unfilled.pop(name))
            continue
        metrics.log(
            LOGGER, logging.ERROR, "store.missing", store=name, directory=str(unfilled[name]),
            why="its files are not there, though its writers have stored before",
            next="it begins empty and is filled from the log, packs go on without it; see docs/backup.md#damaged-files",
        )  # fmt: skip
    return Refilling(settings, replace(stores, unfilled=unfilled)) if unfilled else None


async def _had_stored(settings: Settings, name: str, bootstrap: str) -> bool:
    """Whether a group that fills the store has committed something; where nobody says so, it may have."""
    stages = views.storing(graph=name == GRAPH, index=name == INDEX)
    try:
        async with administering(bootstrap, security_of(settings)) as admin:
            for group in {stage.consumer_group for stage in stages}:
                if any(each.offset > 0 for each in (await admin.list_consumer_group_offsets(group)).values()):
                    return True
    except (KafkaError, Unavailable, BrokerRejected):
        return True  # what is filled without need ends as it was
    return False


class Refilling:
    """The filling of the stores of a process that lack what the log says; `stores` is what stages read until then."""

    def __init__(self, settings: Settings, stores: Stores) -> None:
        self._settings = settings
        self._whole = stores
        self._names = tuple(stores.unfilled)
        self._why: str | None = "it is filled again from the log"
        self.stores = replace(stores, checks={name: self._checked(name) for name in stores.checks})
        if GRAPH in self._names:
            graph = copy.copy(cast("GraphStore", stores.graph))
            graph.engine = UnfilledEngine(graph.engine, self._refuse)
            self.stores = replace(self.stores, graph=graph, decisions=graph)
        if INDEX in self._names:
            self.stores = replace(self.stores, index=UnfilledIndex(stores.index, self._refuse))

    async def run(self, bootstrap: str) -> None:
        """Fill the stores, and let them be read; what fails is logged and begun again."""
        began = asyncio.get_running_loop().time()
        metrics.log(
            LOGGER, logging.WARNING, "store.filling", stores=self._names,
            why="it lacks what the log says", next="packs go on without it until store.filled",
        )  # fmt: skip
        while True:
            try:
                filled = await self._fill(bootstrap)
                break
            except Exception as error:
                # A bug, too, must not end packs of what is whole; readiness says why it is not done.
                self._why = f"it could not be filled from the log: {error}"
                if not isinstance(error, Unavailable):
                    LOGGER.exception("a store could not be filled")
                metrics.log(
                    LOGGER, logging.WARNING, "store.unfilled", stores=self._names, why=str(error), next="trying again"
                )
            await asyncio.sleep(RETRY_S)
        for directory in self._whole.unfilled.values():
            mark_filled(directory)
        self._why = None
        metrics.log(
            LOGGER, logging.WARNING, "store.filled", stores=self._names,
            records=sum(count.selected for count in filled.topics.values()),
            refused=sum(count.refused for count in filled.topics.values()), why_refused=filled.why or None,
            seconds=round(asyncio.get_running_loop().time() - began, 1),
        )  # fmt: skip

    async def _fill(self, bootstrap: str) -> views.Filled:
        built = dependencies(self._settings, self._whole)
        if INDEX not in self._names:
            built = replace(built, index=NullPassageIndex())
        stages = views.storing(graph=GRAPH in self._names, index=INDEX in self._names)
        async with opened(bootstrap, security_of(self._settings)) as log:
            chosen = Selection()
            spans = await views.spans_of(log, views.sources(stages), chosen, neighbours=INDEX in self._names)
            progress = _Progress(sum(len(span) for todo in spans.values() for span in todo), self._tell)
            return await views.fill(log, spans, views.Views(stages, built), chosen, progress.advance, progress.pause)

    def _tell(self, done: int, total: int) -> None:
        # In steps: each is logged as a change of the store's state.
        self._why = f"it is filled again from the log, {STEPS * done // total / STEPS:.0%} of {total:,} records so far"

    def _refuse(self, name: str) -> None:
        """Raise `Unavailable` until the store is filled."""
        if self._why is not None:
            raise Unavailable(name, self._why)

    def _checked(self, name: str) -> Check:
        check = self._whole.checks[name]

        async def checked() -> None:
            await check()
            if name in self._names:
                self._refuse(name)

        return checked


class _Progress:
    """How far a filling is, and how long its batches take."""

    def __init__(self, total: int, tell: Callable[[int, int], None]) -> None:
        self._done, self._total, self._tell = 0, total, tell
        self._began = asyncio.get_running_loop().time()

    def advance(self, records: int, _: str) -> None:
        self._done += records
        self._tell(self._done, self._total)

    async def pause(self) -> None:
        """Rest as long as the last batch took."""
        loop = asyncio.get_running_loop()
        await asyncio.sleep(min(loop.time() - self._began, LONGEST_PAUSE_S))
        self._began = loop.time()


class UnfilledEngine(Engine):
    """The engine of a graph that refuses reads; `refuse` raises `Unavailable` until they are right."""

    def __init__(self, engine: Engine, refuse: Refuse) -> None:
        self._engine = engine
        self._refuse = refuse

    async def read(self, query: str, parameters: Properties) -> Sequence[Found]:
        """The rows of a query; raises `Unavailable`."""
        self._refuse(GRAPH)
        return await self._engine.read(query, parameters)

    async def write(self, rows: RowBatch) -> None:
        """Write as ever."""
        await self._engine.write(rows)

    async def erase(self, statement: str, parameters: Properties) -> None:
        """Erase as ever."""
        await self._engine.erase(statement, parameters)


class UnfilledIndex:
    """A passage index that refuses searches; `refuse` raises `Unavailable` until they are right."""

    def __init__(self, index: PassageIndex, refuse: Refuse) -> None:
        self._index = index
        self._refuse = refuse

    async def search(self, tenant: str, collection: str, query: PassageQuery) -> tuple[Hit, ...]:
        """The passages nearest to a question; raises `Unavailable`."""
        self._refuse(INDEX)
        return await self._index.search(tenant, collection, query)

    async def upsert(self, tenant: str, collection: str, passages: Sequence[Passage]) -> None:
        """Store passages as ever."""
        await self._index.upsert(tenant, collection, passages)

    async def of_conversation(self, tenant: str, collection: str, conversation_id: str) -> tuple[Passage, ...]:
        """The passages of a conversation, to be erased, as ever."""
        return await self._index.of_conversation(tenant, collection, conversation_id)

    async def remove(self, tenant: str, collection: str, ids: Sequence[str]) -> None:
        """Remove passages as ever."""
        await self._index.remove(tenant, collection, ids)

    async def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of texts as ever."""
        return await self._index.vectors(texts)
