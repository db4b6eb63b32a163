"""A disk without room: a start that names the folder, a process that says it, and goes on when there is room again."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.checkout import ROOT


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("full") / "disk"
    folder.mkdir()
    # A disk of its own, mounted where only this process tree sees it; without root in a user namespace.
    own = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("FATHOM_")}
    done = subprocess.run(
        [*own, sys.executable, "-m", "tests.proofs.e2e.full_disk", str(folder)],
        cwd=ROOT, env={**clean, "FATHOM_EMBEDDER": "hashing", "FATHOM_HTTP_PORT": "0", "FATHOM_PARTITIONS": "2"},
        capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return {**found, "folder": str(folder / "data")}


def test_a_start_without_room_names_the_folder_and_the_next_step(seen: dict[str, Any]):
    code, text = seen["start"]
    assert code == 3
    assert f"the disk of {seen['folder']} is full" in text
    assert "less than 64 MB are free): free some of it" in text
    assert text.endswith("or choose another directory with --data DIR\n")
    assert len(text.splitlines()) == 1


def test_a_disk_that_fills_up_is_said_by_readiness_commands_and_http(seen: dict[str, Any]):
    assert seen["before"] == 200
    assert seen["not_ready"]["ready"] is False
    assert f"the disk of {seen['folder']} is full" in seen["not_ready"]["disk"]
    assert seen["live"] == 200
    status, problem = seen["http"]
    assert status == 503
    assert f"the disk of {seen['folder']} is full" in problem["detail"]
    code, text = seen["ingest"]
    assert code == 4
    assert f"the disk of {seen['folder']} is full" in text
    # What is there can still be read.
    assert seen["tail"][0] == 0
    assert "Hello!" in seen["tail"][1]


def test_with_room_again_it_goes_on(seen: dict[str, Any]):
    assert seen["ready_again"]["disk"] == "ok"
    # What was on its way when the last byte was taken: kept by who sent it, until it could be stored.
    assert seen["sent"] == 0
    assert "Kept until there is room." in seen["messages"][1]
    assert seen["after"] == 200
    assert seen["ended"] == 0
    told = [line for line in seen["log"].splitlines() if '"store":"disk"' in line]
    assert ["down" in line for line in told] == [True, False]
