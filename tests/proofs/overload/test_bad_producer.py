"""A producer that sends what is none, on real processes: healthy messages get packs, each bad record one letter."""

import asyncio

import pytest

from bench.running import fathom_up
from tests.proofs.overload.producer import ENTRIES, IN_A_ROW, KINDS, record, run

LIMIT = 20


@pytest.mark.covers("B13")
def test_bad_records_of_every_kind_stop_no_stage_and_are_dead_letters_once() -> None:
    assert IN_A_ROW > 500  # of the target; here the limit is lower
    with fathom_up(embedder="hashing", dlq_max_consecutive=str(LIMIT)) as running:
        outcome = asyncio.run(run(running, shares=(0.1, 1.0), seconds=2, in_a_row=LIMIT + 5))
    record(outcome)
    assert outcome.wrong == []
    assert [part.packs for part in outcome.parts] == [40, 40, 40, 40]
    assert len(outcome.bad) == 4 + 40 + len(ENTRIES) * (LIMIT + 5) == sum(outcome.letters.values())
    assert {kind for _, kind in outcome.bad.values()} == {*KINDS}
    assert {topic for topic, _ in outcome.bad.values()} == {*ENTRIES}
