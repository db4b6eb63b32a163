"""What the log says should be in the graph and the index, against what is there: missing, orphaned, repaired.

What should be there is found by the writers themselves, over a twin of the graph and a list of passages in memory.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agents.errors import Unavailable
from agents.ports.graph import GraphInventory
from agents.ports.passages import Hit, Page, Passage, PassageInventory, PassageQuery
from schemas.base import PUBLIC_TENANT
from streams.stores.graph.cypher import LISTED
from streams.stores.graph.memory import InMemoryGraph
from streams.stores.graph.schema import relation
from streams.stores.passages.points import COLLECTIONS

PAGE = 1000


class PassageRef(NamedTuple):
    tenant: str
    collection: str
    id: str


class NodeRef(NamedTuple):
    tenant: str
    label: str
    id: str


class LinkRef(NamedTuple):
    """A link, by its type and the nodes at its ends; `tenant` is its start's."""

    tenant: str
    type: str
    start: str
    end: str


@dataclass(slots=True)
class Contents:
    """What is in a graph and an index, or should be."""

    passages: set[PassageRef] = field(default_factory=set)
    nodes: set[NodeRef] = field(default_factory=set)
    links: set[LinkRef] = field(default_factory=set)

    def tenants(self) -> set[str]:
        """Whose it is."""
        return {each.tenant for found in (self.passages, self.nodes) for each in found}

    def without(self, other: "Contents") -> "Contents":
        """What of this the other lacks."""
        return Contents(self.passages - other.passages, self.nodes - other.nodes, self.links - other.links)

    def shared(self, other: "Contents") -> "Contents":
        """What both have."""
        return Contents(self.passages & other.passages, self.nodes & other.nodes, self.links & other.links)

    def __len__(self) -> int:
        return len(self.passages) + len(self.nodes) + len(self.links)


@dataclass(slots=True)
class Findings:
    """What is missing in the stores, and what is there that the log does not know."""

    expected: Contents
    missing: Contents
    orphans: Contents

    def again(self, later: "Findings") -> "Findings":
        """What was found twice: writers may have been about to write it, or have written what was not yet read."""
        return Findings(later.expected, self.missing.shared(later.missing), self.orphans.shared(later.orphans))


class PassageList:
    """An index that only remembers which passages it was given; of those in `wanted`, the last of each."""

    def __init__(self, wanted: Iterable[PassageRef] = ()) -> None:
        self.ids: set[PassageRef] = set()
        self.kept: dict[PassageRef, Passage] = {}
        self._wanted = frozenset(wanted)

    async def upsert(self, tenant: str, collection: str, passages: Sequence[Passage]) -> None:
        """Remember them."""
        for passage in passages:
            ref = PassageRef(tenant, collection, passage.id)
            self.ids.add(ref)
            if ref in self._wanted:
                self.kept[ref] = passage

    async def search(self, _tenant: str, _collection: str, _query: PassageQuery) -> tuple[Hit, ...]:
        """Nothing is ever found."""
        return ()

    async def vectors(self, _texts: Sequence[str]) -> list[list[float]]:
        """Raises `Unavailable`: nothing here has a vector."""
        raise Unavailable("index", "there is none here")


class Expectation:
    """What should be there, as the writers are given the log."""

    def __init__(self) -> None:
        self.graph = InMemoryGraph(admin=True)
        self.index = PassageList()

    def contents(self, *, graph: bool = True, index: bool = True) -> Contents:
        """All that should be in the stores that are asked about."""
        found = Contents(passages=set(self.index.ids) if index else set())
        if graph:
            engine = self.graph.engine
            owner = {node_id: node["tenant_id"] for nodes in engine.nodes.values() for node_id, node in nodes.items()}
            found.nodes = {
                NodeRef(node["tenant_id"], label, node_id)
                for label, nodes in engine.nodes.items()
                for node_id, node in nodes.items()
            }
            found.links = {LinkRef(owner[start], relation(type_), start, end) for type_, start, end in engine.links}
        return found


async def passages_of(index: PassageInventory, tenant: str, collection: str) -> AsyncIterator[Page]:
    """The tenant's passages, page by page."""
    after: str | None = None
    while True:
        page = await index.listed(tenant, collection, after=after, limit=PAGE)
        yield page
        if page.following is None:
            return
        after = page.following


async def found_in(tenants: Iterable[str], graph: GraphInventory | None, index: PassageInventory | None) -> Contents:
    """What the stores hold of these tenants."""
    found = Contents()
    for tenant in sorted(tenants):
        if index is not None:
            for collection in COLLECTIONS:
                async for page in passages_of(index, tenant, collection):
                    found.passages |= {PassageRef(tenant, collection, each) for each in page.ids}
        if graph is not None:
            for label in LISTED:
                await _add_nodes(found, graph, tenant, label)
    return found


async def _add_nodes(found: Contents, graph: GraphInventory, tenant: str, label: str) -> None:
    after = ""
    while nodes := await graph.listed(tenant, label, after=after, limit=PAGE):
        for node in nodes:
            found.nodes.add(NodeRef(tenant, label, node.id))
            found.links |= {LinkRef(tenant, type_, node.id, end) for type_, end in node.links}
        if len(nodes) < PAGE:
            return
        after = nodes[-1].id


async def compare(
    expected: Contents, tenants: Iterable[str], graph: GraphInventory | None, index: PassageInventory | None
) -> Findings:
    """Hold what should be there of these tenants against what is there.

    What is public is asked for only where the log names it: law may have come another way.
    """
    asked = set(tenants)
    there = await found_in(asked, graph, index)
    own = Contents(
        {each for each in expected.passages if each.tenant in asked},
        {each for each in expected.nodes if each.tenant in asked},
        {each for each in expected.links if each.tenant in asked},
    )
    orphans = there.without(own)
    orphans.passages = {each for each in orphans.passages if each.tenant != PUBLIC_TENANT}
    orphans.nodes = {each for each in orphans.nodes if each.tenant != PUBLIC_TENANT}
    orphans.links = {each for each in orphans.links if each.tenant != PUBLIC_TENANT}
    return Findings(own, own.without(there), orphans)


def per_tenant(findings: Findings) -> list[dict[str, Any]]:
    """What was found, tenant by tenant and kind by kind; only kinds that the log or the stores have."""
    rows: dict[tuple[str, str, str], dict[str, int]] = defaultdict(lambda: {"expected": 0, "missing": 0, "orphans": 0})
    for column in ("expected", "missing", "orphans"):
        contents: Contents = getattr(findings, column)
        for passage in contents.passages:
            rows[passage.tenant, "passages", passage.collection][column] += 1
        for node in contents.nodes:
            rows[node.tenant, "nodes", node.label][column] += 1
        for link in contents.links:
            rows[link.tenant, "links", link.type][column] += 1
    return [
        {"tenant": tenant, "kind": kind, "of": name, **counts} for (tenant, kind, name), counts in sorted(rows.items())
    ]
