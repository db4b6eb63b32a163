"""The broker itself dies in mid-load, on Apache Kafka: nothing is lost, doubled or out of order afterwards."""

import asyncio
from pathlib import Path

import pytest

from tests.chaos import report
from tests.chaos.servers import lacking, serving_brokers
from tests.proofs.chaos import broker_kills


@pytest.mark.kafka
@pytest.mark.timeout(480)
@pytest.mark.covers("CF-67", "CF-68", "CF-69")
def test_a_broker_that_dies_and_comes_back_costs_no_message_and_repeats_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if (why := lacking("kafka")) is not None:
        pytest.skip(why)
    with serving_brokers(tmp_path, cluster=False) as (servers, brokers):
        outcome = asyncio.run(broker_kills.run(broker_kills.small(seed=1), servers, brokers))
    with capsys.disabled():
        print(f"\n{report.table(outcome)}")
    report.record(outcome, broker_kills.ROWS, broker_kills.WORKLOADS[False], 1)
    assert report.violations(outcome) == []
    figures = report.summary(outcome)
    assert figures["messages"] >= 250
    assert figures["kills_by_kind"] == {broker_kills.BROKER: 1}
    # No worker died: whatever is there twice, the broker's death has doubled.
    assert figures["repeats"] == {}
