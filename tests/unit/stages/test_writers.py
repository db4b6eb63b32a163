"""Writers store what comes at one time in one write, and one record that is refused takes no other along."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from agents.errors import Rejected, Unavailable
from agents.stages.writers import ConsultationWriter, KnowledgeWriter, SummaryWriter, Writer
from deploy.docs import examples
from schemas.envelope import Envelope, Received
from schemas.learning import ConsultationRecorded
from schemas.memory import KnowledgeRecorded, SummaryMade
from streams.stores.passages.memory import MemoryPassageIndex
from streams.stores.passages.vectors import HashingEmbedder
from tests.checkout import ROOT

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
EXAMPLES = ROOT / "schemas" / "examples"
EVENTS = {type(event): event for each in examples.load(EXAMPLES) for event in [each.received().event]}


class Graph:
    """Notes what is written together; a write of `bad` is refused, and all are while it is away."""

    def __init__(self, bad: str = "", *, away: bool = False) -> None:
        self.writes: list[list[str]] = []
        self.bad = bad
        self.away = away

    async def write(self, rows: Sequence[Received[Any]]) -> None:
        await asyncio.sleep(0)
        self.writes.append([row.envelope.id for row in rows])
        if self.away:
            raise Unavailable("graph", "away")
        if self.bad in self.writes[-1]:
            raise Rejected("bad_row", self.bad)

    write_summaries = write_knowledge = write_consultations = write_turns = write

    async def erased(self, *_: Any) -> dict[Any, Any]:
        return {}

    async def retired(self, *_: Any, **__: Any) -> tuple[()]:
        return ()


def summaries(graph: Any) -> Any:
    return SummaryWriter(graph, MemoryPassageIndex(HashingEmbedder())).handle


def knowledge(graph: Any) -> Any:
    return KnowledgeWriter(graph, MemoryPassageIndex(HashingEmbedder())).handle


def consultations(graph: Any) -> Any:
    return ConsultationWriter(graph, MemoryPassageIndex(HashingEmbedder())).handle


def turns(graph: Any) -> Any:
    return Writer(graph.write_turns).handle


KINDS: dict[Callable[[Any], Any], type[Any]] = {
    summaries: SummaryMade, knowledge: KnowledgeRecorded, consultations: ConsultationRecorded, turns: SummaryMade,
}  # fmt: skip


async def ended(handled: Awaitable[Sequence[Any]]) -> list[Any]:
    return [*await handled]


def handle_all(make: Callable[[Any], Any], graph: Graph, names: str) -> list[Any]:
    """What became of records that come at one time: nothing to send, or the error."""

    async def scenario() -> list[Any]:
        handle, event = make(graph), EVENTS[KINDS[make]]
        envelopes = [Envelope(name, event.TYPE, "urn:test", NOON, "acme", name) for name in names]
        records = [Received(event, envelope, "k", "", 0, 0, 0) for envelope in envelopes]
        return await asyncio.gather(*(ended(handle(record)) for record in records), return_exceptions=True)

    return asyncio.run(scenario())


@pytest.mark.parametrize("make", KINDS)
def test_what_comes_at_one_time_is_one_write(make: Callable[[Any], Any]) -> None:
    graph = Graph()
    assert handle_all(make, graph, "abc") == [[], [], []]
    assert graph.writes == [["a", "b", "c"]]


@pytest.mark.parametrize("make", KINDS)
def test_a_record_that_is_refused_takes_no_other_along(make: Callable[[Any], Any]) -> None:
    graph = Graph(bad="b")
    before, wrong, after = handle_all(make, graph, "abc")
    assert (before, after) == ([], [])
    assert isinstance(wrong, Rejected)
    assert sorted(map(tuple, graph.writes)) == [("a",), ("a", "b", "c"), ("b",), ("c",)]


@pytest.mark.parametrize("make", KINDS)
def test_while_the_graph_is_away_everybody_hears_of_it_and_nobody_tries_alone(make: Callable[[Any], Any]) -> None:
    graph = Graph(away=True)
    assert [type(error) for error in handle_all(make, graph, "abc")] == [Unavailable] * 3
    assert graph.writes == [["a", "b", "c"]]
