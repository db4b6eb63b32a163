"""The page's own rules in Node, without a browser; that what ships was built from the sources; the folders' sizes."""

import json
import os
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.builders import compilers
from tests.checkout import ROOT
from tests.console import build, jobs
from tests.console.stub import EXAMPLES
from tests.servers.install import InstallError
from tests.unit.house.test_sizes import MAX_FILES, MAX_LINES

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources as JavaScript modules, beside their packages."""
    try:
        web = build.sources(tmp_path_factory.mktemp("console"))
    except InstallError as error:
        pytest.skip(str(error))
    build.tool(web, "typescript/bin/tsc", "--project", ".")
    return web / "dist"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records of a message, of both stages in turns, the states they come to, and the golden packs."""
    folder = tmp_path_factory.mktemp("data")
    pack, answer = [*jobs.pack_records("told")], [*jobs.cognition_records("told")]
    between = [each for pair in zip(pack, answer, strict=False) for each in pair]
    records = [*between, *pack[len(answer) :], *answer[len(pack) :]]
    packs = [json.loads(path.read_text())["value"] for path in sorted((EXAMPLES / "context-packs.out").iterdir())]
    states = {"pack": jobs.reduced(pack), "cognition": jobs.reduced(answer)}
    for name, value in {"records": records, "states": states, "packs": packs}.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    # What the server has recorded, and reduced itself.
    for path in (ROOT / "tests" / "builders").glob("progress_job*.json"):
        shutil.copy(path, folder)
    return folder


@pytest.mark.covers("AC-80", "S2-145")
@pytest.mark.parametrize(("file", "least"), [("data", 20), ("tree", 8)])
def test_nodes_own_test_runner_finds_nothing_wrong(compiled: Path, data: Path, file: str, least: int) -> None:
    environment = {**os.environ, "CONSOLE_LIB": str(compiled), "CONSOLE_DATA": str(data)}
    script = str(HERE / "unit" / f"{file}.test.mjs")
    check(compilers.ran("node", "--test", "--test-reporter=spec", script, environment=environment), least)


def check(said: str, least: int) -> None:
    """Node's runner ran so many tests, and none failed or was left out."""
    counts = {
        name: int(number) for name, number in re.findall(r"^ℹ (pass|fail|skipped|cancelled|todo) (\d+)$", said, re.M)
    }
    assert counts.pop("pass") >= least
    assert set(counts.values()) == {0}


def test_the_page_that_ships_was_built_from_the_sources(tmp_path: Path) -> None:
    try:
        build.build(tmp_path / "static")
    except InstallError as error:
        pytest.fail(f"{error}; `make console` builds it")
    made = {path.name: path.read_bytes() for path in (tmp_path / "static").iterdir()}
    shipped = {path.name: path.read_bytes() for path in build.STATIC.iterdir()}
    assert made.keys() == shipped.keys()
    assert [name for name in made if made[name] != shipped[name]] == [], "`make console` builds it again"


def test_packages_are_pinned_by_digest_and_name_no_address() -> None:
    text = (build.WEB / "package-lock.json").read_text()
    assert "://" not in text
    packages = {name: held for name, held in json.loads(text)["packages"].items() if name}
    assert packages
    assert [name for name, held in packages.items() if not held["integrity"].startswith("sha512-")] == []
    wanted = json.loads((build.WEB / "package.json").read_text())
    pins = {**wanted["dependencies"], **wanted["devDependencies"]}
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in pins.values())


def test_the_page_holds_no_address_of_another_server_and_no_script_of_its_own() -> None:
    for path in build.STATIC.iterdir():
        found = set(re.findall(r"https?://[^\s\"'`<>)]+", path.read_text()))
        # Names of languages of markup, which nothing fetches.
        assert {address for address in found if not address.startswith("http://www.w3.org/")} == set(), path.name
    page = (build.STATIC / "index.html").read_text()
    assert re.findall(r"<script(?![^>]* src=)|<style|\son\w+=|style=", page) == []
    script = (build.STATIC / "console.js").read_text()
    assert "eval(" not in script
    assert "new Function" not in script


def test_sources_are_as_small_as_those_in_python() -> None:
    files = [path for path in (build.WEB / "src").rglob("*") if path.is_file()]
    assert len(files) > 20
    assert [path.name for path in files if path.read_text().count("\n") > MAX_LINES] == []
    assert [folder for folder, number in Counter(path.parent for path in files).items() if number > MAX_FILES] == []


def test_what_is_untrusted_is_never_markup() -> None:
    for path in (build.WEB / "src").rglob("*.ts*"):
        assert re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", path.read_text()) == [], path.name


def test_who_ships_in_the_page_is_named() -> None:
    notices = (ROOT / "THIRD_PARTY_NOTICES.md").read_text()
    for name in build.BUNDLED:
        version = json.loads((build.WEB / "package.json").read_text())["dependencies"][name]
        assert re.search(rf"{name}.*{re.escape(version)}", notices, re.IGNORECASE)
        assert name in (build.STATIC / "licences.txt").read_text()
