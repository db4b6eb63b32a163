"""Options before a verb: a file of settings, and no progress or notes."""

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from streams.edges.cli import progress
from streams.edges.cli.main import app
from streams.edges.client.errors import CONFIG, USAGE, CommandFailed


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("FATHOM_", "RAG_"))}
    monkeypatch.setattr(os, "environ", kept)
    monkeypatch.setitem(progress._SHOWN, "notes", True)


def ran(*words: str | Path, **environment: str) -> Result:
    os.environ.update(environment)
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def value(shown: str, setting: str) -> str:
    [line] = [line for line in shown.splitlines() if line.startswith(f"{setting} ")]
    return line.split()[1]


def test_a_file_of_settings_holds_where_the_environment_says_nothing(tmp_path: Path) -> None:
    file = tmp_path / "fathom.env"
    file.write_text("# of this machine\nFATHOM_PARTITIONS=3\nFATHOM_REPLICATION=2\nRAG_ENABLE_COGRAG=on\n")
    shown = ran("--settings", file, "config", "show", FATHOM_REPLICATION="1").stdout
    assert (value(shown, "FATHOM_PARTITIONS"), value(shown, "FATHOM_REPLICATION")) == ("3", "1")
    assert value(shown, "RAG_ENABLE_COGRAG") == "True"
    # Processes that the command starts have them, too.
    assert os.environ["FATHOM_PARTITIONS"] == "3"


def test_the_environment_may_name_the_file(tmp_path: Path) -> None:
    (tmp_path / "fathom.env").write_text("FATHOM_PARTITIONS=7\n")
    shown = ran("config", "show", FATHOM_SETTINGS=str(tmp_path / "fathom.env")).stdout
    assert value(shown, "FATHOM_PARTITIONS") == "7"


@pytest.mark.parametrize(
    ("content", "says", "code"),
    [
        (None, "no such file; write a file of FATHOM_…=VALUE lines", USAGE),
        ("FATHOM_PARTITION=3", "FATHOM_PARTITION is no setting; did you mean FATHOM_PARTITIONS?", CONFIG),
        ("FATHOM_PARTITIONS", "FATHOM_PARTITIONS has no value; write FATHOM_PARTITIONS=VALUE", USAGE),
        ("PATH=/x", "PATH is no setting", CONFIG),
        ("FATHOM_PARTITIONS=3\nFATHOM_LOOK_UP='never", 'line 2, "FATHOM_LOOK_UP=\'never" is no NAME=VALUE', USAGE),
        ("FATHOM_MCP_USER=Andr\udce9", "it is no UTF-8 text", USAGE),
    ],
)
def test_a_wrong_file_is_refused_before_anything_is_done(
    tmp_path: Path, content: str | None, says: str, code: int
) -> None:
    file = tmp_path / "fathom.env"
    if content is not None:
        file.write_text(content, errors="surrogateescape")
    with pytest.raises(CommandFailed, match=f"--settings {file}: ") as refused:
        ran("--settings", file, "config", "show")
    assert says in str(refused.value)
    assert refused.value.code == code


@pytest.mark.parametrize("quiet", [["--quiet"], ["-q"], []])
def test_a_quiet_command_says_neither_progress_nor_notes(quiet: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(*quiet, "config", "show").stdout
    with progress.Progress(10) as each:
        each.advance(10)
    with progress.StatusLine() as line:
        line.say("looking")
    progress.note("nothing was done: --execute does it")
    said = capsys.readouterr().err.splitlines()
    assert [line.partition(",")[0] for line in said] == (
        [] if quiet else ["10 of 10 records", "looking", "nothing was done: --execute does it"]
    )
