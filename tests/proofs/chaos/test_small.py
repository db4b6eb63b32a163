"""The small chaos run, on each broker: joins and stops in mid-load, kills at random and at fault points."""

import asyncio
import logging

import pytest

from tests import counters
from tests.chaos import replay, report, scenario
from tests.chaos.servers import Servers
from tests.proofs.chaos.run import ROWS, WORKLOADS

KILLS_AT_LEAST = 4


# Against hanging as a whole; a member that does not come back and records that do not move end the run much earlier.
@pytest.mark.timeout(1200)
@pytest.mark.covers("CF-67", "CF-68", "CF-69", "AC-29", "AC-35")
def test_a_run_with_kills_joins_and_stops_loses_doubles_and_reorders_nothing(
    servers: Servers, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    # What failed, failed in one of its phases: shown with the failure.
    caplog.set_level(logging.INFO, "chaos")
    outcome = asyncio.run(scenario.run(scenario.small(seed=1), servers))
    with capsys.disabled():
        print(f"\n{report.table(outcome)}")
    report.record(outcome, ROWS, WORKLOADS[servers.broker], 1)
    assert report.violations(outcome) == []
    figures = report.summary(outcome)
    assert figures["messages"] >= 1_500
    assert figures["kills"] >= KILLS_AT_LEAST
    assert figures["joins"] == 3
    assert figures["sigterms"] >= 3
    # A fresh group makes the same packs of the recorded log, kills or no kills.
    recorded = replay.packs_of(outcome.evidence.log)
    assert len(recorded) == figures["packs"]
    made = replay.replayed(outcome.evidence.log)
    different = [pack for pack in made.keys() | recorded.keys() if made.get(pack) != recorded.get(pack)]
    counters.record(
        "B10", f"packs made again from a log of {servers.broker}", {"packs": len(made)}, {"different": len(different)}
    )
    assert different == []
