"""Reconciling and repairing: the log read once for what should be in the stores, and once more for what is not."""

import asyncio
from dataclasses import dataclass, replace
from typing import Protocol

from agents.ports.graph import GraphInventory, GraphWriter
from agents.ports.passages import PassageIndex, PassageInventory
from streams.dependencies import Dependencies
from streams.replay import repair
from streams.replay.log import Log, PartitionRange
from streams.replay.reconcile import Contents, Expectation, Findings, PassageList, compare
from streams.replay.selection import Selection
from streams.replay.views import Advance, Views, fill, sources, spans_of, storing
from streams.stores.graph.store import Engine

# What writers were about to store when the log was read is there when it is looked for again.
SECOND_LOOK_S = 2.0

Spans = dict[str, list[PartitionRange]]


class Graph(GraphInventory, Protocol):
    """A graph that can be listed, and written past its store."""

    engine: Engine


class Index(PassageIndex, PassageInventory, Protocol):
    """An index that can be listed."""


@dataclass(slots=True)
class Checkup:
    """The graph and the index of one environment, against its log; of one tenant, or of all that the log names."""

    log: Log
    built: Dependencies
    graph: Graph
    index: Index
    tenant: str | None
    advance: Advance

    async def reconcile(self) -> Findings:
        """What is missing and what is orphaned, seen twice."""
        expected = Expectation()
        views = self._views(expected.graph, expected.index)
        spans = await self._spans()
        await fill(self.log, spans, views, self._selection, self.advance)
        found = await self._compare(expected)
        if not (len(found.missing) or len(found.orphans)):
            return found
        await asyncio.sleep(SECOND_LOOK_S)
        await fill(self.log, _behind(spans, await self._spans()), views, self._selection, self.advance)
        return found.again(await self._compare(expected))

    async def repair(self, findings: Findings) -> int:
        """Write what is missing again from the log; how many points, nodes and links that were."""
        lacking = PassageList(findings.missing.passages)
        views = self._views(repair.mending(self.graph.engine, findings.missing), lacking)
        await fill(self.log, await self._spans(), views, self._selection, self.advance)
        await repair.put_back(self.index, lacking.kept)
        return len(findings.missing)

    async def take_out(self, orphans: Contents) -> int:
        """Remove what the log does not know; how many points and nodes."""
        return await repair.take_out(orphans, self.graph, self.index)

    @property
    def _selection(self) -> Selection:
        return Selection(tenant=self.tenant)

    async def _spans(self) -> Spans:
        return await spans_of(self.log, sources(storing(graph=True, index=True)), Selection(), neighbours=True)

    def _views(self, writer: GraphWriter, index: PassageIndex) -> Views:
        return Views(storing(graph=True, index=True), replace(self.built, writer=writer, index=index))

    async def _compare(self, expected: Expectation) -> Findings:
        contents = expected.contents()
        tenants = contents.tenants() if self.tenant is None else {self.tenant}
        return await compare(contents, tenants, self.graph, self.index)


def _behind(before: Spans, now: Spans) -> Spans:
    """What was written since."""
    return {
        topic: [replace(new, begin=was.end) for was, new in zip(before[topic], spans, strict=True)]
        for topic, spans in now.items()
    }
