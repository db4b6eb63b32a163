"""What the log says should be in the graph and the index, against what is there; what is missing is written again.

The expected entries are made by the writers themselves, in a twin of the graph and a list of passages in memory.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, NamedTuple, Protocol

from typing_extensions import TypedDict

from agents.ports.graph import GraphInventory, GraphWriter
from agents.ports.passages import Passage, PassageIndex, PassageInventory
from schemas.base import PUBLIC_TENANT
from streams.dependencies import Dependencies
from streams.replay.log import Log, PartitionRange
from streams.replay.null_index import NullPassageIndex
from streams.replay.selection import Selection
from streams.replay.views import Advance, Views, fill, sources, spans_of, storing
from streams.stores.graph.cypher import LISTED
from streams.stores.graph.embedded.engine import EmbeddedGraph
from streams.stores.graph.rows import RowBatch
from streams.stores.graph.schema import relation
from streams.stores.graph.store import Engine, GraphStore
from streams.stores.passages.points import COLLECTIONS

PAGE = 1000
# What writers were about to store when the log was read is there when it is looked for again.
SECOND_LOOK_S = 2.0
# While writers that are behind catch up, each look finds less; those of one that stands do not.
MAX_LOOKS = 10
BATCH_SIZE = 500
# The nodes that a shared name links.
NAMED = ("Knowledge", "Concept")
ABOUT = "ABOUT"

Spans = dict[str, list[PartitionRange]]


class Ref(NamedTuple):
    """A passage of a collection, a node of a label, or a link of a type, with `id` and `tenant` of its start node."""

    tenant: str
    kind: Literal["passages", "nodes", "links"]
    of: str
    id: str
    end: str = ""


Refs = frozenset[Ref]


@dataclass(frozen=True, slots=True)
class Findings:
    """The entries missing in the stores, and the entries unknown to the log."""

    expected: Refs
    missing: Refs
    orphans: Refs

    def __len__(self) -> int:
        return len(self.missing) + len(self.orphans)

    def again(self, later: "Findings") -> "Findings":
        """The findings common to both checks: others were still being written."""
        return Findings(later.expected, self.missing & later.missing, self.orphans & later.orphans)


class PassageList(NullPassageIndex):
    """An index that only records the passages written; of those in `wanted`, the last version of each."""

    def __init__(self, wanted: Iterable[Ref] = ()) -> None:
        self.ids: set[Ref] = set()
        self.kept: dict[Ref, Passage] = {}
        self._wanted = frozenset(wanted)

    async def upsert(self, tenant: str, collection: str, passages: Sequence[Passage]) -> None:
        """Record the passages."""
        for passage in passages:
            ref = Ref(tenant, "passages", collection, passage.stored_as)
            self.ids.add(ref)
            if ref in self._wanted:
                self.kept[ref] = passage


class Expectation:
    """In-memory stores to be filled by the writers from the log."""

    def __init__(self) -> None:
        self.graph = EmbeddedGraph(admin=True)
        self.index = PassageList()

    def refs(self) -> Refs:
        """All entries expected in the stores."""
        engine = self.graph.engine
        nodes = [
            Ref(node["tenant_id"], "nodes", label, node_id)
            for label, found in engine.nodes.items()
            for node_id, node in found.items()
        ]
        owner = {node.id: node.tenant for node in nodes}
        links = [Ref(owner[start], "links", relation(type_), start, end) for type_, start, end in engine.links]
        return frozenset((*self.index.ids, *nodes, *links))


async def found_in(tenants: Iterable[str], graph: GraphInventory, index: PassageInventory) -> Refs:
    """The entries of these tenants in the stores."""
    found: set[Ref] = set()
    for tenant in sorted(tenants):
        for collection in COLLECTIONS:
            await _add_passages(found, index, tenant, collection)
        for label in LISTED:
            await _add_nodes(found, graph, tenant, label)
    return frozenset(found)


async def _add_passages(found: set[Ref], index: PassageInventory, tenant: str, collection: str) -> None:
    after: str | None = None
    while True:
        page = await index.listed(tenant, collection, after=after, limit=PAGE)
        found |= {Ref(tenant, "passages", collection, each) for each in page.ids}
        if (after := page.following) is None:
            return


async def _add_nodes(found: set[Ref], graph: GraphInventory, tenant: str, label: str) -> None:
    after = ""
    while nodes := await graph.listed(tenant, label, after=after, limit=PAGE):
        found |= {Ref(tenant, "nodes", label, node.id) for node in nodes}
        found |= {Ref(tenant, "links", type_, node.id, end) for node in nodes for type_, end in node.links}
        if len(nodes) < PAGE:
            return
        after = nodes[-1].id


async def compare(expected: Refs, tenants: Collection[str], graph: GraphInventory, index: PassageInventory) -> Findings:
    """Compare the expected entries of these tenants with the stores.

    Public entries are compared only where the log has some: law may have been imported otherwise.
    """
    there = await found_in(tenants, graph, index)
    own = frozenset(ref for ref in expected if ref.tenant in tenants)
    orphans = frozenset(ref for ref in there - own if ref.tenant != PUBLIC_TENANT)
    return Findings(own, own - there, orphans)


class ReconciledKind(TypedDict):
    """How many of a kind the log has of a tenant, and how many are missing or left over in the store `of`."""

    tenant: str
    kind: str
    of: str
    expected: int
    missing: int
    orphans: int


def per_tenant(findings: Findings) -> list[ReconciledKind]:
    """The findings by tenant and kind; only kinds present in the log or the stores."""
    expected, missing, orphans = (
        Counter((ref.tenant, ref.kind, ref.of) for ref in refs)
        for refs in (findings.expected, findings.missing, findings.orphans)
    )
    return [
        ReconciledKind(
            tenant=row[0], kind=row[1], of=row[2], expected=expected[row], missing=missing[row], orphans=orphans[row]
        )
        for row in sorted({*expected, *missing, *orphans})
    ]


class Graph(GraphInventory, Protocol):
    """A graph that can be listed, and written past its store."""

    engine: Engine


class Index(PassageInventory, Protocol):
    """An index that can be listed, and written."""

    async def upsert(self, tenant: str, collection: str, passages: Sequence[Passage]) -> None:
        """Store passages by id."""


@dataclass(slots=True)
class Checkup:
    """The graph and the index of one environment, against its log; of one tenant, or of all that the log names."""

    log: Log
    built: Dependencies
    graph: Graph
    index: Index
    tenant: str | None
    advance: Advance
    # Another view of the graph to list it by; default: the graph itself.
    snapshot: Callable[[], AbstractAsyncContextManager[GraphInventory]] | None = None

    async def reconcile(self) -> Findings:
        """What is missing and what is orphaned: of a first look, what two later ones in a row still see."""
        expected = Expectation()
        views = self._views(expected.graph, expected.index)
        spans = await self._read(views)
        found = await self._compare(expected)
        for _ in range(MAX_LOOKS):
            if not found:
                break
            await asyncio.sleep(SECOND_LOOK_S)
            spans = await self._read(views, after=spans)
            before, found = found, found.again(await self._compare(expected))
            if len(found) == len(before):
                break
        return found

    async def mend(self, *, repair: bool, remove_orphans: bool) -> tuple[Findings, Findings]:
        """What is found, and what of it is left after what is missing was written again and orphans were removed."""
        findings = await self.reconcile()
        repair, remove_orphans = repair and bool(findings.missing), remove_orphans and bool(findings.orphans)
        if repair:
            await self.repair(findings)
        if remove_orphans:
            await take_out(findings.orphans, self.graph, self.index)
        return findings, await self.reconcile() if repair or remove_orphans else findings

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
        async with self.snapshot() if self.snapshot is not None else nullcontext(self.graph) as graph:
            return await compare(refs, tenants, graph, self.index)


class MissingOnly(Engine):
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


async def put_back(index: Index, kept: Mapping[Ref, Passage]) -> int:
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
