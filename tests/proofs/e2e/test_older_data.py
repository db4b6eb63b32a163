"""A data directory of an earlier version starts under this one, and its packs are made again byte for byte.

`data/written-by-55ac57d.tar.xz` is what `fathom demo` left behind under commit 55ac57d, before 0.2: broker, graph and
working sets whole; of the index, a view that is filled from the log, the note that says how it was written.
"""

import json
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.processes import START_S, UNHURRIED, fathom, running

WRITTEN = Path(__file__).parent / "data" / "written-by-55ac57d.tar.xz"
PACKS = 38


@pytest.fixture
def older(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    with tarfile.open(WRITTEN) as archive:
        archive.extractall(data, filter="data")
    return data


def test_packs_of_an_older_log_are_made_again_byte_for_byte(older: Path, tmp_path: Path) -> None:
    with running("up", "--data", str(older), "--port", "0", stderr=tmp_path / "err") as process:
        broker = process.ready()["bootstrap"]
        replayed = fathom("replay", "--mode", "exact", "--execute", "--broker", broker, "--json")
        assert replayed.returncode == 0, replayed.stdout + replayed.stderr
        told = json.loads(replayed.stdout.splitlines()[-1])
        assert (told["made"], told["equal"], told["differences"]) == (PACKS, PACKS, [])
        assert told["unreadable"] == told["lost"] == 0
        assert process.end()[0] == 0


def test_what_an_older_version_remembered_is_found(older: Path, tmp_path: Path) -> None:
    question, wanted = "Até que valor vale a declaração de recibo perdido?", "despesas de até R$ 80"
    with running("up", "--data", str(older), "--port", "0", stderr=tmp_path / "err", **UNHURRIED) as process:
        broker = process.ready()["bootstrap"]
        until, found = time.monotonic() + START_S, ""
        # The index is filled from the log meanwhile.
        while wanted not in found and time.monotonic() < until:
            asked: Any = fathom("ask", question, "--tenant", "aurora", "--broker", broker, "--json")
            assert asked.returncode == 0, asked.stderr
            found = asked.stdout
        assert wanted in found
        assert "index.outdated" in process.said()
        assert process.end()[0] == 0
