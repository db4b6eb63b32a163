"""Commands and paths as the demo tells a user to type them."""

import sys
from pathlib import Path

import pytest

from streams import config
from streams.edges.cli.up import console_of, next_step
from streams.edges.client.shell import fathom_command, from_here


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with Fathom in `.venv`, which is not on the PATH."""
    command = tmp_path / ".venv" / "bin" / "fathom"
    command.parent.mkdir(parents=True)
    command.touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(command.with_name("python")))
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.chdir(tmp_path)
    return command


def test_the_command_is_named_from_the_current_folder(installed: Path):
    assert fathom_command() == ".venv/bin/fathom"


def test_on_the_path_its_name_is_enough(installed: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(installed.parent))
    assert fathom_command() == "fathom"


def test_another_fathom_on_the_path_is_not_taken_for_it(installed: Path, monkeypatch: pytest.MonkeyPatch):
    other = installed.parents[2] / "other" / "fathom"
    other.parent.mkdir()
    other.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(other.parent))
    assert fathom_command() == ".venv/bin/fathom"


def test_from_elsewhere_the_whole_path_is_named_and_quoted(installed: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir("/")
    assert fathom_command() == str(installed).lstrip("/")
    spaced = installed.parents[2] / "my notes"
    spaced.mkdir()
    monkeypatch.chdir(installed.parent)
    assert from_here(spaced) == f"'{spaced}'"


def test_without_a_command_the_module_is_run(installed: Path):
    installed.unlink()
    assert fathom_command() == "python -m streams"


@pytest.mark.parametrize(("data", "where"), [(".fathom", ""), ("other", " --broker embedded://other")])
def test_what_to_type_after_up_finds_its_data_directory(installed: Path, data: str, where: str):
    said = next_step(config.load({}, broker=f"embedded://{data}/broker"))
    assert said.endswith(f': .venv/bin/fathom ingest FOLDER{where}, then .venv/bin/fathom ask "…"{where}')


def test_a_terminal_gets_the_consoles_address_with_the_token_of_the_data_directory(tmp_path: Path):
    settings = config.load({}, broker=f"embedded://{tmp_path}/broker")
    assert console_of(settings, "127.0.0.1:8088") == "http://127.0.0.1:8088/console"
    (tmp_path / "token").write_text("t0ken\n")
    assert console_of(settings, "127.0.0.1:8088") == "http://127.0.0.1:8088/console#token=t0ken"
