"""What became of a canary is counted: its time, or that it was lost, or that it was left behind."""

import asyncio

import pytest

from streams.edges.canary import flights as canary
from streams.edges.canary.flights import Flight
from streams.edges.client.errors import DOWN, CommandFailed
from streams.runtime.admission.fairness import CANARY, TenantCounts
from streams.telemetry import metrics


def counted(name: str) -> float:
    return metrics.REGISTRY.get_sample_value(name) or 0.0


NAMES = ("fathom_canary_roundtrip_seconds_count", "fathom_canary_lost_total", "fathom_canary_left_total")


@pytest.mark.parametrize(
    ("flight", "more"),
    [
        (Flight(0.2), (1, 0, 0)),
        (Flight(None, "no pack came"), (0, 1, 0)),
        (Flight(0.2, left="not erased"), (1, 0, 1)),
        (Flight(None, "no pack came", "not erased"), (0, 1, 1)),
    ],
)
def test_each_end_of_a_canary_is_counted(flight: Flight, more: tuple[int, int, int]):
    before = [counted(name) for name in NAMES]
    canary.count(flight)
    assert tuple(counted(name) - was for name, was in zip(NAMES, before, strict=True)) == more


def test_without_a_broker_it_is_lost_and_the_next_one_is_sent(monkeypatch: pytest.MonkeyPatch):
    flights: list[Flight] = []

    def nowhere() -> str:
        if len(flights) == 3:
            raise StopAsyncIteration
        raise CommandFailed("nothing is running", DOWN)

    monkeypatch.setattr(canary, "count", flights.append)
    with pytest.raises((StopAsyncIteration, RuntimeError)):
        asyncio.run(canary.keep_flying(nowhere, 0.0))
    assert [flight.lost for flight in flights] == ["nothing is running"] * 3


def test_a_canary_takes_nothing_from_what_tenants_may_have():
    counts = TenantCounts()
    for tenant in ("much", "much", "much", "much", "little"):
        counts.came(tenant)
    before = [counts.has_little(tenant) for tenant in ("much", "little")]
    for _ in range(50):
        counts.came(CANARY)
    assert [counts.has_little(tenant) for tenant in ("much", "little")] == before == [False, True]
    assert not counts.has_little(CANARY)
    for _ in range(50):
        counts.went(CANARY)
    assert counts._of == {"much": 4, "little": 1}
