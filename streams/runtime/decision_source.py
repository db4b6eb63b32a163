"""Decisions of the graph for the HTTP interface, which has an event loop of its own."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from datetime import datetime
from typing import TypeVar
from urllib.parse import urlsplit

from agents.ports.graph import Asker, ClaimContested, DecisionMade, DecisionReader, DecisionTrace
from streams.config import Settings, secret
from streams.stores.settings import EMBEDDED, MEMORY

T = TypeVar("T")


class OtherLoopDecisions:
    """A reader whose store belongs to another event loop, in which its reads are run."""

    def __init__(self, reader: DecisionReader, loop: asyncio.AbstractEventLoop) -> None:
        self._reader = reader
        self._loop = loop

    async def decisions(
        self, tenant: str, *, whose: Asker, since: datetime, as_of: datetime, limit: int
    ) -> tuple[DecisionMade, ...]:
        return await self._there(self._reader.decisions(tenant, whose=whose, since=since, as_of=as_of, limit=limit))

    async def corrections(
        self, tenant: str, *, whose: Asker, since: datetime, as_of: datetime, limit: int
    ) -> tuple[datetime, ...]:
        return await self._there(self._reader.corrections(tenant, whose=whose, since=since, as_of=as_of, limit=limit))

    async def questions(self, tenant: str, decision_ids: Sequence[str], as_of: datetime) -> Mapping[str, str]:
        return await self._there(self._reader.questions(tenant, decision_ids, as_of))

    async def decisions_on(self, tenant: str, message_id: str, as_of: datetime) -> tuple[DecisionTrace, ...]:
        return await self._there(self._reader.decisions_on(tenant, message_id, as_of))

    async def contested(self, tenant: str, claim_ids: Sequence[str], as_of: datetime) -> tuple[ClaimContested, ...]:
        return await self._there(self._reader.contested(tenant, claim_ids, as_of))

    async def _there(self, read: Coroutine[object, object, T]) -> T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(read, self._loop))


def of_server(settings: Settings) -> DecisionReader | None:
    """The decisions in the graph of a server, connected at the first read; None for a graph in a worker's directory.

    Raises `ConfigError`.
    """
    if urlsplit(settings.neo4j_url).scheme in (EMBEDDED, MEMORY):
        return None
    # Imported here: the driver costs a quarter of a second.
    from streams.stores.graph.neo4j_engine import Neo4jGraph, Neo4jServer

    password = secret("neo4j_password_file", settings.neo4j_password_file)
    return Neo4jGraph(Neo4jServer(settings.neo4j_url, settings.neo4j_user, password))
