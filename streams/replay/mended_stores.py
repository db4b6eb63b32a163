"""The graph and the index that are held against the log: opened here, or asked of the `fathom up` that holds them."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import cast

from agents.ports.graph import GraphInventory
from streams.config import Settings
from streams.dependencies import Dependencies
from streams.replay.broker_source import holder
from streams.replay.chosen_stores import URLS, opened_stores
from streams.replay.reconcile import Graph, Index
from streams.replay.reprocess_run import step_aside
from streams.runtime.app import dependencies
from streams.stores.remote.client import Calls, RemoteGraph, RemoteIndex, connected
from streams.topology import STAGES

MENDED = ("graph", "index")


@dataclass(frozen=True, slots=True)
class MendedStores:
    """A graph and an index to be listed and written, and what the writing stages are built of."""

    graph: Graph
    index: Index
    built: Dependencies
    snapshot: Callable[[], AbstractAsyncContextManager[GraphInventory]] | None


@dataclass(frozen=True, slots=True)
class HeldStores:
    """The names of the stores that a running process holds, and the calls by which it is asked."""

    names: frozenset[str]
    calls: Calls


@asynccontextmanager
async def held_stores(settings: Settings) -> AsyncIterator[HeldStores | None]:
    """The stores that a running `fathom up` holds, reserved for us; None where it holds none.

    Raises `StoresBusy`, `StoresNotServed`, `Unavailable`.
    """
    found = {name: holder(settings, [getattr(settings, URLS[name])]) for name in MENDED}
    up = next((each for each in found.values() if each is not None), None)
    if up is None:
        yield None
        return
    async with connected(up.stores, up.pid) as calls:
        # Packs come first, also where cores are few.
        step_aside()
        yield HeldStores(frozenset(name for name, each in found.items() if each is not None), calls)


@asynccontextmanager
async def mended_stores(settings: Settings, held: HeldStores | None) -> AsyncIterator[MendedStores]:
    """Both stores: those that are held by their process, the others opened."""
    remote = held.names if held is not None else frozenset[str]()
    own = tuple(name for name in MENDED if name not in remote)
    async with AsyncExitStack() as stack:
        there = await stack.enter_async_context(opened_stores(settings, own, STAGES if "index" in own else ()))
        graph, index, snapshot = cast("Graph", there.graph), cast("Index", there.index), None
        if held is not None and "graph" in remote:
            graph = lent = RemoteGraph(held.calls, admin=settings.public_writer)
            snapshot = lent.snapshot
        if held is not None and "index" in remote:
            index = RemoteIndex(held.calls)
        yield MendedStores(graph, index, dependencies(settings, there), snapshot)
