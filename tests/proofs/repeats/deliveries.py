"""A history delivered as a broker may: each event up to five times, in any order, in batches, its writes breaking off.

A write breaks off before it began, in the middle (where an engine has one), or after all of it is stored: each time
the writer is told only that the graph did not answer, and the record comes again.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agents.errors import Unavailable
from agents.ports.graph import GraphWriter
from agents.stages.writers import Writer
from schemas.chat import Turn
from schemas.envelope import Received
from schemas.memory import AuditDecision, ClaimAsserted, CorrectionIssued, PackDecision, SummaryMade
from streams.stores.graph import queries
from streams.stores.graph.rows import RowBatch
from streams.stores.graph.store import Engine, GraphStore

TIMES, LARGEST = 5, 600
Contents = tuple[list[Any], list[Any]]


def repeated(events: Sequence[Received[Any]], chance: random.Random) -> list[Received[Any]]:
    """Each event once to five times, in any order."""
    found = [event for event in events for _ in range(chance.randint(1, TIMES))]
    chance.shuffle(found)
    return found


def batches(deliveries: Sequence[Received[Any]], chance: random.Random) -> Iterator[Sequence[Received[Any]]]:
    """The deliveries, cut at random."""
    start = 0
    while start < len(deliveries):
        end = start + chance.randint(1, LARGEST)
        yield deliveries[start:end]
        start = end


@dataclass
class Breaking:
    """An engine whose writes break off at times; `whole` is one that stores all of a write or nothing."""

    engine: Engine
    chance: random.Random
    whole: bool
    share: float = 0.15
    broken: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("before", "within", "after"), 0))

    async def read(self, query: str, parameters: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        return await self.engine.read(query, parameters)

    async def write(self, rows: RowBatch) -> None:
        """Write the rows, or break off and say so."""
        if self.chance.random() > self.share:
            return await self.engine.write(rows)
        where = self.chance.choice(("before", "after") if self.whole else ("before", "within", "after"))
        self.broken[where] += 1
        if where == "within":
            await self.engine.write(replace(rows, links=(), names=()))
        elif where == "after":
            await self.engine.write(rows)
        raise Unavailable("graph", f"it went away {where} the write")


class Writers:
    """The writer of each kind of event, as the stages have them."""

    def __init__(self, graph: GraphWriter) -> None:
        self._of: dict[type, Callable[[Received[Any]], Awaitable[object]]] = {
            Turn: Writer(graph.write_turns).handle,
            PackDecision: Writer(graph.write_decisions).handle,
            AuditDecision: Writer(graph.write_decisions).handle,
            ClaimAsserted: Writer(graph.write_claims).handle,
            CorrectionIssued: Writer(graph.write_corrections).handle,
            SummaryMade: Writer(graph.write_summaries).handle,
        }
        self._knowledge = Writer(graph.write_knowledge).handle

    async def store(self, record: Received[Any]) -> None:
        """Hand a record over until it is stored, as the runner does."""
        handle = self._of.get(type(record.event), self._knowledge)
        while True:
            try:
                await handle(record)
                return
            except Unavailable:
                await asyncio.sleep(0)


async def deliver(
    numbered: Iterator[tuple[int, Sequence[Received[Any]]]],
    store: GraphStore,
    stored: Callable[[int], None] = lambda _: None,
    *,
    writers: int = 4,
) -> None:
    """Store all batches, `writers` at a time, each with its own writers of every kind; say which is stored."""

    async def work() -> None:
        own = Writers(store)
        for number, batch in numbered:
            await asyncio.gather(*map(own.store, batch))
            stored(number)

    await asyncio.gather(*(work() for _ in range(writers)))


async def in_order(events: Sequence[Received[Any]], store: GraphStore) -> None:
    """Store each event once, one after the other."""
    own = Writers(store)
    for event in events:
        await own.store(event)


async def contents(read: Callable[[str, Mapping[str, Any]], Awaitable[Sequence[Mapping[str, Any]]]]) -> Contents:
    """Every node and link with all its properties, in order."""
    nodes = await read(queries.ALL_NODES, {})
    links = await read(queries.ALL_LINKS, {})
    return (
        sorted(((row["label"], row["id"], dict(row["props"])) for row in nodes), key=lambda row: row[:2]),
        sorted(((row["type"], row["start"], row["finish"], dict(row["props"])) for row in links), key=lambda r: r[:3]),
    )


def difference(wanted: Contents, found: Contents) -> str:
    """What is different, a few of each kind; empty when nothing is."""
    lines = []
    for what, ours, theirs, key in (
        ("node", wanted[0], found[0], 2),
        ("link", wanted[1], found[1], 3),
    ):
        if len(ours) != len(theirs):
            lines.append(f"{len(theirs)} {what}s, not {len(ours)}")
        known, other = {row[:key]: row for row in ours}, {row[:key]: row for row in theirs}
        if len(other) != len(theirs):
            lines.append(f"{len(theirs) - len(other)} {what}s twice")
        lines += [
            f"{what} {name}: wanted {known.get(name)}, found {other.get(name)}"
            for name in sorted(known.keys() | other.keys())
            if known.get(name) != other.get(name)
        ]
    return "\n".join(lines[:12])
