"""A burst of more than can be handled, on real processes: nothing is lost or doubled, simple questions stay whole."""

import asyncio
from collections import Counter

import pytest

from bench.running import fathom_up
from tests.proofs.overload import callers
from tests.proofs.overload.run import burst, record


@pytest.mark.covers("B16")
def test_a_burst_bends_what_deep_packs_hold_and_loses_nothing() -> None:
    with fathom_up(embedder="hashing") as running:
        found = asyncio.run(burst(running, rate=500, seconds=6))
    record(found, 6)
    assert found.wrong == []
    assert found.sent == sum(found.packs.values()) == 3_000
    assert found.bad == 750
    # Before messages waited at the first stage 997 of 1,000 were degraded, and each was audited more than twice.
    assert found.degraded["D0"] < found.packs["D0"] / 2
    assert found.audits <= found.sent


@pytest.mark.covers("B16")
def test_callers_who_would_wait_in_vain_are_refused_and_everybody_is_answered_soon_after() -> None:
    with callers.served() as running:
        found = asyncio.run(callers.burst(running, rate=300, seconds=8))
    callers.record(found)
    assert (found.wrong, found.slow) == ([], [])
    statuses = Counter(call.status for call in found.within(callers.BUSY, found.began, found.ended))
    # Before questions were refused 11,693 of 11,945 were not answered within ten seconds, and none of the minute after.
    assert statuses[503] > statuses[504]
    assert statuses[200] > 0
