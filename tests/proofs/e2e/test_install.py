"""The distribution installed beside another one whose package is also called `agents`, as openai-agents' is."""

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.checkout import ROOT

THEIRS = '"""Another distribution\'s agents."""\n\nRUNNER = "theirs"\n'


class Environment:
    """A virtual environment with the pinned dependencies, and nothing of ours."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run(sys.executable, "-m", "venv", "--without-pip", str(folder / "venv"))
        self.bin = folder / "venv" / "bin"
        [self.packages] = (folder / "venv" / "lib").glob("python*/site-packages")
        # Where the dependencies are: a path on it, whose own `.pth` files (ours, for this checkout) are not read.
        (self.packages / "zz_dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def run(self, *command: str, expected: int = 0) -> str:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("FATHOM_", "PYTHON"))}
        done = subprocess.run(
            command, cwd=self.folder, env={**clean, "VIRTUAL_ENV": str(self.folder / "venv")}, capture_output=True,
            text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == expected, done.stdout + done.stderr
        return done.stdout + done.stderr

    def pip(self, *arguments: str) -> str:
        return self.run(
            sys.executable, "-m", "uv", "--offline", "pip", *arguments, "--python", str(self.bin / "python")
        )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    folder = tmp_path_factory.mktemp("installed")
    environment = Environment(folder)
    (environment.packages / "agents").mkdir()
    (environment.packages / "agents" / "__init__.py").write_text(THEIRS)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    [wheel] = (folder / "dist").glob("*.whl")
    environment.pip("install", "--no-deps", str(wheel))
    yield environment
    environment.pip("uninstall", "fathom-context")
    # What was removed is ours alone.
    assert (environment.packages / "agents" / "__init__.py").read_text() == THEIRS


def test_the_other_distribution_keeps_its_package(installed: Environment):
    said = installed.run(str(installed.bin / "python"), "-c", "import agents; print(agents.RUNNER)")
    assert said == "theirs\n"


def test_the_command_runs_its_own_package_with_all_its_processes(installed: Environment):
    fathom = str(installed.bin / "fathom")
    assert "respond_directly" in installed.run(fathom, "assess", "Thanks!", "--json")
    process = subprocess.Popen(
        [fathom, "up", "--port", "0"], cwd=installed.folder, text=True,
        env={**os.environ, "FATHOM_HTTP_PORT": "0"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        assert ready["event"] == "ready"
        with urlopen(ready["console"], timeout=30) as page:
            assert b"Fathom" in page.read()
        pack = json.loads(installed.run(fathom, "ask", "Hello!", "--json"))
        assert pack["depth_level"] == "D0"
    finally:
        process.terminate()
        process.communicate(timeout=30)
    assert process.returncode == 0


def test_the_testing_kit_says_whose_package_is_in_the_way(installed: Environment):
    said = installed.run(str(installed.bin / "python"), "-c", "import streams.testing.pipeline", expected=1)
    assert "is not Fathom's: openai-agents has one of that name" in said.splitlines()[-1]
    assert str(installed.packages / "agents" / "__init__.py") in said
