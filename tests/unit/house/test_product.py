"""The repository as a product: folders, packages, pins, requirements list, commands the README promises."""

import re
import tomllib
from pathlib import Path

import pytest

from streams.topology import SPLIT, STAGES, stages_of
from tests.checkout import ROOT
from tests.requirements import coverage

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
TOP_LEVEL = {"pyproject.toml", "streams", "agents", "schemas", "deploy", "docker-compose.yml", "tests", "README.md"}
WELCOME = {"docs", "bench", "clients", "Makefile", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"}
PACKAGES = {
    "faust-streaming", "aiokafka", "pydantic", "neo4j", "qdrant-client", "redis", "orjson", "prometheus-client",
}  # fmt: skip


@pytest.mark.covers("CD-01", "CD-03")
def test_the_root_has_what_was_fixed_and_little_else():
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert found >= TOP_LEVEL
    assert found - TOP_LEVEL - WELCOME <= {"THIRD_PARTY_NOTICES.md", "dist"}  # what `make release` makes


@pytest.mark.covers("CD-02")
def test_the_fixed_packages_are_dependencies_and_every_version_is_exact():
    dependencies = PROJECT["project"]["dependencies"]
    names = {re.split(r"[=\[<>;]", line)[0] for line in dependencies}
    assert names >= PACKAGES
    tests = {re.split(r"[=\[]", line)[0] for line in PROJECT["project"]["optional-dependencies"]["test"]}
    assert {"testcontainers", "pytest"} <= tests
    every = [*dependencies, *(line for extra in PROJECT["project"]["optional-dependencies"].values() for line in extra)]
    assert all("==" in line for line in every)


def test_requirements_are_hashed_and_name_no_address():
    for path in (ROOT / "deploy/requirements").glob("*.txt"):
        text = path.read_text()
        assert "://" not in text
        pins = re.findall(r"^[A-Za-z0-9._-]+==", text, re.M)
        assert pins
        assert len(re.findall(r"^ +--hash=sha256:", text, re.M)) >= len(pins)


def test_the_requirements_list_is_whole_and_marks_name_known_ids():
    ids = coverage.known()
    kinds = [coverage.kind(identifier) for identifier in ids]
    assert (kinds.count("statements"), kinds.count("settlements"), kinds.count("scenarios")) == (445, 88, 88)
    assert kinds.count("properties") == 30
    line, _, unknown = coverage.summary()
    assert re.fullmatch(r"\d+ of 445 statements, \d+ of 88 settlements, \d+ of 88 scenarios", line)
    assert unknown == []


def test_a_mark_with_an_unknown_id_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "test_x.py").write_text('import pytest\n@pytest.mark.covers("S9-99")\ndef test_a(): pass\n')
    monkeypatch.setattr(coverage, "TESTS", tmp_path)
    assert coverage.summary()[2] == ["S9-99"]


def test_every_make_target_of_the_documents_exists():
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.M))
    for page in ("README.md", "CONTRIBUTING.md", "docs/users-guide.md", "docs/operators-guide.md"):
        named = set(re.findall(r"`make ([a-z-]+)`|^\s*make ([a-z-]+)", (ROOT / page).read_text(), re.M))
        assert {a or b for a, b in named} <= targets


@pytest.mark.covers("CD-06", "REQ-CDC-016")
def test_there_is_one_retrieval_stage_per_class_of_memory():
    names = {stage.name for stage in SPLIT if stage.group_name == "retrieval"}
    classes = ("working-set", "persona", "episodic", "semantic", "procedural", "claims")
    assert names == {f"retrieval-{name}" for name in classes}


def test_groups_and_stages_can_be_named_and_others_are_refused():
    assert stages_of([]) == STAGES
    assert {s.name for s in stages_of(["depth"])} == {"depth", "retrieval", "assembler", "presenter"}
    assert {s.name for s in stages_of(["depth", "retrieval"], "split")} >= {"depth", "retrieval-claims"}
    for name in ("dept", "retrieval", "retrieval-claims"):
        with pytest.raises(KeyError):
            stages_of([name])
    pack_path = {"depth"}
    assert [s.name for s in STAGES if s.group_name.endswith("writers") and s.writes] == ["eraser"]
    assert all(s.writes for s in STAGES if s.group_name in pack_path)
