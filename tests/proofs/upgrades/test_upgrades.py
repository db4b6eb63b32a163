"""One rolling upgrade from the version before, and one rollback, under load; SIZE=full does twenty of each."""

from pathlib import Path

import pytest

from tests.proofs.upgrades.upgrades import record, tried
from tests.servers.install import InstallError, lacking


@pytest.mark.covers("B11")
def test_a_rolling_upgrade_and_a_rollback_lose_double_and_refuse_nothing(tmp_path: Path) -> None:
    for server in ("kafka", "redis"):
        if (why := lacking(server)) is not None:
            pytest.skip(why)
    try:
        outcome = tried(tmp_path, cycles=1, rate=5)
    except InstallError as error:
        pytest.skip(str(error))
    record(outcome)
    assert outcome.sent > 10
    assert outcome.lacking == []
    assert outcome.doubled == []
    assert outcome.dead == {}
    assert outcome.exits == {0: 6}
