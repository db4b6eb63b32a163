"""Reconciling and repairing: the log read once for what should be in the stores, and once more for what is not."""

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Protocol

from agents.ports.graph import GraphInventory, GraphWriter
from agents.ports.passages import Passage, PassageIndex, PassageInventory
from streams.dependencies import Dependencies
from streams.replay.log import Log, PartitionRange
from streams.replay.reconcile import Expectation, Findings, PassageList, Ref, compare
from streams.replay.selection import Selection
from streams.replay.views import Advance, Views, fill, sources, spans_of, storing
from streams.stores.graph.rows import RowBatch
from streams.stores.graph.schema import relation
from streams.stores.graph.store import Engine, GraphStore

# What writers were about to store when the log was read is there when it is looked for again.
SECOND_LOOK_S = 2.0
BATCH_SIZE = 500
# The nodes that a shared name links.
NAMED = ("Knowledge", "Concept")
ABOUT = "ABOUT"

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
        spans = await self._read(views)
        found = await self._compare(expected)
        if not (found.missing or found.orphans):
            return found
        await asyncio.sleep(SECOND_LOOK_S)
        await self._read(views, after=spans)
        return found.again(await self._compare(expected))

    async def repair(self, findings: Findings) -> None:
        """Write what is missing again from the log."""
        lacking = PassageList(findings.missing)
        writer = GraphStore(MissingOnly(self.graph.engine, findings.missing))
        await self._read(self._views(writer, lacking))
        await put_back(self.index, lacking.kept)

    async def _read(self, views: Views, *, after: Spans | None = None) -> Spans:
        """Give the log to the views, or what was written after some spans; the spans up to its ends now."""
        spans = await spans_of(self.log, sources(storing(graph=True, index=True)), Selection(), neighbours=True)
        todo = spans
        if after is not None:
            todo = {
                topic: [replace(now, begin=was.end) for was, now in zip(after[topic], found, strict=True)]
                for topic, found in spans.items()
            }
        await fill(self.log, todo, views, Selection(tenant=self.tenant), self.advance)
        return spans

    def _views(self, writer: GraphWriter, index: PassageIndex) -> Views:
        return Views(storing(graph=True, index=True), replace(self.built, writer=writer, index=index))

    async def _compare(self, expected: Expectation) -> Findings:
        refs = expected.refs()
        tenants = {ref.tenant for ref in refs} if self.tenant is None else {self.tenant}
        return await compare(refs, tenants, self.graph, self.index)


class MissingOnly:
    """An engine of the graph that writes, of what it is given, the rows of what is missing."""

    def __init__(self, engine: Engine, missing: Collection[Ref]) -> None:
        self._engine = engine
        self._nodes = {(ref.of, ref.id) for ref in missing if ref.kind == "nodes"}
        self._links = {(ref.of, ref.id, ref.end) for ref in missing if ref.kind == "links"}
        self._names = any(label in NAMED for label, _ in self._nodes) or any(each[0] == ABOUT for each in self._links)

    async def read(self, query: str, parameters: Mapping[str, object]) -> Sequence[Mapping[str, object]]:
        """As the graph itself."""
        return await self._engine.read(query, parameters)

    async def erase(self, statement: str, parameters: Mapping[str, object]) -> None:
        """As the graph itself."""
        await self._engine.erase(statement, parameters)

    async def write(self, rows: RowBatch) -> None:
        """Merge the rows of missing nodes and links, all rows that ever made one of them: it ends as it was."""
        wanted = RowBatch(
            facts=tuple(row for row in rows.facts if (row.label, row.id) in self._nodes),
            latest=tuple(row for row in rows.latest if (row.label, row.id) in self._nodes),
            links=tuple(row for row in rows.links if (relation(row.type), row.start, row.end) in self._links),
            names=rows.names if self._names else (),
            # What a later version of its document retired is retired again.
            versions=rows.versions if self._nodes else (),
        )
        if any((wanted.facts, wanted.latest, wanted.links, wanted.names, wanted.versions)):
            await self._engine.write(wanted)


async def put_back(index: PassageIndex, kept: Mapping[Ref, Passage]) -> int:
    """Store the passages that are missing; how many."""
    for batch in _batches(kept):
        await index.upsert(batch[0].tenant, batch[0].of, [kept[ref] for ref in batch])
    return len(kept)


async def take_out(orphans: Iterable[Ref], graph: GraphInventory, index: PassageInventory) -> None:
    """Remove passages and nodes that the log does not know. A node takes its links along."""
    for batch in _batches(ref for ref in orphans if ref.kind != "links"):
        store = index if batch[0].kind == "passages" else graph
        await store.remove(batch[0].tenant, batch[0].of, [ref.id for ref in batch])


def _batches(refs: Iterable[Ref]) -> Iterator[list[Ref]]:
    """Not too many at a time, of one tenant and one collection or label."""
    for _, found in groupby(sorted(refs), key=lambda ref: (ref.tenant, ref.kind, ref.of)):
        same = list(found)
        yield from (same[start : start + BATCH_SIZE] for start in range(0, len(same), BATCH_SIZE))
