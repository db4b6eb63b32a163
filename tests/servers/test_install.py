"""The installer of real servers says what is missing, and does nothing when nothing is."""

import time
from pathlib import Path

import pytest

from tests.servers import install


def test_an_unknown_server_is_refused_with_the_known_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert install.main(["kafak"]) == 2
    assert "kafka" in capsys.readouterr().err


def test_without_java_and_without_a_package_manager_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(install, "KAFKA_LIBS", tmp_path / "libs")
    assert install.main(["kafka"]) == 1
    said = capsys.readouterr().err
    assert "install a JRE" in said
    assert said.count("\n") == 1


def test_jars_of_another_version_do_not_count_as_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(install, "KAFKA_LIBS", tmp_path)
    (tmp_path / "kafka_2.13-0.0.1.jar").touch()
    assert install.kafka_libs() is None
    (tmp_path / f"kafka_2.13-{install.kafka_version()}.jar").touch()
    assert install.kafka_libs() == tmp_path


@pytest.mark.kafka
def test_a_second_installation_does_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    if install.kafka_libs() is None:
        pytest.skip("Apache Kafka is not installed: python -m tests.servers.install kafka")
    began = time.monotonic()
    assert install.main(["kafka"]) == 0
    assert time.monotonic() - began < 0.1
    assert "Fetching" not in capsys.readouterr().out
