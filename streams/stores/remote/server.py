"""The graph and the index that this process holds, for one command of the same user, at a Unix socket.

One process owns embedded stores, so a command that looks at them or mends them asks it. The socket is open to the
owner of the data directory alone, who could open the files themselves if this process did not: there is no token, no
network, and messages may be pickled. Calls are answered one after the other, each is small, and a pause as long as the
call follows it, so that packs have at least half of the event loop.
"""

import asyncio
import os
import shutil
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Protocol

from agents.errors import FathomError
from streams.stores.pickled_calls import GREETING, framed, received, told
from streams.version import version

FILE = "stores.sock"
# A socket address holds 104 to 108 bytes, depending on the system.
LONGEST_PATH = 100
CALLS = frozenset(
    ("graph.file", "graph.read", "graph.write", "graph.erase", "index.listed", "index.upsert", "index.remove")
)
OURS = "`fathom up`"


class StoresBusy(FathomError):
    """Another command works on the stores; the text says since when, and what to do."""


class ServedGraph(Protocol):
    """A graph over an engine."""

    @property
    def engine(self) -> object: ...


class StoreServer:
    """Answers one client at a time; `stores` are the graph's engine and the index, by the first part of a call."""

    def __init__(self, stores: Mapping[str, object]) -> None:
        self._stores = stores
        self._since: float | None = None
        self._closing = False
        self._clients: dict[asyncio.Task[None], asyncio.StreamReader] = {}

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a client that has connected."""
        task = asyncio.create_task(self._serve(reader, writer))
        self._clients[task] = reader
        task.add_done_callback(self._clients.pop)

    async def close(self) -> None:
        """End after the call that is being answered."""
        self._closing = True
        for reader in self._clients.values():
            reader.feed_eof()
        if self._clients:
            await asyncio.wait(self._clients)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self._since is not None:
                busy = StoresBusy(
                    f"another command works on these stores, for {time.monotonic() - self._since:.0f} s; "
                    "wait until it has ended, or end it with Ctrl-C"
                )
                writer.write(framed((GREETING, told(busy, OURS), None)))
                return
            self._since = time.monotonic()
            try:
                writer.write(framed((GREETING, None, version())))
                while not self._closing:
                    writer.write(await self._answer(*await received(reader)))
                    await writer.drain()
            finally:
                self._since = None
        except (EOFError, ConnectionError):
            pass  # the client has ended; what it asked for last is done
        finally:
            writer.close()

    async def _answer(
        self, number: int, call: str, arguments: tuple[object, ...], options: Mapping[str, object]
    ) -> bytes:
        began = time.monotonic()
        error, found = None, None
        try:
            if call not in CALLS:
                raise FathomError(f"there is no call {call!r} of the stores")
            name, _, method = call.partition(".")
            found = await getattr(self._stores[name], method)(*arguments, **options)
        except Exception as raised:  # noqa: BLE001 - the client handles it
            error = told(raised, OURS)
        answer = framed((number, error, found))
        await asyncio.sleep(time.monotonic() - began)
        return answer


@asynccontextmanager
async def serving(home: Path, graph: ServedGraph, index: object) -> AsyncIterator[Path]:
    """Serve the engine of a graph and an index in a data directory that is locked by us; the path of the socket."""
    with _bound(home) as (listener, path):
        server = StoreServer({"graph": graph.engine, "index": index})
        listening = await asyncio.start_unix_server(server.accept, sock=listener)
        try:
            yield path
        finally:
            listening.close()
            await server.close()


@contextmanager
def _bound(home: Path) -> Iterator[tuple[socket.socket, Path]]:
    """A socket that only our user can connect to, and its path, which is gone afterwards."""
    path, apart = home.resolve() / FILE, None
    if len(os.fsencode(path)) > LONGEST_PATH:
        apart = tempfile.mkdtemp(prefix="fathom-")
        path = Path(apart) / FILE
    path.unlink(missing_ok=True)  # of a process that was killed
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
            path.chmod(0o600)  # it does not listen yet: nobody can have connected
            yield listener, path
    finally:
        path.unlink(missing_ok=True)
        if apart is not None:
            shutil.rmtree(apart, ignore_errors=True)
