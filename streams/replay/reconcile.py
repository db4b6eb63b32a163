"""What the log says should be in the graph and the index, against what is there: missing, orphaned.

What should be there is found by the writers themselves, over a twin of the graph and a list of passages in memory.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from agents.ports.graph import GraphInventory
from agents.ports.passages import Passage, PassageInventory
from schemas.base import PUBLIC_TENANT
from streams.replay.null_index import NullPassageIndex
from streams.stores.graph.cypher import LISTED
from streams.stores.graph.memory import InMemoryGraph
from streams.stores.graph.schema import relation
from streams.stores.passages.points import COLLECTIONS

PAGE = 1000


class Ref(NamedTuple):
    """A passage of a collection, a node of a label, or a link of a type: from the node `id`, whose `tenant` it has."""

    tenant: str
    kind: Literal["passages", "nodes", "links"]
    of: str
    id: str
    end: str = ""


Refs = frozenset[Ref]


@dataclass(frozen=True, slots=True)
class Findings:
    """What is missing in the stores, and what is there that the log does not know."""

    expected: Refs
    missing: Refs
    orphans: Refs

    def again(self, later: "Findings") -> "Findings":
        """The findings of both looks: what shows up in one of them only was still being written."""
        return Findings(later.expected, self.missing & later.missing, self.orphans & later.orphans)


class PassageList(NullPassageIndex):
    """An index that only remembers which passages it was given; of those in `wanted`, the last of each."""

    def __init__(self, wanted: Iterable[Ref] = ()) -> None:
        self.ids: set[Ref] = set()
        self.kept: dict[Ref, Passage] = {}
        self._wanted = frozenset(wanted)

    async def upsert(self, tenant: str, collection: str, passages: Sequence[Passage]) -> None:
        """Remember them."""
        for passage in passages:
            ref = Ref(tenant, "passages", collection, passage.id)
            self.ids.add(ref)
            if ref in self._wanted:
                self.kept[ref] = passage


class Expectation:
    """In-memory stores for the writers to fill from the log."""

    def __init__(self) -> None:
        self.graph = InMemoryGraph(admin=True)
        self.index = PassageList()

    def refs(self) -> Refs:
        """All that should be in the stores."""
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
    """What the stores hold of these tenants."""
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
    """Hold what should be there of these tenants against what is there.

    What is public is asked for only where the log names it: law may have come another way.
    """
    there = await found_in(tenants, graph, index)
    own = frozenset(ref for ref in expected if ref.tenant in tenants)
    orphans = frozenset(ref for ref in there - own if ref.tenant != PUBLIC_TENANT)
    return Findings(own, own - there, orphans)


def per_tenant(findings: Findings) -> list[dict[str, object]]:
    """What was found, tenant by tenant and kind by kind; only kinds that the log or the stores have."""
    columns = {"expected": findings.expected, "missing": findings.missing, "orphans": findings.orphans}
    rows: dict[tuple[str, str, str], dict[str, int]] = defaultdict(lambda: dict.fromkeys(columns, 0))
    for column, refs in columns.items():
        for ref in refs:
            rows[ref.tenant, ref.kind, ref.of][column] += 1
    return [
        {"tenant": tenant, "kind": kind, "of": name, **counts} for (tenant, kind, name), counts in sorted(rows.items())
    ]
