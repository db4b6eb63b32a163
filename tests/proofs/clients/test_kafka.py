"""The programs of the Go and Java pages: each produces a question to a `fathom up` and consumes its pack."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders import compilers
from tests.e2e.processes import IN_MEMORY, UNHURRIED, fathom, running
from tests.proofs.clients.test_types import go_module, java_classes
from tests.servers import install

FRANZ = "github.com/twmb/franz-go@v1.20.5"
TOLD = "The team lead approves refunds up to 500 euros."


@pytest.fixture(scope="module")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The broker of a `fathom up` that has read a document, which clients of other languages may see."""
    place = tmp_path_factory.mktemp("up")
    (place / "refunds.md").write_text(f"# Refunds\n\n{TOLD}\n")
    settings = {**UNHURRIED, **IN_MEMORY, "FATHOM_LOG_LEVEL": "error"}
    with running("up", "--data", str(place / "data"), "--port", "0", stderr=place / "err", **settings) as process:
        broker = process.ready()["bootstrap"]
        for tenant in ("go", "java"):
            assert fathom("ingest", str(place / "refunds.md"), "--broker", broker, "--tenant", tenant).returncode == 0
        yield broker


def test_a_program_in_go_produces_and_consumes(bootstrap: str, tmp_path: Path) -> None:
    compilers.go()
    (tmp_path / "main.go").write_text(compilers.examples_of(compilers.CLIENTS / "go/README.md", "go")[1])
    go_module(tmp_path)
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod"}
    compilers.ran("go", "get", FRANZ, folder=tmp_path, environment=environment)
    said = compilers.ran("go", "run", ".", bootstrap, "Who approves refunds?", folder=tmp_path, environment=environment)
    assert TOLD in said


def test_a_program_in_java_produces_and_consumes(
    bootstrap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Ask.java").write_text(compilers.examples_of(compilers.CLIENTS / "java/README.md", "java")[1])
    libraries, jars = install.install_kafka(), compilers.java()
    [client] = libraries.glob("kafka-clients-*.jar")
    monkeypatch.setattr(compilers, "java", lambda: f"{jars}:{client}")
    path = java_classes(tmp_path / "classes", tmp_path / "Ask.java")
    assert TOLD in compilers.ran("java", "-cp", f"{path}:{libraries}/*", "Ask", bootstrap, "Who approves refunds?")
