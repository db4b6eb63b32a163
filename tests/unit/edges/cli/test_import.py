"""What `fathom import` finds, sends, leaves out and says; without a broker."""

import json
import os
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from schemas.topics import CONVERSATION_TURNS, MEMORY_ERASURES, MESSAGES_IN
from streams.edges.cli.ingest import exports
from streams.edges.cli.ingest.accepted import KnownTurns
from streams.edges.cli.ingest.past import ImportOptions, ImportRun
from streams.edges.cli.main import app
from streams.edges.client.errors import FAILURE, OK, USAGE, CommandFailed
from streams.imports.turns import FUTURE, SYSTEM
from streams.testing.pipeline import decoded

MAY = datetime(2024, 5, 1, 10, tzinfo=UTC)
SAID = {"conversation_id": "c", "role": "user", "content": "Minha alergia é a amendoim.", "created_at": MAY.isoformat()}


def lines(path: Path, *said: dict[str, Any]) -> Path:
    path.write_text("\n".join(map(json.dumps, said)))
    return path


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["import", "--dry-run", *map(str, words)])


def sent(
    *paths: Path, form: str = "auto", user: str | None = "ana", client: str = "web"
) -> tuple[list[Any], ImportRun]:
    """The records of files, as the first stage reads them."""
    made = ImportRun(ImportOptions("acme", client, user, form, None, as_json=False))
    found = []
    for file in exports.find([str(path) for path in paths]):
        for each in made._records(file):
            record = SimpleNamespace(**{name: getattr(each, name) for name in ("topic", "key", "value", "headers")})
            record.partition, record.offset, record.timestamp = 0, 0, int(datetime.now(UTC).timestamp() * 1000)
            found.append(decoded(record))
    return found, made


def test_a_turn_keeps_its_date_its_user_and_an_id_and_wants_no_pack(tmp_path: Path):
    path = lines(tmp_path / "chat.jsonl", SAID, {**SAID, "role": "assistant", "content": "Anotado."})
    first, _ = sent(path)
    assert [(each.event.role, each.event.pack, each.event.created_at) for each in first] == [
        ("user", False, MAY), ("assistant", False, MAY),
    ]  # fmt: skip
    assert {(each.envelope.tenant, each.envelope.user_id, each.event.client_id) for each in first} == {
        ("acme", "ana", "web")
    }
    again, _ = sent(path)
    assert [each.event.message_id for each in again] == [each.event.message_id for each in first]


def test_the_same_turn_of_two_files_is_sent_once_and_what_has_no_time_has_that_of_its_file(tmp_path: Path):
    undated = {**SAID, "created_at": None, "conversation_id": "d"}
    paths = [lines(tmp_path / name, {**SAID, "message_id": "m"}, undated) for name in ("a.jsonl", "b.jsonl")]
    os.utime(paths[0], (MAY.timestamp(), MAY.timestamp()))
    found, made = sent(*paths)
    assert (len(found), made.counts.there, made.counts.undated) == (2, 2, 2)
    assert found[1].event.created_at == MAY


def test_memories_are_said_in_the_order_of_their_dates(tmp_path: Path):
    days = [{"id": str(day), "memory": f"On day {day}", "created_at": f"2024-05-0{day}"} for day in (3, 2, 1)]
    (tmp_path / "m.json").write_text(json.dumps({"results": days}))
    found, _ = sent(tmp_path / "m.json")
    assert [each.event.content for each in found] == ["On day 1", "On day 2", "On day 3"]
    assert {each.event.conversation_id for each in found} == {"memories:ana"}


def test_what_is_left_out_is_counted_by_reason(tmp_path: Path):
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    long = {**SAID, "content": "x" * 300_000}
    path = lines(tmp_path / "c.jsonl", SAID, {**SAID, "role": "system"}, {**SAID, "created_at": tomorrow}, long)
    ended = run(path)
    assert ended.exit_code == OK
    assert "1 turns of 1 conversations would be sent" in ended.stdout
    assert "3 left out" in ended.stdout
    assert all(reason in ended.stderr for reason in (SYSTEM, FUTURE, "too long for a record (256,000 bytes)"))
    told = json.loads(run(path, "--json").stdout)
    assert (told["turns"], told["left_out"][SYSTEM], told["dry_run"]) == (1, 1, True)


def test_a_broken_file_is_said_with_its_line_and_what_is_before_it_is_kept(tmp_path: Path):
    path = lines(tmp_path / "c.jsonl", SAID, SAID)
    path.write_text(f"{path.read_text()}\n{{oops")
    ended = run(path)
    assert ended.exit_code == FAILURE
    assert "c.jsonl: line 3: expecting property name" in ended.stderr
    assert "correct it, and import it again" in ended.stderr
    assert "2 turns" in ended.stdout


def test_what_is_no_export_is_said_and_fails_where_it_was_named(tmp_path: Path):
    (tmp_path / "user.json").write_text('{"id": "user-1", "email": "a@example.org"}')
    named = run(tmp_path / "user.json")
    assert (named.exit_code, "of no known format" in named.stderr) == (FAILURE, True)
    lines(tmp_path / "c.jsonl", SAID)
    assert run(tmp_path).exit_code == OK
    other = run(tmp_path / "c.jsonl", "--format", "zep")
    assert (other.exit_code, "no export of zep" in other.stderr) == (FAILURE, True)
    (tmp_path / "empty").mkdir()
    for path, code, why in (
        (tmp_path / "x.json", USAGE, "does not exist"),
        (tmp_path / "empty", FAILURE, "no export is in"),
    ):
        refused = run(path).exception
        assert isinstance(refused, CommandFailed)
        assert (refused.code, why in str(refused)) == (code, True)


def test_a_name_with_terminal_codes_is_shown_as_text(tmp_path: Path):
    path = tmp_path / "\x1b[31m<b>$(id)\x07.json"
    path.write_text("{}")
    ended = run(path)
    assert "\x1b" not in ended.stderr
    assert "\\x1b[31m<b>$(id)\\x07.json" in ended.stderr


def test_the_archive_of_chatgpt_is_read_as_it_is_downloaded(tmp_path: Path):
    message = {"id": "m", "author": {"role": "user"}, "content": {"parts": ["Oi"]}, "create_time": 1.7e9}
    chats = [{"id": "c", "current_node": "m", "mapping": {"m": {"id": "m", "parent": None, "message": message}}}]
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps(chats))
        archive.writestr("user.json", "{}")
    found, _ = sent(tmp_path / "export.zip")
    assert [each.event.content for each in found] == ["Oi"]
    (tmp_path / "bad.zip").write_bytes(b"PK no")
    assert run(tmp_path / "bad.zip").exit_code == FAILURE


def test_the_log_says_what_is_there_and_what_was_forgotten_since_is_not():
    known = KnownTurns()

    def note(topic: str, key: bytes, **value: object) -> None:
        known.note(SimpleNamespace(topic=topic, key=key, value=json.dumps(value).encode(), offset=7))  # type: ignore[arg-type]

    note(CONVERSATION_TURNS.name, b"k", message_id="m", seq=3)
    note(MESSAGES_IN.name, b"k", message_id="waiting")
    note(MESSAGES_IN.name, b"k", forgotten=True)
    note(CONVERSATION_TURNS.name, b"other", message_id="m", seq=3)
    assert [known.has(b"k", name) for name in ("m", "waiting", "x")] == [True, True, False]
    note(MEMORY_ERASURES.name, b"k", up_to_seq=5)
    assert [known.has(b"k", "m"), known.has(b"k", "waiting"), known.has(b"other", "m")] == [False, True, True]


@pytest.mark.parametrize("name", ["a.json", "b.jsonl", "c.NDJSON"])
def test_a_folder_is_its_exports_without_hidden_ones(tmp_path: Path, name: str):
    (tmp_path / ".git").mkdir()
    for each in (name, ".git/x.json", "y.md"):
        (tmp_path / each).write_text("{}")
    assert [file.path.name for file in exports.find([str(tmp_path), str(tmp_path / name)])] == [name]
