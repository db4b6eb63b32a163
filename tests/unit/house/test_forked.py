"""Tests that run in forks are reported as if the parent had run them, also where a fork dies."""

import os
import subprocess
import sys
from pathlib import Path

from tests.checkout import HANG_S, ROOT

FILES = {
    "test_a.py": """
import os

def test_passes(tmp_path):
    (tmp_path / "x").touch()

def test_prints():
    print("shown")
    assert os.getpid() == 0
""",
    "test_b.py": """
import os

def test_dies():
    os.kill(os.getpid(), 9)

def test_is_not_reached():
    pass
""",
    "test_c.py": """
import pytest

@pytest.fixture(scope="module")
def made():
    yield 1
    raise OSError("not torn down")

def test_one(made):
    pass

def test_two(made):
    pytest.skip("why")
""",
}


def test_failures_deaths_and_skips_of_forks_are_reported(tmp_path: Path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider", "-c", "/dev/null"]
    forks = ["-p", "tests.forked", "--processes", "2", "--rootdir", str(tmp_path), str(tmp_path)]
    wide = {**os.environ, "COLUMNS": "200"}
    ended = subprocess.run([*command, *forks], cwd=ROOT, env=wide, capture_output=True, text=True, timeout=HANG_S)
    assert ended.returncode == 1
    assert "2 failed, 2 passed, 1 skipped, 1 error" in ended.stdout
    for expected in (
        "test_a.py::test_prints - assert",
        "shown",
        "test_b.py::test_dies: its process ended with -9",
        "why",
        "test_c.py::test_two - OSError: not torn down",
    ):
        assert expected in ended.stdout
