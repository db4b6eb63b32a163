"""Stores that refuse, hang, answer late, break off, flap or take no password: nothing is lost and packs go on."""

import asyncio
from pathlib import Path

import pytest

from tests.proofs.outages.run import outages, record
from tests.proofs.outages.scenario import MODES, WRONG_AUTH, table
from tests.proofs.outages.site import STORES
from tests.servers.install import lacking

# Each store and each way to fail at least once; all eighteen are `make proofs PART=outages SIZE=full`.
CASES = (
    ("neo4j", "reset"),
    ("neo4j", "hung"),
    ("qdrant", "refused"),
    ("qdrant", WRONG_AUTH),
    ("redis", "slow"),
    ("redis", "flapping"),
)


def test_each_store_and_each_way_to_fail_is_among_the_cases() -> None:
    assert {store for store, _ in CASES} == set(STORES)
    assert {mode for _, mode in CASES} == set(MODES)


@pytest.mark.timeout(900)
@pytest.mark.covers("AC-27", "AC-37", "B7")
def test_a_store_that_fails_costs_its_part_of_a_pack_and_nothing_of_memory(tmp_path: Path) -> None:
    for name in STORES:
        if (why := lacking(name)) is not None:
            pytest.skip(why)
    outcomes, left = asyncio.run(outages(CASES, tmp_path, messages=3))
    record(outcomes, left)
    assert not any(each.wrong for each in outcomes), table(outcomes)
    assert left == []
