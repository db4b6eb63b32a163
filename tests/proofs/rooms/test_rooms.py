"""A copy of the checkout without a package that can be left out passes `make check`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import rooms
from tests.checkout import ROOT


def copied(target: Path, without: tuple[str, ...]) -> Path:
    """A repository of the tracked files but those; it runs in the environment of this checkout."""
    listed = subprocess.run(("git", "ls-files", "-z"), cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if not any(f"{name}/".startswith(f"{each}/") for each in without):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)
    for command in (("git", "init", "-q"), ("git", "add", "-A")):
        subprocess.run(command, cwd=target, check=True)
    (target / ".venv").symlink_to(sys.prefix)
    return target


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("package", rooms.OWN)
def test_without_a_package_that_can_be_left_out_everything_else_passes(package: str, tmp_path: Path) -> None:
    folder = copied(tmp_path, rooms.gone_without(package))
    assert not (folder / package).exists()
    done = subprocess.run(
        (folder / ".venv/bin/python", "-m", "tests.run", "check"),
        cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]
