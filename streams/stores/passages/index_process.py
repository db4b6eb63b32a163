"""The passage index, embedded or on a server, in a child process together with the model that makes its vectors.

Vectors and searches hold Python's lock: in the worker's process each of them would stop all packs for some
milliseconds. Here they use another core, and the model loads while the worker still starts.

The socket between the two processes is private, so messages are pickled: four bytes of length, then `(number, method,
arguments)` one way and `(number, error, answer)` the other; number 0 is the greeting of the child.
"""

import asyncio
import logging
import os
import pickle
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

from agents.errors import FathomError, Rejected, Unavailable
from agents.ports.passages import Hit, Page, Passage, PassageQuery
from streams.child_process import ChildProcess
from streams.stores.guard import CircuitBreaker
from streams.stores.ownership import DirectoryInUse
from streams.stores.settings import QdrantServer, StoreSettings
from streams.stores.tenant import checked, writable

LOGGER = logging.getLogger("fathom.index")
TIMEOUT_S = 5.0
# A write waits while the embedded index's files are copied to be optimised.
WRITE_S = 60.0
START_S = 60.0
STOP_S = 10.0
# A killed worker's index is still putting down what it was doing; its directory is free a moment later.
ORPHAN_S = 5.0
RETRY_S = 0.1
LENGTH = struct.Struct(">I")
SERVER = "streams.stores.passages.index_server"

Said = tuple[str, tuple[Any, ...]]
EmbedderName = Literal["use", "hashing"]


class IndexProcess:
    """`PassageIndex` of a directory or a server; `spawn` returns at once, `wait` when it serves.

    A child that dies is replaced; calls raise `Unavailable` meanwhile, and while a server does not answer.

    Raises `DirectoryInUse` and `Unavailable` when it cannot start.
    """

    def __init__(
        self,
        place: Path | QdrantServer,
        embedder: EmbedderName = "use",
        *,
        admin: bool = False,
        timeout: float = TIMEOUT_S,
    ) -> None:
        self.place = place
        self._embedder = embedder
        self._admin = admin
        self._child = ChildProcess()
        self._socket: socket.socket | None = None
        self._link: _Link | None = None
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
            self._child.start_module(SERVER, *arguments, stdin=theirs.fileno(), stdout=None)
        self._socket = ours

    def wait(self) -> None:
        """Block until the child serves."""
        deadline = time.monotonic() + ORPHAN_S
        while True:
            self.spawn()
            assert self._socket is not None  # spawn has made it
            self._socket.settimeout(START_S)
            try:
                error = _greeting(self._socket)
            except (OSError, EOFError) as broken:
                error = ("Unavailable", ("index", f"its process ended before it served: {broken!r}"))
            if error is None:
                self._socket.setblocking(False)
                self._serves = True
                return
            self._bury()
            if error[0] != DirectoryInUse.__name__ or time.monotonic() > deadline:
                raise _as_error(error)
            time.sleep(RETRY_S)

    async def upsert(self, tenant: str, collection: str, passages: Sequence[Passage]) -> None:
        """Store passages by id; visible to the next search."""
        tenant = writable(tenant, admin=self._admin)
        await self._call("upsert", tenant, collection, list(passages), timeout=WRITE_S)

    async def search(self, tenant: str, collection: str, query: PassageQuery) -> tuple[Hit, ...]:
        """Dense and BM25 candidates of this tenant, fused by reciprocal rank, best first."""
        found = await self._call("search", checked(tenant), collection, query)
        return tuple(Hit(Passage(*passage), score, scores) for passage, score, scores in found)

    async def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """The unit vector of each text."""
        found: list[list[float]] = await self._call("vectors", list(texts))
        return found

    async def listed(self, tenant: str, collection: str, *, after: str | None = None, limit: int = 1000) -> Page:
        """A page of ids of the tenant's own passages, each once; `after` is `following` of the page before."""
        ids, following = await self._call("listed", checked(tenant), collection, after, limit)
        return Page(ids, following)

    async def remove(self, tenant: str, collection: str, ids: Sequence[str]) -> None:
        """Remove passages of the tenant; ids that do not exist are ignored."""
        await self._call("remove", writable(tenant, admin=self._admin), collection, list(ids))

    async def version(self) -> str:
        """The engine or server and its version."""
        return str(await self._call("version"))

    async def ping(self) -> None:
        """Raises `Unavailable` when the index does not answer."""
        await self._call("ping")

    async def close(self) -> None:
        """Flush the index, end the child and release its directory."""
        self._closed = True
        if self._replacing is not None and not self._replacing.done():
            await asyncio.wait({self._replacing}, timeout=STOP_S)
        try:
            if self._serves and self._child.running:
                async with asyncio.timeout(STOP_S):
                    await (await self._linked()).ask("close", ())
        except (ConnectionError, TimeoutError):
            LOGGER.warning("the index of %s did not close in order", self._name)
        finally:
            if self._link is not None:
                await self._link.close()
                self._link = None
            await asyncio.to_thread(self._bury)

    async def _call(self, method: str, *arguments: Any, timeout: float | None = None) -> Any:
        async def call() -> Any:
            return await (await self._linked()).ask(method, arguments)

        return await self._guard.run(call, timeout=timeout)

    async def _linked(self) -> "_Link":
        if self._link is not None and not self._link.broken:
            return self._link
        if self._link is not None:
            # Beside the caller: its patience may be shorter than a start, and would leave one half done.
            if not self._closed and (self._replacing is None or self._replacing.done()):
                self._replacing = asyncio.create_task(self._replace())
            raise ConnectionResetError("the index process has ended and is started again")
        async with self._linking:  # the first questions come together, and need one link
            if self._link is None:
                assert self._socket is not None  # `wait` came first
                self._link = await _Link.over(self._socket)
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
        if self._socket is not None:
            self._socket.close()  # which ends the child, when it has not ended yet
            self._socket = None
        self._child.end(STOP_S)


def spawn_index(settings: StoreSettings) -> IndexProcess | None:
    """An index process that is starting, to be waited for; None when the settings name another kind of index."""
    place = settings.index_directory() or settings.index_server()
    if place is None or not settings.passages:
        return None
    index = IndexProcess(place, settings.embedder, admin=settings.public_writable)
    index.spawn()
    return index


def _arguments(place: Path | QdrantServer) -> list[str]:
    """The place as command line arguments; of a key only its file, as everybody can read them."""
    if isinstance(place, Path):
        return [str(place.absolute())]
    key_file = place.api_key_file
    return ["--url", place.url, *([] if key_file is None else ["--api-key-file", str(key_file.absolute())])]


class _Link:
    """The client end of the socket: requests carry numbers, answers may come in any order."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._number = 0
        self.broken = False
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def over(cls, link: socket.socket) -> "_Link":
        return cls(*await asyncio.open_connection(sock=link.dup()))

    async def ask(self, method: str, arguments: tuple[Any, ...]) -> Any:
        """The answer; raises what the child says, or `ConnectionError` when it is gone."""
        if self.broken:
            raise ConnectionResetError("the index process has ended")
        self._number += 1
        number, answer = self._number, asyncio.get_running_loop().create_future()
        self._asked[number] = answer
        self._writer.write(framed((number, method, arguments)))
        try:
            return await answer
        finally:
            self._asked.pop(number, None)

    async def close(self) -> None:
        self._reading.cancel()
        self._writer.close()

    async def _read(self) -> None:
        try:
            while True:
                number, error, found = pickle.loads(await read_frame(self._reader))
                answer = self._asked.get(number)
                if answer is None or answer.done():
                    continue  # whoever asked has stopped waiting
                if error is None:
                    answer.set_result(found)
                else:
                    answer.set_exception(_as_error(error))
        except (OSError, EOFError):
            self.broken = True
            for answer in self._asked.values():
                if not answer.done():
                    answer.set_exception(ConnectionResetError("the index process has ended"))


# Frozen dataclasses unpickle slowly, field by field; a search brings some dozens.
_FIELDS = attrgetter(*(field.name for field in fields(Passage)))


def plain(hits: Sequence[Hit]) -> list[tuple[Any, ...]]:
    """Hits as they go over the socket."""
    return [(_FIELDS(hit.passage), hit.score, dict(hit.scores)) for hit in hits]


def framed(message: Any) -> bytes:
    """A message as it goes over the socket."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(body)) + body


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    """The next message's bytes; raises `EOFError` at the end."""
    (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
    return await reader.readexactly(length)


def _greeting(link: socket.socket) -> Said | None:
    """The child's greeting: the error that keeps it from serving, or None."""
    with link.makefile("rb") as words:
        if not words.read(LENGTH.size):
            raise ConnectionResetError("closed")
        error: Said | None = pickle.load(words)[1]
    return error


# Errors of ours that travel as they are, with what each is made of.
_ERRORS: dict[type[Any], tuple[str, ...]] = {
    Unavailable: ("what", "detail"),
    Rejected: ("code", "detail"),
    DirectoryInUse: ("path", "owner"),
}


def said(error: Exception) -> Said:
    """An error as it goes over the socket."""
    made_of = _ERRORS.get(type(error))
    if made_of is not None:
        return type(error).__name__, tuple(getattr(error, name) for name in made_of)
    return (FathomError if isinstance(error, FathomError) else type(error)).__name__, (str(error),)


def _as_error(told: Said) -> Exception:
    """The child's error as one of ours; what is a bug there is a bug here."""
    name, arguments = told
    for kind in (*_ERRORS, FathomError):
        if kind.__name__ == name:
            ours: Exception = kind(*arguments)
            return ours
    return RuntimeError(f"in the index process: {name}{arguments}")
