"""The stores of one worker, opened by URL: in this process's memory, embedded in its data directory, or a server."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from agents.core import depth, text
from agents.errors import FathomError, Unavailable
from agents.ports import (
    Embedder,
    GraphWriter,
    LanguageIdentifier,
    MemoryGraph,
    PassageIndex,
    TokenCounter,
    WorkingSets,
)
from streams.stores.kglite_graph import KgliteGraph
from streams.stores.language import best_language
from streams.stores.memory import MemoryPassageIndex, MemoryWorkingSets
from streams.stores.memory_graph import MemoryGraph as MemoryGraphTwin
from streams.stores.qdrant_edge_index import QdrantEdgeIndex
from streams.stores.redis_working_sets import RedisWorkingSets, connect
from streams.stores.tokens import best_tokens
from streams.stores.valkey import Valkey
from streams.stores.vectors import HashingEmbedder, UseEmbedder

EMBEDDED = "embedded"
MEMORY = "memory"
REDIS = frozenset({"redis", "rediss", "unix"})

Check = Callable[[], Awaitable[None]]
Close = Callable[[], Awaitable[None]]


class UnsupportedUrl(FathomError):
    """A store's URL has a scheme that nothing here speaks; the message names those that can be used."""

    def __init__(self, setting: str, url: str, supported: tuple[str, ...]) -> None:
        # The scheme only: the rest may hold a password.
        scheme = urlsplit(url).scheme or "none"
        super().__init__(f"{setting}: a URL with scheme {scheme!r} is not supported, use {', '.join(supported)}")


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Where the stores are. `embedded://` is below `data_dir`, `embedded://DIR` below DIR.

    `public_writable` makes this worker an administrator's: it may write what every tenant reads.
    """

    data_dir: Path
    redis_url: str = "embedded://"
    qdrant_url: str = "embedded://"
    neo4j_url: str = "embedded://"
    embedder: Literal["use", "hashing"] = "use"
    public_writable: bool = False


@dataclass(slots=True)
class Stores:
    """Everything the agents' ports need, opened; `close` writes it all down."""

    working_sets: WorkingSets
    index: PassageIndex
    graph: MemoryGraph
    graph_writer: GraphWriter
    tokens: TokenCounter
    language: LanguageIdentifier
    embedder: Embedder
    checks: dict[str, Check] = field(default_factory=dict)
    closers: list[Close] = field(default_factory=list)

    async def ready(self) -> dict[str, str | None]:
        """What is wrong with each store; None for one that answers."""
        return {name: await _wrong(check) for name, check in self.checks.items()}

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


def open_stores(settings: StoreSettings) -> Stores:
    """Open all stores and load the models; blocks for about a second.

    Raises `UnsupportedUrl`, `DirectoryInUse` or `Unavailable`; what was opened by then is closed again.
    """
    opening = _Opening(settings)
    try:
        return opening.all()
    except BaseException:
        opening.undo()
        raise


class _Opening:
    """Opens stores one by one and remembers how each is checked and closed."""

    def __init__(self, settings: StoreSettings) -> None:
        self._settings = settings
        self._checks: dict[str, Check] = {}
        self._closers: list[Close] = []

    def all(self) -> Stores:
        embedder = HashingEmbedder() if self._settings.embedder == "hashing" else UseEmbedder()
        embedder.warm()
        text.warm()
        depth.warm()
        graph = self._graph()
        return Stores(
            working_sets=self._working_sets(),
            index=self._index(embedder),
            graph=graph,
            graph_writer=graph,
            tokens=best_tokens(),
            language=best_language(),
            embedder=embedder,
            checks=self._checks,
            closers=self._closers,
        )

    def undo(self) -> None:
        async def close() -> None:
            for each in reversed(self._closers):
                await each()

        # A thread of its own has no loop running, whoever called us.
        with ThreadPoolExecutor(1) as apart:
            apart.submit(asyncio.run, close()).result()

    def _working_sets(self) -> WorkingSets:
        url = self._settings.redis_url
        scheme = urlsplit(url).scheme
        if scheme == MEMORY:
            self._checks["working_set"] = _always
            return MemoryWorkingSets()
        if scheme == EMBEDDED:
            server = Valkey(self._directory(url, "valkey"))
            server.start()
            self._closers.append(partial(asyncio.to_thread, server.stop))
            url = f"unix://{server.socket}"
        elif scheme not in REDIS:
            raise UnsupportedUrl("redis_url", url, ("embedded://", "memory://", "redis://", "rediss://", "unix://"))
        sets = RedisWorkingSets(connect(url))
        self._checks["working_set"] = sets.ping
        self._closers.append(sets.close)
        return sets

    def _index(self, embedder: Embedder) -> PassageIndex:
        url, admin = self._settings.qdrant_url, self._settings.public_writable
        if urlsplit(url).scheme == MEMORY:
            self._checks["index"] = _always
            return MemoryPassageIndex(embedder, admin=admin)
        if urlsplit(url).scheme != EMBEDDED:
            raise UnsupportedUrl("qdrant_url", url, ("embedded://", "memory://"))
        index = QdrantEdgeIndex(self._directory(url, "index"), embedder, admin=admin)
        self._checks["index"] = index.ping
        self._closers.append(index.close)
        return index

    def _graph(self) -> KgliteGraph | MemoryGraphTwin:
        url, admin = self._settings.neo4j_url, self._settings.public_writable
        if urlsplit(url).scheme == MEMORY:
            self._checks["graph"] = _always
            return MemoryGraphTwin(admin=admin)
        if urlsplit(url).scheme != EMBEDDED:
            raise UnsupportedUrl("neo4j_url", url, ("embedded://", "memory://"))
        graph = KgliteGraph(self._directory(url, "graph"), admin=admin)
        self._checks["graph"] = graph.ping
        self._closers.append(graph.close)
        return graph

    def _directory(self, url: str, name: str) -> Path:
        given = url.partition("://")[2]
        return (Path(given).expanduser() if given else self._settings.data_dir) / name


async def _always() -> None:
    """A store in this process's memory answers."""


async def _wrong(check: Check) -> str | None:
    try:
        await check()
    except Unavailable as unavailable:
        return str(unavailable)
    return None
