"""Which probes a mutant meets, the likeliest first; whoever meets all of them and lives has found a hole."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import pytest

from streams.stores.graph import cypher
from streams.stores.sessions.memory import MemoryWorkingSets
from tests.tenants import (
    probes,
    probes_cognition,
    probes_erasing,
    probes_events,
    probes_outside,
    probes_policy,
    probes_stores,
)
from tests.tenants.mutants import code_mutants, read_texts, removing_texts, sources, text_mutants, write_texts

Probe = Callable[[], None]


def _sync(work: Callable[[], object]) -> Probe:
    return lambda: asyncio.run(work())  # type: ignore[arg-type]


PROBES: dict[str, Probe] = {
    "pure": probes_events.pure,
    "door": probes_events.door,
    "joins": probes_events.joins,
    "held in parts": probes_events.held_in_parts,
    "overload": probes_events.overload,
    "process": _sync(probes_stores.process),
    "sets": _sync(partial(probes_stores.sets, MemoryWorkingSets)),
    "index": _sync(partial(probes_stores.index, probes_stores.index_twin)),
    "weights": _sync(probes_stores.weights),
    "unvoted": _sync(probes_stores.unvoted),
    "remote": _sync(probes_stores.remote),
    "quarantines": probes_events.quarantines,
    "votes restored": _sync(probes_stores.votes_restored),
    "tools": _sync(probes_stores.tools),
    "gated": probes_outside.gated,
    "refused calls": probes_outside.refused_calls,
    "restored": _sync(partial(probes_stores.restored, MemoryWorkingSets)),
    "redis restored": _sync(partial(probes_stores.restored, probes_stores.redis)),
    "stubs": _sync(partial(probes.stubs, probes.embedded)),
    "cypher stubs": _sync(partial(probes.stubs, probes.in_cypher)),
    "graph": _sync(partial(probes.graph, probes.embedded)),
    "converted": _sync(probes.converted),
    "guarded": probes.guarded,
    "named": _sync(partial(probes.named, probes.embedded)),
    "unmoved": _sync(partial(probes.unmoved, probes.embedded, read_texts())),
    "asked for": _sync(partial(probes.asked_for, probes.embedded)),
    "revised": _sync(partial(probes.revised, probes.embedded)),
    "decided": _sync(partial(probes_stores.decided, probes.embedded)),
    "cypher": _sync(partial(probes.graph, probes.in_cypher)),
    "cypher revised": _sync(partial(probes.revised, probes.in_cypher)),
    "redis": _sync(partial(probes_stores.sets, probes_stores.redis)),
    "held": _sync(partial(probes_stores.sets, probes_stores.held)),
    "edge": _sync(partial(probes_stores.index, probes_stores.edge)),
    "edge by codes": _sync(probes_stores.edge_by_codes),
    "edge asked before": _sync(probes_stores.edge_asked_before),
    "edge named": _sync(probes_stores.edge_named),
    "server": _sync(probes_stores.server),
    "erasing": _sync(partial(probes_erasing.graph, probes.embedded)),
    "eraser": _sync(partial(probes_erasing.eraser, probes.embedded)),
    "overtaken": _sync(partial(probes_erasing.overtaken, probes.embedded)),
    "eraser of persons": _sync(partial(probes_erasing.eraser_of_persons, probes.embedded)),
    "erasing stages": _sync(probes_erasing.stages),
    "sets erased": _sync(partial(probes_erasing.sets, MemoryWorkingSets)),
    "redis erased": _sync(partial(probes_erasing.sets, probes_stores.redis)),
    "held erased": _sync(partial(probes_erasing.sets, probes_stores.held)),
    "rows": probes_events.rows,
    "documents": probes_events.documents_apart,
    "ingested": probes_events.ingested,
    "handed in": probes_outside.handed_in,
    "claimed": probes_outside.claimed,
    "ruled": probes_outside.ruled,
    "searched": probes_events.searched,
    "listed": probes_events.listed,
    "policied": probes_policy.policied,
    "outside": probes_outside.outside,
    "pipeline": probes_events.pipeline,
    "asked": probes_events.asked,
    "answered": probes_cognition.answered,
    "failed": probes_cognition.failed,
}
# By the beginning of a module's name: what will probably notice.
FIRST = {
    "streams.stores.tenant": ("pure", "weights"),
    "streams.stores.sessions.redis": ("redis", "redis restored", "redis erased"),
    "streams.stores.sessions.votes": ("weights", "unvoted"),
    "streams.views.votes": ("votes restored",),
    "streams.stores.sessions.tool": ("tools",),
    "streams.views.vote_log": ("outside",),
    "streams.stores.graph.erasing": ("erasing", "eraser", "overtaken"),
    "streams.stores.remote": ("remote",),
    "agents.stages.eraser": ("eraser", "eraser of persons"),
    "agents.core.conversation.erasure": ("erasing",),
    "agents.core.quarantine": ("quarantines",),
    "agents.stages.indexer": ("erasing stages",),
    "streams.stores.graph.cognition_reads": ("asked for",),
    "streams.stores.graph.embedded.conversion": ("converted",),
    "streams.stores.graph.embedded.tables": ("guarded", "graph", "revised"),
    "streams.stores.graph.embedded": ("unmoved", "graph", "revised"),
    "streams.stores.sessions.memory": ("sets", "restored", "sets erased"),
    "streams.stores.passages.memory": ("index",),
    "streams.stores.graph.event_rows": ("rows", "graph"),
    "streams.stores.graph.knowledge_rows": ("rows", "graph"),
    "streams.stores.graph.rows": ("rows", "cypher stubs", "cypher"),
    "streams.stores.graph.learning_rows": ("rows", "graph"),
    "streams.stores.graph": ("graph", "named", "cypher"),
    "streams.stores.passages.index": ("process",),
    **dict.fromkeys(
        (f"streams.stores.passages.{name}" for name in ("qdrant_edge", "edge_search", "recent")),
        ("edge named", "edge", "edge by codes", "edge asked before"),
    ),
    **dict.fromkeys(("streams.stores.passages.qdrant_server", "streams.stores.passages.qdrant_requests"), ("server",)),
    "streams.stores": ("index", "graph"),
    "schemas": ("pure", "door"),
    **dict.fromkeys(
        ("agents.core.packs.join_table", "agents.core.packs.emitted_items"),
        ("joins", "policied", "held in parts", "pipeline"),
    ),
    "agents.core.packs": ("policied",),
    "agents.stages.depth": ("policied", "asked", "pipeline"),
    "agents.core.documents": ("documents",),
    "agents.stages.ingestion": ("handed in", "ingested", "pipeline"),
    "agents.stages.correction": ("outside", "ruled"),
    **dict.fromkeys(("agents.stages.search", "agents.scoped_memory"), ("searched",)),
    "agents.retrievers.episodic": ("listed", "asked", "pipeline"),
    "agents.stages.feedback": ("outside",),
    "agents.core.claims.outside": ("claimed",),
    "agents.stages.writers": ("outside",),
    "agents.cognition.core": ("answered",),
    "agents.cognition.stage": ("answered", "failed"),
    "agents.cognition.evidence_sources": ("answered",),
    "agents.cognition.consultation_memory": ("answered",),
    "agents.stages.tool": ("gated",),
    "agents.core.tools": ("refused calls", "gated"),
    "agents": ("asked", "pipeline"),
}


def in_order(module: str) -> Iterator[Probe]:
    first = next((names for start, names in FIRST.items() if module.startswith(start)), ())
    yield from (PROBES[name] for name in (*first, *(name for name in PROBES if name not in first)))


def lives(probes_: Iterable[Probe]) -> bool:
    """Whether no probe notices."""
    for probe in probes_:
        try:
            probe()
        except (Exception, pytest.fail.Exception):  # whatever it raises, it has noticed
            return False
    return True


def survivors_of_code() -> tuple[list[str], int]:
    """The places in the sources where a tenant may be lost unnoticed, and how many were tried."""
    found: list[str] = []
    tried = 0
    for path in sources():
        for mutant in code_mutants(path):
            tried += 1
            with mutant.applied():
                if lives(in_order(mutant.module)):
                    found.append(str(mutant))
    return found, tried


def survivors_of_reads() -> tuple[list[str], int]:
    """The conditions of reads that nothing depends on, on the embedded graph."""
    texts = read_texts()
    mutants = [mutant for name, text in texts.items() for mutant in text_mutants(name, text)]

    async def story() -> list[str]:
        async with probes.in_cypher() as own, probes.in_cypher() as shared:
            await probes.clean(own)
            await probes.poison(shared)
            right = {name: await probes.answers(own, text) for name, text in texts.items()}
            for name, text in texts.items():
                assert right[name], f"{name} finds nothing: it could not be seen what it lacks"
                assert await probes.answers(shared, text) == right[name], name
            return [str(each) for each in mutants if await probes.answers(shared, each.text) == right[each.name]]

    return asyncio.run(story()), len(mutants)


def survivors_of_removals() -> tuple[list[str], int]:
    """The conditions of removals that nothing depends on: another's nodes, given by their ids, stay where they are."""
    found: list[str] = []
    tried = 0

    async def story() -> None:
        nonlocal tried
        async with probes.in_cypher() as graph:
            await probes.poison(graph)
            for name, text in removing_texts().items():
                assert not await probes.removes_anothers(graph, name, text), name
                for mutant in text_mutants(name, text):
                    tried += 1
                    if not await probes.removes_anothers(graph, name, mutant.text):
                        found.append(str(mutant))

    asyncio.run(story())
    return found, tried


def survivors_of_writes() -> tuple[list[str], int]:
    """The properties and conditions of writes that nothing depends on, on the embedded graph."""
    found: list[str] = []
    tried = 0
    for name, (table, key, text) in write_texts().items():
        for mutant in text_mutants(name, text):
            tried += 1
            texts = vars(cypher) if table is None else table
            texts[key] = mutant.text
            try:
                if lives(map(PROBES.__getitem__, ("cypher stubs", "cypher revised", "cypher"))):
                    found.append(str(mutant))
            finally:
                texts[key] = text
    return found, tried
