"""`fathom ingest --watch`: what is new, changed or gone, second by second; nothing half written."""

import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from streams.edges.cli.ingest import watch
from streams.edges.cli.ingest.files import FoundFile
from streams.edges.cli.ingest.watch import FolderWatch
from streams.edges.cli.main import app
from streams.edges.client.errors import USAGE, CommandFailed


def names(watched: FolderWatch) -> tuple[list[str], list[str]]:
    ready, gone = watched.changed()
    return [each.path.name for each in ready], [path.name for path in gone]


def write(path: Path, text: str, at: int) -> None:
    path.write_text(text)
    os.utime(path, (at, at))


def test_a_new_or_changed_file_is_given_once_when_it_rests_and_a_deleted_one_is_said_once(tmp_path: Path):
    write(tmp_path / "a.md", "# A", 1)
    watched = FolderWatch([str(tmp_path)])
    assert [each.path.name for each in watched.begin()] == ["a.md"]
    assert names(watched) == ([], [])
    write(tmp_path / "b.md", "# B", 2)
    assert names(watched) == ([], [])  # it may still be written
    write(tmp_path / "b.md", "# B and more", 3)
    assert names(watched) == ([], [])
    assert names(watched) == (["b.md"], [])
    write(tmp_path / "a.md", "# A, again", 4)
    assert [names(watched), names(watched), names(watched)] == [([], []), (["a.md"], []), ([], [])]
    (tmp_path / "a.md").unlink()
    assert [names(watched), names(watched)] == [([], ["a.md"]), ([], [])]
    write(tmp_path / "a.md", "# A", 5)
    assert [names(watched), names(watched)] == [([], []), (["a.md"], [])]


def test_a_folder_that_is_removed_and_made_again_is_watched_on(tmp_path: Path):
    place = tmp_path / "docs"
    place.mkdir()
    write(place / "a.md", "# A", 1)
    watched = FolderWatch([str(place)])
    watched.begin()
    (place / "a.md").unlink()
    place.rmdir()
    assert names(watched) == ([], ["a.md"])
    place.mkdir()
    write(place / "a.md", "# A", 2)
    assert [names(watched), names(watched)] == [([], []), (["a.md"], [])]
    with pytest.raises(CommandFailed):
        FolderWatch([str(tmp_path / "nothing")]).begin()


def test_an_interrupt_ends_it_and_what_is_deleted_is_forgotten_only_by_the_flag(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    write(tmp_path / "a.md", "# A", 1)
    asleep: list[float] = []
    sent: list[tuple[list[str], bool]] = []

    def sleep(seconds: float) -> None:
        asleep.append(seconds)
        if len(asleep) == 2:
            (tmp_path / "a.md").unlink()
        if len(asleep) == 3:
            raise KeyboardInterrupt

    def send(seen: Any, first: bool) -> None:
        sent.append(([each.path.name for each in seen if isinstance(each, FoundFile)], first))

    monkeypatch.setattr(watch.time, "sleep", sleep)
    monkeypatch.setattr(watch.clients, "run", lambda wish: (forgotten.append(wish), wish.close()))
    forgotten: list[Any] = []
    watch.follow([str(tmp_path)], send, lambda gone: watch.tell_gone(gone, "acme", {}, "host:1", forgets=False))
    said = capsys.readouterr()
    assert sent == [(["a.md"], True)]
    assert "a.md is deleted; it stays remembered: `fathom forget a.md-" in said.out
    assert "watching ended" in said.err
    assert not forgotten
    watch.tell_gone([tmp_path / "a.md"], "acme", {tmp_path / "a.md": "of-its-name"}, "host:1", forgets=True)
    assert len(forgotten) == 1
    assert "is deleted, and of-its-name forgotten" in capsys.readouterr().out


def test_the_flag_of_deletion_alone_is_wrong_use(tmp_path: Path):
    refused = CliRunner().invoke(app, ["ingest", str(tmp_path), "--forget-deleted", "--dry-run"]).exception
    assert isinstance(refused, CommandFailed)
    assert refused.code == USAGE
