"""The graph and the index of a running process, asked at its Unix socket, by a command on the same machine."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from agents.errors import FathomError, Unavailable
from agents.ports.passages import Page, Passage
from streams.stores.graph.embedded.engine import GraphFileReader
from streams.stores.graph.rows import Found, Properties, RowBatch
from streams.stores.graph.store import Engine, GraphStore
from streams.stores.pickled_calls import Link, received, restored
from streams.version import version

GREETING_S = 10.0
# Ids at a time: a thousand hold a search up for some 20 ms.
MAX_LISTED = 200


class StoresNotServed(FathomError):
    """A running process that does not serve its stores to this command; the text says why, and what to do."""


class StoresGone(FathomError):
    """The process that held the stores has ended."""


class Calls:
    """Calls of the stores of another process, each awaited; raises `StoresGone`."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def ask(self, call: str, *arguments: object, **options: object) -> Any:
        """The answer; raises what the store raised."""
        try:
            return await self._link.ask(call, *arguments, **options)
        except ConnectionError:
            # Not `Unavailable`, for which writers wait: what was written stays, and the next run finds the rest.
            raise StoresGone(
                "`fathom up` has ended, and its stores with it; start it and run this again, or run it without `up`"
            ) from None


@dataclass(frozen=True, slots=True)
class RemoteEngine(Engine):
    """The engine of the graph in the other process."""

    calls: Calls

    async def read(self, query: str, parameters: Properties) -> Sequence[Found]:
        """The rows of a query; raises `Unavailable`."""
        found: Sequence[Found] = await self.calls.ask("graph.read", query, dict(parameters))
        return found

    async def write(self, rows: RowBatch) -> None:
        """Merge rows; raises `Unavailable`."""
        await self.calls.ask("graph.write", rows)

    async def erase(self, statement: str, parameters: Properties) -> None:
        """Run a statement that removes; raises `Unavailable`."""
        await self.calls.ask("graph.erase", statement, dict(parameters))


class RemoteGraph(GraphStore):
    """The graph in the other process."""

    def __init__(self, calls: Calls, *, admin: bool = False) -> None:
        self.engine: Engine = RemoteEngine(calls)
        self._calls = calls
        super().__init__(self.engine, admin=admin)

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[GraphStore]:
        """The graph, read from its file in this process, to be listed: the other one is not held up by it."""
        reader = GraphFileReader(await self._calls.ask("graph.file"))
        try:
            yield GraphStore(reader)
        finally:
            reader.close()


@dataclass(frozen=True, slots=True)
class RemoteIndex:
    """The index in the other process, to be listed and mended; it checks tenants itself."""

    calls: Calls

    async def listed(self, tenant: str, collection: str, *, after: str | None = None, limit: int = 1000) -> Page:
        """A page of ids of the tenant's own passages."""
        some = min(limit, MAX_LISTED)
        page: Page = await self.calls.ask("index.listed", tenant, collection, after=after, limit=some)
        return page

    async def upsert(self, tenant: str, collection: str, passages: Sequence[Passage]) -> None:
        """Store passages by id."""
        await self.calls.ask("index.upsert", tenant, collection, list(passages))

    async def remove(self, tenant: str, collection: str, ids: Sequence[str]) -> None:
        """Delete passages of the tenant; unknown ids are ignored."""
        await self.calls.ask("index.remove", tenant, collection, list(ids))


@asynccontextmanager
async def connected(socket: str, pid: int) -> AsyncIterator[Calls]:
    """The stores of the process `pid`, at its socket; an empty path is that of a release without one.

    Raises `StoresBusy`, `StoresNotServed`, `Unavailable`.
    """
    if not socket:
        raise StoresNotServed(_older(pid, "an earlier release"))
    try:
        reader, writer = await asyncio.open_unix_connection(socket)
        async with asyncio.timeout(GREETING_S):
            _, error, release = await received(reader)
    except PermissionError:
        raise StoresNotServed(
            f"only the user who runs `fathom up`, process {pid}, may work on its stores; run this as that user"
        ) from None
    except (OSError, EOFError, TimeoutError) as broken:
        raise Unavailable("stores", f"`fathom up`, process {pid}, does not answer at {socket}: {broken!r}") from None
    link = Link(reader, writer, gone=f"process {pid} has ended")
    try:
        if error is not None:
            raise restored(error)
        if release != version():
            raise StoresNotServed(_older(pid, f"release {release}, not {version()}"))
        yield Calls(link)
    finally:
        await link.close()


def _older(pid: int, what: str) -> str:
    return (
        f"`fathom up`, process {pid}, is of {what}, and does not serve its stores to this command: restart it with "
        f"this release, or stop it with `kill {pid}` and run this again"
    )
