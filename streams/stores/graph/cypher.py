"""The Cypher texts for writing, listing and removing: generated at import from constant tables, never from values.

Restricted to the common subset of Neo4j 5 and the embedded graph: rows by UNWIND, MERGE on `id` (unique over
tenants), both ends before a link. A version guard needs a write before its read, or two writers both pass it: the SET
of `tenant_id` takes the lock.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Final

from streams.stores.graph.rows import Edge, NodeInsert, NodeUpsert, Properties, RowBatch
from streams.stores.graph.schema import (
    DESCRIBED,
    EVERYDAY,
    INSERTED,
    INSERTED_FIRST,
    LINK_ENDS,
    RETIRED,
    SHARED,
    VERSION,
    WORD,
)

PARAMETER, COLUMN = re.compile(r"\$\w+"), re.compile(r" AS (\w+)\s*(?:,|$)")
Statement = tuple[str, Sequence[Properties]]

FACTS: Final = {
    label: f"""
        UNWIND $rows AS r
        MERGE (n:{label} {{id: r.id}})
        {"ON CREATE " if label == SHARED else ""}SET n.tenant_id = r.tenant_id, n += r.props"""
    for label in (*INSERTED, SHARED)
}

_FIRST_TIME: Final = """,
            n.created_at = CASE WHEN n.created_at < r.created_at THEN n.created_at ELSE r.created_at END"""
LATEST: Final = {
    label: f"""
        UNWIND $rows AS r
        MERGE (n:{label} {{id: r.id}})
        SET n.tenant_id = r.tenant_id{"" if label in INSERTED_FIRST else _FIRST_TIME}
        WITH n, r WHERE n.{guard} IS NULL OR n.{guard} <= r.version
        SET n += r.props"""
    for label, guard in VERSION.items()
}

_SET_LINK: Final = """
        SET x += r.props"""
LINKS: Final = {
    kind: f"""
        UNWIND $rows AS r
        MERGE (a:{start} {{id: r.from_id}}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:{end} {{id: r.to_id}}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[{"x" if type_ in DESCRIBED else ""}:{type_}]->(b){_SET_LINK if type_ in DESCRIBED else ""}"""
    for kind, (start, end) in LINK_ENDS.items()
    for type_ in [kind.partition(":")[0]]
}

ABOUT: Final = """
    UNWIND $rows AS r
    MATCH (a:Knowledge) WHERE a.tenant_id = r.tenant_id AND a.name_key = r.name_key
    MATCH (b:Concept) WHERE b.tenant_id = r.tenant_id AND b.name_key = r.name_key
    MERGE (a)-[:ABOUT]->(b)"""

# Retired entries are kept, since reads as of an earlier time still find them. A later version can restore them.
RETIRE: Final = {
    label: f"""
        UNWIND $rows AS r
        MATCH (d:Document {{id: r.id}})
        WHERE d.complete_at IS NOT NULL AND (r.whole OR d.complete_at > r.at)
        MATCH (n:{label})
        WHERE n.tenant_id = r.tenant_id AND n.document_id = r.document_id AND n.recorded_at < d.complete_at
          AND (n.retired_at IS NULL OR n.retired_at < n.recorded_at OR n.retired_at > d.complete_at)
        SET n.retired_at = d.complete_at"""
    for label in RETIRED
}

# A page of a tenant's nodes ordered by id, each with its links to nodes visible to the tenant, or with null.
LISTED: Final = {
    label: f"""
        MATCH (n:{label}) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id"""
    for label in (*INSERTED, SHARED, *VERSION, WORD)
}
REMOVED: Final = {
    label: f"MATCH (n:{label}) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n"
    for label in (*INSERTED, SHARED, *VERSION, WORD)
}


def statements_of(rows: RowBatch) -> Iterable[Statement]:
    """The Cypher texts that merge a batch, each with its rows: nodes, then links, then names."""
    for texts, nodes in ((FACTS, rows.facts), (LATEST, rows.latest)):
        for label, group in _by_kind(nodes).items():
            yield texts[label], group
    for type_, group in _by_kind(rows.links).items():
        # A link locks both its ends. Its start is usually in this batch and already locked; the other ends are locked
        # in the order of ids, as by every other writer.
        yield LINKS[type_], sorted(group, key=itemgetter("to_id", "from_id"))
    if rows.names:
        yield ABOUT, [named.row() for named in rows.names]
    if rows.versions:
        versions = [version.row() for version in rows.versions]
        yield from ((text, versions) for text in RETIRE.values())


def in_one(rows: RowBatch) -> tuple[str, dict[str, Sequence[Properties]]] | None:
    """The statements of a batch as one query with its parameters; None of what is not written for every message.

    A server plans each combination of statements once, for a quarter of a second: few of them may occur.
    """
    labels = {row.label for some in (rows.facts, rows.latest) for row in some}
    statements = [*statements_of(rows)]
    if len(statements) == 1:
        return statements[0][0], {"rows": statements[0][1]}
    if rows.names or rows.versions or not {*labels, *(link.type for link in rows.links)}.issubset(EVERYDAY):
        return None
    return _joined(tuple(text for text, _ in statements)), {f"rows{n}": own for n, (_, own) in enumerate(statements)}


@lru_cache(maxsize=256)
def _joined(texts: tuple[str, ...]) -> str:
    """Each text as a subquery with rows of its own."""
    return "\n".join(f"CALL {{{text.replace('$rows', f'$rows{n}')}\n}}" for n, text in enumerate(texts))


@lru_cache(maxsize=256)
def united(several: tuple[str, ...]) -> str:
    """Queries as one: its rows are the `place` of their query and what was `found`; the order in each is its own."""
    branches = []
    for place, query in enumerate(several):
        matched, _, returned = query.rpartition("RETURN ")
        own = PARAMETER.sub(rf"\g<0>_{place}", f"{matched}WITH {returned}")
        branches.append(f"{own}\n    RETURN {place} AS place, [{', '.join(columns_of(query))}] AS found")
    return "\nUNION ALL".join(branches)


def numbered(parameters: Sequence[Properties]) -> Properties:
    """The parameters of `united`."""
    return {f"{name}_{place}": value for place, each in enumerate(parameters) for name, value in each.items()}


@lru_cache(maxsize=256)
def columns_of(query: str) -> tuple[str, ...]:
    """The names of a query's columns: what it returns last is named, one by one."""
    _, _, returned = query.rpartition("RETURN ")
    return tuple(COLUMN.findall(returned.partition("ORDER BY")[0].partition("LIMIT")[0]))


def _by_kind(rows: Iterable[NodeInsert | NodeUpsert | Edge]) -> dict[str, list[Properties]]:
    found: dict[str, list[Properties]] = {}
    for row in rows:
        found.setdefault(row.type if isinstance(row, Edge) else row.label, []).append(row.row())
    return found
