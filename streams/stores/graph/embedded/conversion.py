"""The graph of a data directory of 0.1.0, in the file of another engine, made into one of this version."""

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final

from streams.stores.damage import mark_unfilled
from streams.stores.graph.embedded.tables import ENDS, FILE, GraphTables, always
from streams.stores.graph.schema import relation

OLD, LEFT_OUT = "graph.kgl", "graph.kgl-wal.quarantine-*"
# Properties that the old engine gives every node by itself, and the labels that have a title of ours.
ITS_OWN: Final = frozenset({"id", "tenant_id", "type", "title"})
TITLED: Final = frozenset({"Chunk", "Document", "Knowledge", "Objective"})

NODES: Final = """
    MATCH (n) WHERE n.tenant_id IS NOT NULL
    RETURN labels(n)[0] AS label, n.id AS id, n.tenant_id AS tenant, properties(n) AS props"""
LINKS: Final = """
    MATCH (a)-[x]->(b)
    RETURN type(x) AS type, labels(a)[0] AS start, a.id AS from_id, a.tenant_id AS from_tenant,
           labels(b)[0] AS end, b.id AS to_id, b.tenant_id AS to_tenant, properties(x) AS props"""


def convert(directory: Path) -> None:
    """Make the new file of the old one, which is removed; a process that dies meanwhile leaves the old one.

    Raises what the old engine raises of a file that it cannot read.
    """
    # Imported here: no other start needs it.
    import kglite

    kglite.set_query_warning_policy("silent")
    unfinished = directory / f"{FILE}.new"
    unfinished.unlink(missing_ok=True)
    old = kglite.open(str(directory / OLD), durable="normal")
    with closing(GraphTables(unfinished)) as tables:
        tables.begin()
        for row in _rows(old, NODES):
            own = ITS_OWN - {"title"} if row["label"] in TITLED else ITS_OWN
            props = {name: value for name, value in row["props"].items() if name not in own and value is not None}
            tables.merged(row["label"], row["id"], row["tenant"], partial(always, props))
        kinds = {(relation(kind), *ends): kind for kind, ends in ENDS.items()}
        for row in _rows(old, LINKS):
            start = tables.merged(row["start"], row["from_id"], row["from_tenant"])
            end = tables.merged(row["end"], row["to_id"], row["to_tenant"])
            props = {name: value for name, value in row["props"].items() if name != "type"}
            tables.linked(kinds[row["type"], row["start"], row["end"]], start, end, props)
        tables.commit()
        tables.checkpoint()
    old.close()
    if any(directory.glob(LEFT_OUT)):
        # A part of a damaged log of writes, which the old engine has left out.
        mark_unfilled(directory)
    unfinished.rename(directory / FILE)
    for file in {*directory.glob(f"{OLD}*")} - {*directory.glob(LEFT_OUT)}:
        file.unlink()


def _rows(graph: Any, query: str) -> list[dict[str, Any]]:
    return list(graph.cypher(query).to_list())
