"""Releases: the same bytes from the same sources, a bill of materials, sums; what looks for faults and for secrets."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import secret_scan
from tests.checkout import ROOT

WHEN = "1767225600"


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What would be committed, in a folder of its own, with the tools of this one."""
    done = subprocess.run(["sh", "deploy/setup-release.sh"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"the tools of releases cannot be had: {done.stderr.strip()[-200:]}")
    folder = tmp_path_factory.mktemp("sources")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    (folder / ".venv-release").symlink_to(ROOT / ".venv-release")
    return folder


def released(sources: Path, out: Path, umask: str = "022") -> dict[str, bytes]:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": WHEN}
    command = ["sh", "-c", f"umask {umask}; exec sh deploy/release.sh {out}"]
    done = subprocess.run(command, cwd=sources, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {path.name: path.read_bytes() for path in out.iterdir()}


def test_two_builds_are_the_same_byte_for_byte_and_the_sums_are_theirs(sources: Path, tmp_path: Path) -> None:
    first = released(sources, tmp_path / "a")
    # Another clock and another person's habits.
    for path in sources.rglob("*.md"):
        os.utime(path, (1, 1))
    second = released(sources, tmp_path / "b", umask="077")
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []
    sums = dict(reversed(line.split()) for line in first.pop("SHA256SUMS").decode().splitlines())
    assert sums == {name: hashlib.sha256(content).hexdigest() for name, content in first.items()}
    assert {name.rpartition(".")[2] for name in first} == {"whl", "gz", "json"}
    wheels = {name.partition("-")[0] for name in first if name.endswith(".whl")}
    assert wheels == {"fathom_context", "fathom_client"}


@pytest.mark.covers("B29")
def test_the_bill_names_every_pinned_package_with_its_hashes(sources: Path, tmp_path: Path) -> None:
    command = ["sh", "deploy/release.sh", str(tmp_path), "sbom"]
    subprocess.run(command, cwd=sources, env={**os.environ, "SOURCE_DATE_EPOCH": WHEN}, check=True, capture_output=True)
    [bill] = [json.loads(path.read_text()) for path in tmp_path.glob("*.cdx.json")]
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "fathom-context")
    pinned = [
        line.split()[0] for line in (ROOT / "deploy/requirements/base.txt").read_text().splitlines() if "==" in line
    ]
    named = {f"{each['name']}=={each['version']}": each for each in bill["components"]}
    assert {name.partition(";")[0].strip() for name in pinned} == named.keys()
    assert all(each["externalReferences"][0]["hashes"] for each in named.values())


@pytest.mark.covers("B29")
@pytest.mark.parametrize(
    ("said", "ended", "option", "code"),
    [
        ("No known vulnerabilities found", 0, "", 0),
        ("Found 1 known vulnerability in 1 package\nx 1.0 PYSEC-1", 1, "", 1),
        ("Found 1 known vulnerability in 1 package\nx 1.0 PYSEC-1", 1, "--offline-ok", 1),
        ("No known vulnerabilities found\nx Dependency not found on PyPI and could not be audited: x", 0, "", 4),
        (
            "No known vulnerabilities found\nx Dependency not found on PyPI and could not be audited: x",
            0,
            "--offline-ok",
            0,
        ),
        ("ConnectionError: no route", 1, "", 4),
    ],
)
def test_an_audit_that_was_none_is_not_taken_for_a_good_one(
    tmp_path: Path, said: str, ended: int, option: str, code: int
) -> None:
    """A stand-in for pip-audit, whose service most machines do not reach."""
    shutil.copytree(ROOT / "deploy/requirements", tmp_path / "deploy/requirements")
    shutil.copy(ROOT / "deploy/audit.sh", tmp_path / "deploy/audit.sh")
    stand_in = tmp_path / ".venv-release/bin/pip-audit"
    stand_in.parent.mkdir(parents=True)
    stand_in.write_text(f"#!/bin/sh\nprintf '%s\\n' '{said}'\nexit {ended}\n")
    stand_in.chmod(0o755)
    command = ["sh", str(tmp_path / "deploy/audit.sh"), *([option] if option else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert ("not audited" in done.stderr) is ("Found" not in said and (code == 4 or option != ""))


@pytest.mark.covers("B29")
def test_a_secret_in_a_file_is_found_and_a_word_about_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(f'aws = "AKIA{"Q7" * 8}"\n')
    (tmp_path / "b.md").write_text("The password is in a file that FATHOM_KAFKA_PASSWORD_FILE names.\n")
    (tmp_path / "c.pem").write_text("-----BEGIN " + "RSA PRIVATE KEY-----\n")
    found = secret_scan.found(["a.py", "b.md", "c.pem"], tmp_path)
    assert {(file, kind) for file, kind, _ in found} == {("a.py", "AWS Access Key"), ("c.pem", "Private Key")}


@pytest.mark.covers("B29")
def test_the_repository_has_no_secret_that_is_not_known() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.secret_scan"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
