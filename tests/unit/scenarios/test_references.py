"""A correction or a feedback that overtakes what it names: it waits as long as writers are behind, and is not lost."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from agents.concurrency import RetryUntil
from agents.references import References
from schemas.topics import (
    CORRECTIONS_IN,
    MEMORY_CLAIMS,
    MEMORY_CONSULTATIONS,
    MEMORY_CORRECTIONS,
    MEMORY_DECISIONS,
    MEMORY_VOTES,
    Topic,
)
from streams.testing.pipeline import FakeClock, Pipeline
from tests.unit.scenarios.test_corrections import asserted, consulted, correct
from tests.unit.scenarios.test_corrections import refusals as refused_corrections
from tests.unit.scenarios.test_feedback import on_a_thread, rate
from tests.unit.scenarios.test_feedback import refusals as refused_feedback

DONE: tuple[str | None, ...] = (None,)


class Writers:
    """What is said of them, one answer after the other; the graph has what they write from the last one on."""

    def __init__(self) -> None:
        self.says: list[str | None] = []
        self.asked: list[tuple[Topic, datetime]] = []

    async def behind(self, topic: Topic, by: datetime) -> str | None:
        self.asked.append((topic, by))
        return self.says.pop(0)

    def hide(self, fathom: Pipeline, read: str, *says: str | None) -> None:
        """The graph does not know it before all this is said."""
        self.says = list(says)
        known: Callable[..., Awaitable[object]] = getattr(fathom.graph, read)

        async def later(*asked: object) -> object:
            return None if self.says else await known(*asked)

        setattr(fathom.graph, read, later)


@pytest.fixture
def writers() -> Writers:
    return Writers()


@pytest.fixture
def fathom(writers: Writers) -> Iterator[Pipeline]:
    with Pipeline(reference_wait_ms=0, replace={"progress": writers}) as pipeline:
        yield pipeline


@pytest.mark.parametrize("says", [("behind", "behind", None), DONE], ids=["behind", "stored while it was asked"])
def test_a_correction_waits_for_a_consultation_on_its_way(
    fathom: Pipeline, writers: Writers, says: tuple[str | None, ...]
) -> None:
    consulted(fathom)
    writers.hide(fathom, "consultation", *says)
    correct(fathom, consulta_id="q1")
    assert refused_corrections(fathom) == []
    assert [each.event.target_id for each in fathom.events(MEMORY_CORRECTIONS)] == ["q1"]
    assert [topic for topic, _ in writers.asked] == [MEMORY_CONSULTATIONS] * len(says)


def test_a_correction_waits_for_a_claim_on_its_way(fathom: Pipeline, writers: Writers) -> None:
    claim = asserted(fathom)
    writers.hide(fathom, "claim", "behind", None)
    correct(fathom, claim_id=claim)
    assert refused_corrections(fathom) == []
    assert [each.event.target_id for each in fathom.events(MEMORY_CORRECTIONS)] == [claim]
    assert [topic for topic, _ in writers.asked] == [MEMORY_CLAIMS] * 2


def test_a_feedback_waits_for_a_decision_on_its_way(fathom: Pipeline, writers: Writers) -> None:
    on_a_thread(fathom)
    pack = fathom.ask("e o orçamento?")
    writers.hide(fathom, "decision", "behind", None)
    rate(fathom, pack)
    assert refused_feedback(fathom) == []
    assert [each.event.pack_id for each in fathom.events(MEMORY_VOTES)] == [pack.pack_id]
    assert [topic for topic, _ in writers.asked] == [MEMORY_DECISIONS] * 2


@pytest.mark.parametrize("named", [{"consulta_id": "q9"}, {"claim_id": "c9"}], ids=str)
def test_what_nobody_recorded_is_refused_once_writers_are_not_behind(
    fathom: Pipeline, writers: Writers, named: dict[str, Any]
) -> None:
    writers.says = [None]
    correct(fathom, **named)
    [why] = refused_corrections(fathom)
    assert why.endswith("_unknown")
    [(_, by)] = writers.asked
    assert by.timestamp() * 1000 == fathom.log.of(CORRECTIONS_IN.name)[-1].timestamp


def test_writers_are_asked_about_no_time_that_a_senders_clock_is_ahead() -> None:
    clock, writers = FakeClock(), Writers()
    writers.says = [None]

    async def nothing() -> None:
        return None

    ahead = clock.now() + timedelta(days=1)
    found = asyncio.run(References(clock, RetryUntil(0), writers).find(nothing, MEMORY_CLAIMS, ahead))
    assert found is None
    assert writers.asked == [(MEMORY_CLAIMS, clock.now())]
