"""Poison of every kind on a real worker and broker: dead letters once, everything else handled, as often as it dies."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streams.kafka import topics_admin, topics_plan
from tests.proofs.overload.poison import (
    KINDS,
    PARTITIONS,
    Outcome,
    Poisoning,
    RestartedWorker,
    record,
    run,
    table,
    valkey_at,
)
from tests.proofs.overload.poisoned import KILLS, NAMES

# A process commits every half second. Three in a row that die before they have are a poison to anybody.
COMMITTED_S = 1.5


@pytest.fixture
def worker(broker: Any, tmp_path: Path) -> Iterator[RestartedWorker]:
    with valkey_at(tmp_path / "valkey") as url:
        started = RestartedWorker(broker.bootstrap, url, tmp_path)
        try:
            yield started
        finally:
            started.kill()


@pytest.mark.covers("B13", "CF-67")
@pytest.mark.timeout(900)
def test_poison_of_every_kind_is_a_dead_letter_once_and_healthy_records_are_handled(
    broker: Any, worker: RestartedWorker, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    outcome = asyncio.run(run("this broker", broker.bootstrap, worker, shares=(0.1,), healthy=20, most_kills=1))
    with capsys.disabled():
        print(f"\n{table(outcome)}")
    record(outcome, request.node.callspec.id)
    assert outcome.wrong == []
    assert {kind for kind, *_ in outcome.poisons.values()} == {*KINDS}
    assert worker.deaths >= 4 * len(KILLS)


@pytest.mark.covers("B13", "CF-67")
@pytest.mark.timeout(600)
def test_kills_from_outside_make_no_dead_letter(broker: Any, worker: RestartedWorker) -> None:
    async def scenario() -> Outcome:
        outcome = Outcome("this broker")
        await topics_admin.create_missing(broker.bootstrap, topics_plan.wanted(PARTITIONS))
        poisoning = Poisoning(broker.bootstrap, worker, outcome)
        before = len(await poisoning.letters())
        going = asyncio.create_task(poisoning.part("outside", 2000, (), rate=100))
        for share in (1, 400, 900, 1400):
            while len(worker.done()) < share * len(NAMES):  # noqa: ASYNC110 - of another process
                await asyncio.sleep(0.02)
            await asyncio.sleep(COMMITTED_S)
            worker.kill()
        await going
        assert len(await poisoning.letters()) == before
        return outcome

    outcome = asyncio.run(scenario())
    assert outcome.wrong == []
    assert worker.deaths >= 4
    assert worker.stop() == 0
