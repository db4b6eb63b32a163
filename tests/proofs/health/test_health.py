"""Readiness tells the truth within half a minute, with real processes and signals; SIZE=full tries a hundred times."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tests.proofs.health.loaded import loaded
from tests.proofs.health.run import SERVERS
from tests.proofs.health.site import KINDS
from tests.servers.install import lacking

OWN = [kind for kind in KINDS if kind not in SERVERS]


def tried(kinds: Sequence[str], trials: int) -> str:
    """The table of so many trials of each kind; fails with it when one was not told in time."""
    command = [sys.executable, "-m", "tests.proofs.health.run", "--trials", str(trials), "--only", *kinds]
    done = subprocess.run(
        [*command, "--workers", "1", "--away", "0", "--loaded", "0"],
        cwd=ROOT, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.timeout(660)
@pytest.mark.covers("B18")
def test_what_a_process_brings_along_stops_and_goes_on_five_times() -> None:
    said = tried(OWN, 5)
    assert all(f"{kind}: 5 trials, 5 passed" in said for kind in OWN)


@pytest.mark.timeout(660)
@pytest.mark.covers("B18")
@pytest.mark.kafka
def test_a_server_stops_and_goes_on() -> None:
    for name in SERVERS.values():
        if (why := lacking(name)) is not None:
            pytest.skip(why)
    said = tried([*SERVERS], 1)
    assert all(f"{kind}: 1 trials, 1 passed" in said for kind in SERVERS)


@pytest.mark.timeout(300)
@pytest.mark.covers("B18")
def test_a_slow_broker_and_a_slow_loop_under_load_are_no_alarm(tmp_path: Path) -> None:
    load = loaded(25, 50, tmp_path)
    assert load.denied == []
    assert load.most_late_s > 0.5, "the loop should have been held up"
    assert load.sent > 0
