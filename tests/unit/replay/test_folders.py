"""Temporary folders of replays: removed by their process, or by the next start where that was killed."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from streams.replay.folders import PREFIX, ReplayFolder, remove_left_over
from tests.checkout import ROOT

OTHER = "from streams.replay.folders import ReplayFolder as F; folder = F(); print(folder.path, flush=True); input()"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_has_stays(place: Path):
    with subprocess.Popen(
        [sys.executable, "-c", OTHER], cwd=ROOT, env={"TMPDIR": str(place)}, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        left = Path(process.stdout.readline().strip())
        (left / "stores").mkdir()
        (left / "stores" / "graph.sqlite").write_text("what was said")
        own = ReplayFolder()
        remove_left_over()
        assert left.is_dir()
        assert own.path.is_dir()
        process.kill()
    remove_left_over()
    assert not left.exists()
    own.remove()
    assert [*place.iterdir()] == []


def test_what_is_no_folder_of_a_killed_replay_stays(place: Path):
    (place / f"{PREFIX}of-an-earlier-release").mkdir()
    (place / f"{PREFIX}link").symlink_to(place)
    (place / "mine").mkdir()
    remove_left_over()
    assert len([*place.iterdir()]) == 3


def test_a_process_that_ends_removes_its_own(place: Path):
    ended = subprocess.run(
        [sys.executable, "-c", OTHER], cwd=ROOT, env={"TMPDIR": str(place)}, input="\n", capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert not Path(ended.stdout.strip()).exists()
