"""The stores of one worker, opened by URL: in this process's memory, embedded in its data directory, or a server."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agents.core.depth import levels
from agents.core.language import text
from agents.errors import FathomError, Unavailable
from agents.ports.graph import GraphReader, GraphWriter
from agents.ports.memories import RememberedReader
from agents.ports.models import TokenCounter
from agents.ports.passages import Hit, Passage, PassageIndex, PassageQuery
from streams.stores import word_lists
from streams.stores.damage import DamagedStore, is_unfilled, mark_unfilled, set_aside
from streams.stores.graph.embedded.engine import EmbeddedGraph
from streams.stores.graph.store import GraphStore
from streams.stores.ownership import PRIVATE_UMASK
from streams.stores.passages.index_process import IndexProcess, spawn_index
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.vectors import HashingEmbedder, UseEmbedder
from streams.stores.sessions.memory import MemoryWorkingSets
from streams.stores.sessions.redis_working_sets import RedisWorkingSets, connect
from streams.stores.sessions.tool_sessions import MemoryToolSessions, RedisToolSessions
from streams.stores.sessions.valkey import Valkey
from streams.stores.sessions.votes import MemorySignalWeights, RedisSignalWeights
from streams.stores.settings import EMBEDDED, MEMORY, StoreSettings
from streams.stores.tokens import best_tokens
from streams.telemetry import metrics
from streams.views.restorable import RestorableToolSessions, RestorableWeights, RestorableWorkingSets

if TYPE_CHECKING:
    from streams.stores.graph.neo4j_engine import Neo4jGraph

LOGGER = logging.getLogger("fathom.up")
Check = Callable[[], Awaitable[None]]
Close = Callable[[], Awaitable[None]]


@dataclass(slots=True)
class Stores:
    """The opened adapters of all ports; `close` persists them.

    `unfilled` are the directories of embedded stores that lack what the log says, by the store's name.
    """

    working_sets: RestorableWorkingSets
    weights: RestorableWeights
    tool_sessions: RestorableToolSessions
    index: PassageIndex
    graph: GraphReader
    graph_writer: GraphWriter
    decisions: RememberedReader
    tokens: TokenCounter
    checks: dict[str, Check] = field(default_factory=dict)
    closers: list[Close] = field(default_factory=list)
    unfilled: Mapping[str, Path] = field(default_factory=dict)

    async def ready(self) -> dict[str, str | None]:
        """The error of each store by name; None for one that answers."""
        return {name: await ask() for name, ask in self.asking().items()}

    def asking(self) -> dict[str, Callable[[], Awaitable[str | None]]]:
        """A question to each store by name: its error, or None."""
        return {name: partial(_wrong, check) for name, check in self.checks.items()}

    async def close(self) -> None:
        """Close all stores, the last opened first; one that fails does not keep the others open."""
        failed: list[Exception] = []
        while self.closers:
            try:
                await self.closers.pop()()
            except (FathomError, OSError) as error:
                failed.append(error)
        if failed:
            raise ExceptionGroup("some stores did not close", failed)


def open_stores(settings: StoreSettings, index: IndexProcess | None = None) -> Stores:
    """Open all stores and load the models; blocks for about a second, less when the `index` was spawned before.

    Raises `UnsupportedUrl`, `DirectoryInUse`, `DamagedStore` or `Unavailable`; what was opened by then is closed again.
    """
    opening = _Opening(settings, index)
    try:
        return opening.all()
    except BaseException:
        # Also on Ctrl-C: nobody else can close the stores yet, and one is a child process.
        opening.undo()
        raise


def open_whole_stores(settings: StoreSettings, index: IndexProcess | None = None) -> Stores:
    """Open all stores as `open_stores` does; those whose files are damaged are set aside, and begin empty."""
    begun: set[Path] = set()
    while True:
        try:
            return open_stores(settings, index)
        except DamagedStore as damaged:
            directory = damaged.directory.resolve()
            # One that is damaged again is not mended by another start.
            if directory in begun:
                raise
            begun.add(directory)
            _begin_empty(settings, directory, damaged)
        index = None


def _begin_empty(settings: StoreSettings, directory: Path, damaged: DamagedStore) -> None:
    filled = [each.resolve() for each in settings.filled_from_log().values()]
    try:
        aside = set_aside(directory)
        if directory in filled:
            mark_unfilled(directory)
    except OSError as error:
        raise damaged from error
    metrics.log(
        LOGGER, logging.ERROR, "store.damaged", store=directory.name, why=damaged.why, aside=str(aside),
        next="it begins empty and is filled from the log, packs go on without it; see docs/backup.md#damaged-files",
    )  # fmt: skip


class NoIndex:
    """The index of a worker without a stage that needs one: always unavailable."""

    async def upsert(self, _tenant: str, _collection: str, _passages: Sequence[Passage]) -> None:
        """Raises `Unavailable`."""
        raise Unavailable("index", "no stage of this worker needs it")

    async def search(self, _tenant: str, _collection: str, _query: PassageQuery) -> tuple[Hit, ...]:
        """Raises `Unavailable`."""
        raise Unavailable("index", "no stage of this worker needs it")

    async def of_conversation(self, _tenant: str, _collection: str, _conversation_id: str) -> tuple[Passage, ...]:
        """Raises `Unavailable`."""
        raise Unavailable("index", "no stage of this worker needs it")

    async def remove(self, _tenant: str, _collection: str, _ids: Sequence[str]) -> None:
        """Raises `Unavailable`."""
        raise Unavailable("index", "no stage of this worker needs it")

    async def vectors(self, _texts: Sequence[str]) -> list[list[float]]:
        """Raises `Unavailable`."""
        raise Unavailable("index", "no stage of this worker needs it")


class _Opening:
    """Opens stores one by one, with the check and close function of each."""

    def __init__(self, settings: StoreSettings, index: IndexProcess | None) -> None:
        for unsupported in settings.unsupported():
            raise unsupported
        word_lists.extend(settings.lexicons)
        self._settings = settings
        self._spawned = index or spawn_index(settings)
        self._checks: dict[str, Check] = {}
        # The graph's engine writes files of its own whenever it likes.
        self._closers: list[Close] = [partial(_restore, os.umask(PRIVATE_UMASK))]

    def all(self) -> Stores:
        if self._spawned is not None:
            self._closers.append(self._spawned.close)
        text.warm()
        levels.warm()
        graph = self._graph()
        working_sets, weights, tool_sessions = self._working_sets()
        index = self._index()  # the last: it becomes ready by itself, beside us
        directories = self._settings.filled_from_log()
        return Stores(
            working_sets=working_sets,
            weights=weights,
            tool_sessions=tool_sessions,
            graph=graph,
            graph_writer=graph,
            decisions=graph,
            tokens=best_tokens(),
            index=index,
            checks=self._checks,
            closers=self._closers,
            unfilled={name: each for name, each in directories.items() if is_unfilled(each)},
        )

    def undo(self) -> None:
        async def close() -> None:
            for each in reversed(self._closers):
                await each()

        # A thread of its own has no running loop, whatever the caller has.
        with ThreadPoolExecutor(1) as apart:
            apart.submit(asyncio.run, close()).result()

    def _working_sets(self) -> tuple[RestorableWorkingSets, RestorableWeights, RestorableToolSessions]:
        url = self._settings.redis_url
        scheme = urlsplit(url).scheme
        if scheme == MEMORY:
            self._checks["working_set"] = _always
            return MemoryWorkingSets(), MemorySignalWeights(), MemoryToolSessions()
        if scheme == EMBEDDED:
            server = Valkey(self._settings.directory(url, "valkey"))
            server.start()
            self._closers.append(partial(asyncio.to_thread, server.stop))
            url = f"unix://{server.socket}"
        client = connect(url)
        sets = RedisWorkingSets(client)
        self._checks["working_set"] = sets.ping
        self._closers.append(sets.close)
        return sets, RedisSignalWeights(client, embedded=scheme == EMBEDDED), RedisToolSessions(client)

    def _index(self) -> PassageIndex:
        if self._spawned is not None:
            self._spawned.wait()
            self._checks["index"] = self._spawned.ping
            return self._spawned
        if not self._settings.passages:
            return NoIndex()
        embedder = HashingEmbedder() if self._settings.embedder == "hashing" else UseEmbedder()
        embedder.warm()
        self._checks["index"] = _always
        return MemoryPassageIndex(embedder, admin=self._settings.public_writable)

    def _graph(self) -> GraphStore:
        url, admin = self._settings.neo4j_url, self._settings.public_writable
        if urlsplit(url).scheme == MEMORY:
            self._checks["graph"] = _always
            return EmbeddedGraph(admin=admin)
        graph: EmbeddedGraph | Neo4jGraph
        if urlsplit(url).scheme == EMBEDDED:
            graph = EmbeddedGraph(self._settings.directory(url, "graph"), admin=admin)
        else:
            # Imported here: the driver costs a quarter of a second at start, and most workers do not need it.
            from streams.stores.graph.neo4j_engine import Neo4jServer, open_graph

            server = Neo4jServer(url, self._settings.neo4j_user, self._settings.neo4j_password)
            graph = open_graph(server, admin=admin)
        self._checks["graph"] = graph.ping
        self._closers.append(graph.close)
        return graph


async def _restore(umask: int) -> None:
    os.umask(umask)


async def _always() -> None:
    """The check of an in-memory store, which always answers."""


async def _wrong(check: Check) -> str | None:
    try:
        await check()
    except Unavailable as unavailable:
        return str(unavailable)
    return None
