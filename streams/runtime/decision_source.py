"""Reads of the graph for the HTTP interface, which has an event loop of its own."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast
from urllib.parse import urlsplit

from agents.ports.memories import RememberedReader
from streams.config import Settings, secret
from streams.stores.settings import EMBEDDED, MEMORY


class OtherLoopGraph:
    """A reader whose store belongs to another event loop, in which its reads are run."""

    def __init__(self, reader: RememberedReader, loop: asyncio.AbstractEventLoop) -> None:
        self._reader = reader
        self._loop = loop

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        read = getattr(self._reader, name)

        def there(*arguments: object, **named: object) -> Awaitable[Any]:
            return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(read(*arguments, **named), self._loop))

        return there


def in_other_loop(reader: RememberedReader, loop: asyncio.AbstractEventLoop) -> RememberedReader:
    """The reads of a store that belongs to this event loop, for another one."""
    return cast("RememberedReader", OtherLoopGraph(reader, loop))


def of_server(settings: Settings) -> RememberedReader | None:
    """The decisions in the graph of a server, connected at the first read; None for a graph in a worker's directory.

    Raises `ConfigError`.
    """
    if urlsplit(settings.neo4j_url).scheme in (EMBEDDED, MEMORY):
        return None
    # Imported here: the driver costs a quarter of a second.
    from streams.stores.graph.neo4j_engine import Neo4jGraph, Neo4jServer

    password = secret("neo4j_password_file", settings.neo4j_password_file)
    return Neo4jGraph(Neo4jServer(settings.neo4j_url, settings.neo4j_user, password))
