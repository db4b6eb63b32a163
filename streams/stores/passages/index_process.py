"""The passage index, embedded or on a server, in a child process together with the model that makes its vectors.

Vectors and searches hold Python's lock: in the worker's process each of them would stop all packs for some
milliseconds. Here they use another core, and the model loads while the worker still starts.

The calls over the private socket between the two are those of `pickled_calls`, framed as `multiprocessing.connection`
frames them. Asyncio reads and writes them: a `Connection` would need a thread at both ends.
"""

import asyncio
import logging
import os
import signal
import socket
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

from agents.errors import FathomError, Unavailable
from agents.ports.passages import Hit, Page, Passage, PassageQuery
from streams.child_process import ChildProcess
from streams.stores.damage import DamagedStore
from streams.stores.guard import CircuitBreaker
from streams.stores.ownership import DirectoryInUse
from streams.stores.pickled_calls import Link, Told, restored
from streams.stores.settings import QdrantServer, StoreSettings
from streams.stores.tenant import checked, writable

LOGGER = logging.getLogger("fathom.index")
TIMEOUT_S = 5.0
# The vectors of a batch, behind those that others asked for before.
WRITE_S = 60.0
# Ten thousand passages take some seconds.
COMPACTED_S = 600.0
START_S = 60.0
STOP_S = 10.0
# The index of a killed worker flushes before it ends; its directory is free a moment later.
ORPHAN_S = 5.0
RETRY_S = 0.1
OF_DAMAGE = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL)
SERVER = "streams.stores.passages.index_server"

EmbedderName = Literal["use", "hashing"]


class IndexProcess:
    """`PassageIndex` of a directory or a server; `spawn` returns at once, `wait` when the child serves.

    A child that dies is replaced; calls raise `Unavailable` meanwhile, and while a server does not answer.

    Raises `DirectoryInUse`, `DamagedStore` and `Unavailable` when it cannot start.
    """

    def __init__(
        self,
        place: Path | QdrantServer,
        embedder: EmbedderName = "use",
        *,
        admin: bool = False,
        lexicons: Path | None = None,
        timeout: float = TIMEOUT_S,
    ) -> None:
        self.place = place
        self._embedder = embedder
        self._admin = admin
        self._lexicons = lexicons
        self._child = ChildProcess()
        self._socket: socket.socket | None = None
        self._link: Link | None = None
        self._replacing: asyncio.Task[None] | None = None
        self._linking = asyncio.Lock()
        self._serves = False
        self._closed = False
        self._guard = CircuitBreaker("index", timeout=timeout, errors=(ConnectionError,))

    @property
    def _name(self) -> Path | str:
        return self.place.url if isinstance(self.place, QdrantServer) else self.place

    @property
    def pid(self) -> int | None:
        """The process id of the child."""
        return self._child.pid

    def spawn(self) -> None:
        """Start the child, unless it runs."""
        if self._child.running:
            return
        ours, theirs = socket.socketpair()
        with theirs:
            arguments = [*_arguments(self.place), "--embedder", self._embedder, "--owner", str(os.getpid())]
            arguments += ["--admin"] * self._admin
            arguments += [] if self._lexicons is None else ["--lexicons", str(self._lexicons.absolute())]
            self._child.start_module(SERVER, *arguments, stdin=theirs.fileno(), stdout=None)
        self._socket = ours

    def wait(self) -> None:
        """Block until the child serves."""
        deadline = time.monotonic() + ORPHAN_S
        while True:
            self.spawn()
            assert self._socket is not None  # spawn has made it
            try:
                error = _greeting(self._socket)
            except (OSError, EOFError) as broken:
                error = self._ended(broken)
            if error is None:
                self._serves = True
                return
            self._bury()
            if not isinstance(error, DirectoryInUse) or time.monotonic() > deadline:
                raise error
            time.sleep(RETRY_S)

    def _ended(self, broken: Exception) -> Exception:
        """Why a child ended that has not said so: the engine maps its files, and what is damaged there may kill it."""
        number = self._child.killed_by(RETRY_S if isinstance(broken, TimeoutError) else STOP_S)
        if number in OF_DAMAGE and isinstance(self.place, Path):
            return DamagedStore(
                self.place, f"the index process died of {signal.Signals(number).name} when it opened it"
            )
        return Unavailable("index", f"its process ended before it served: {broken!r}")

    async def upsert(self, tenant: str, collection: str, passages: Sequence[Passage]) -> None:
        """Store passages by id; visible to the next search."""
        tenant = writable(tenant, admin=self._admin)
        await self._call("upsert", tenant, collection, list(passages), patience=WRITE_S)

    async def search(self, tenant: str, collection: str, query: PassageQuery) -> tuple[Hit, ...]:
        """Dense and BM25 candidates of this tenant, fused by reciprocal rank, best first."""
        found: tuple[Hit, ...] = await self._call("search", checked(tenant), collection, query)
        return found

    async def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """The unit vector of each text."""
        found: list[list[float]] = await self._call("vectors", list(texts))
        return found

    async def listed(self, tenant: str, collection: str, *, after: str | None = None, limit: int = 1000) -> Page:
        """A page of ids of the tenant's own passages, each once; `after` is `following` of the page before."""
        page: Page = await self._call("listed", checked(tenant), collection, after=after, limit=limit)
        return page

    async def of_conversation(self, tenant: str, collection: str, conversation_id: str) -> tuple[Passage, ...]:
        """The tenant's passages of the conversations of this id."""
        found: tuple[Passage, ...] = await self._call("of_conversation", checked(tenant), collection, conversation_id)
        return found

    async def remove(self, tenant: str, collection: str, ids: Sequence[str]) -> None:
        """Remove passages of the tenant; ids that do not exist are ignored."""
        await self._call("remove", writable(tenant, admin=self._admin), collection, list(ids))

    async def compact(self) -> None:
        """Rewrite an embedded index without what was removed from it; a server does so by itself."""
        if isinstance(self.place, Path):
            await self._call("compact", patience=COMPACTED_S)

    async def version(self) -> str:
        """The engine or server and its version."""
        return str(await self._call("version"))

    async def ping(self) -> None:
        """Check that the index answers; raises `Unavailable`."""
        await self._call("ping")

    async def close(self) -> None:
        """Flush the index, end the child and release its directory."""
        self._closed = True
        if self._replacing is not None and not self._replacing.done():
            await asyncio.wait({self._replacing}, timeout=STOP_S)
        try:
            if self._serves and self._child.running:
                async with asyncio.timeout(STOP_S):
                    await (await self._linked()).ask("close")
        except (ConnectionError, TimeoutError):
            LOGGER.warning("the index of %s did not close in order", self._name)
        finally:
            if self._link is not None:
                await self._link.close()
                self._link = None
            await asyncio.to_thread(self._bury)

    async def _call(self, method: str, *arguments: object, patience: float | None = None, **options: object) -> Any:
        async def call() -> Any:
            return await (await self._linked()).ask(method, *arguments, **options)

        return await self._guard.run(call, timeout=patience)

    async def _linked(self) -> Link:
        if self._link is not None and not self._link.broken:
            return self._link
        if self._link is not None:
            # A task of its own: the timeout of the caller may be shorter than a start.
            if not self._closed and (self._replacing is None or self._replacing.done()):
                self._replacing = asyncio.create_task(self._replace())
            raise ConnectionResetError("the index process has ended and is started again")
        async with self._linking:  # the first questions come together and share one link
            if self._link is None:
                assert self._socket is not None  # `wait` came first
                streams = await asyncio.open_connection(sock=self._socket.dup())
                self._link = Link(*streams, gone="the index process has ended")
        return self._link

    async def _replace(self) -> None:
        """Start a new child for one that died; calls fail meanwhile."""
        LOGGER.warning("the index process of %s ended and is started again", self._name)
        try:
            if self._link is not None:
                await self._link.close()
            await asyncio.to_thread(self._bury)
            await asyncio.to_thread(self.wait)
        except (FathomError, OSError) as error:
            LOGGER.warning("the index process of %s could not be started again: %s", self._name, error)
        else:
            self._link = None  # the next call links to the new child

    def _bury(self) -> None:
        """End the child."""
        if self._socket is not None:
            self._socket.close()  # the child ends at the end of its input
            self._socket = None
        self._child.end(STOP_S)


def spawn_index(settings: StoreSettings) -> IndexProcess | None:
    """A starting index process; None when the settings name another kind of index."""
    place = settings.index_directory() or settings.index_server()
    if place is None or not settings.passages:
        return None
    index = IndexProcess(place, settings.embedder, admin=settings.public_writable, lexicons=settings.lexicons)
    index.spawn()
    return index


def _arguments(place: Path | QdrantServer) -> list[str]:
    """The place as command line arguments; a key by its file only, for every user can read the arguments."""
    if isinstance(place, Path):
        return [str(place.absolute())]
    key_file = place.api_key_file
    return ["--url", place.url, *([] if key_file is None else ["--api-key-file", str(key_file.absolute())])]


def _greeting(link: socket.socket) -> Exception | None:
    """The error that keeps the child from serving, if any; raises `OSError` and `EOFError`."""
    with Connection(os.dup(link.fileno())) as words:
        if not words.poll(START_S):
            raise TimeoutError(f"no greeting in {START_S} s")
        error: Told | None = words.recv()[1]
    return None if error is None else restored(error)
