"""The small chaos run, on each broker: joins and stops in mid-load, kills at random and at fault points."""

import asyncio

import pytest

from tests.chaos import replay, report, scenario
from tests.chaos.servers import Servers

KILLS_AT_LEAST = 4


@pytest.mark.slow
@pytest.mark.timeout(480)
@pytest.mark.covers("CF-67", "CF-68", "CF-69", "AC-29", "AC-35")
def test_a_run_with_kills_joins_and_stops_loses_doubles_and_reorders_nothing(
    servers: Servers, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = asyncio.run(scenario.run(scenario.small(seed=1), servers))
    with capsys.disabled():
        print(f"\n{report.table(outcome)}")
    assert report.violations(outcome) == []
    figures = report.summary(outcome)
    assert figures["messages"] >= 1_500
    assert figures["kills"] >= KILLS_AT_LEAST
    assert figures["joins"] == 3
    assert figures["sigterms"] >= 3
    # A fresh group makes the same packs of the recorded log, kills or no kills.
    recorded = replay.packs_of(outcome.evidence.log)
    assert len(recorded) == figures["packs"]
    assert replay.replayed(outcome.evidence.log) == recorded
