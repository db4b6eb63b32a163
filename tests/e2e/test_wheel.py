"""The wheel as the image builds it, of what the Dockerfile copies: it has what the product reads."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from streams.stores.graph.migrations import bundled
from tests.builders import customs
from tests.checkout import HANG_S, ROOT


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder outside the checkout with the wheel's packages."""
    folder = tmp_path_factory.mktemp("wheel")
    for copied in re.findall(r"^COPY (.+) \S+$", (ROOT / "deploy/Dockerfile").read_text(), re.MULTILINE):
        for name in copied.split():
            (folder / "src" / name).parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, folder / "src" / name)
    made = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=folder / "src", capture_output=True, text=True, timeout=HANG_S,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    [wheel] = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "installed")
    return folder


def run(folder: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """A Python that finds the wheel's packages and has no settings but these."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("FATHOM_")}
    packages = str(folder / "installed" / "fathom_context")
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=HANG_S,
        env={**clean, "PYTHONPATH": packages, **environment},
    )  # fmt: skip


def test_an_installed_wheel_knows_both_tool_policies(installed: Path) -> None:
    for named, first in (({}, "book_appointment"), (customs.NAMED, "buscar_secao_relatorio_salvo")):
        listed = run(installed, "-m", "streams", "tool", "list", **named)
        assert (listed.returncode, listed.stdout.split()[0]) == (0, first), listed.stderr


def test_an_installed_wheel_has_the_files_of_the_migrations(installed: Path) -> None:
    asked = (
        "from streams.stores.graph import migrations as m; print(m.__file__, *(e.name + e.sha256 for e in m.bundled()))"
    )
    done = run(installed, "-c", asked)
    assert done.returncode == 0, done.stderr
    said = done.stdout.split()
    assert said[0].startswith(str(installed))
    assert said[1:] == [each.name + each.sha256 for each in bundled()]


def test_the_wheel_has_no_tests_no_sources_of_documents_and_no_generated_ones(installed: Path) -> None:
    packages = installed / "installed" / "fathom_context"
    assert {path.name for path in packages.iterdir()} == {"agents", "schemas", "streams"}
    unneeded = (
        "schemas/json",
        "schemas/examples",
        "schemas/asyncapi.json",
        "deploy/docs",
        "streams/edges/console/web",
    )
    assert [name for name in unneeded if (packages / name).exists()] == []
    [wheel] = installed.glob("*.whl")
    assert wheel.stat().st_size < 2_200_000


def test_an_installed_wheel_prints_its_pages(installed: Path) -> None:
    listed = run(installed, "-m", "streams", "docs")
    names = {line.split()[0] for line in listed.stdout.splitlines()}
    assert names == {path.stem for path in (ROOT / "docs").glob("*.md")}, listed.stderr
    page = run(installed, "-m", "streams", "docs", "docs/errors.md#http-422")
    assert page.stdout.strip() == (ROOT / "docs/errors.md").read_text().strip()
    wrong = run(installed, "-m", "streams", "docs", "erors")
    assert (wrong.returncode, wrong.stderr) == (
        2,
        "fathom: there is no page 'erors'; did you mean errors?; `fathom docs` lists them\n",
    )
