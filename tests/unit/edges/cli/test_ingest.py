"""What `fathom ingest` finds, sends, leaves out and says; without a broker."""

import asyncio
import base64
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from schemas import codec
from schemas.topics import DOCUMENTS_IN
from streams.edges.cli.ingest import files, run
from streams.edges.cli.ingest.files import FoundFile, Skipped
from streams.edges.cli.ingest.unchanged import KnownDocuments
from streams.edges.cli.main import app
from streams.edges.client import documents
from streams.edges.client.errors import FAILURE, OK, USAGE, CommandFailed
from streams.kafka.records import Record
from tests.builders.pdf import pdf
from tests.unit.scenarios.test_documents import Reading


@pytest.fixture
def folder(tmp_path) -> Path:
    place = tmp_path / "docs"
    (place / "sub").mkdir(parents=True)
    (place / ".git").mkdir()
    (place / "a.md").write_text("# Férias\n\nTrinta dias.")
    (place / "sub" / "b.pdf").write_bytes(pdf([[(18, "Viagens"), (11, "O reembolso sai.")]]))
    (place / "sub" / "c.png").write_bytes(b"\x89PNG")
    (place / ".git" / "d.md").write_text("escondido")
    return place


def prepared(path: Path, tenant: str = "default", **stated: str):
    stated = {"access_level": "public", **stated}
    made = asyncio.run(files.prepare(FoundFile(path, named=True), tenant, stated, Reading()))
    return made if isinstance(made, Skipped) else made.records


def dry_run(*words: str, said: bytes = b"") -> Result:
    return CliRunner().invoke(app, ["ingest", "--dry-run", *words], input=said)


def event(made):
    return codec.decode(DOCUMENTS_IN, made.key, made.value, made.headers, partition=0, offset=0, timestamp=0)


def test_a_folder_is_its_documents_and_names_what_is_none(folder):
    found = list(files.find([str(folder), str(folder / "a.md")]))
    assert [(each.path.name, type(each)) for each in found] == [
        ("a.md", FoundFile), ("b.pdf", FoundFile), ("c.png", Skipped),
    ]  # fmt: skip
    assert found[2].code == "document_type_unknown"


def test_a_pattern_goes_into_folders_and_a_path_to_nothing_is_a_usage_error(folder):
    assert [each.path.name for each in files.find([f"{folder}/**/*.pdf"])] == ["b.pdf"]
    for nothing in (str(folder / "x.md"), f"{folder}/*.doc"):
        with pytest.raises(CommandFailed) as failed:
            list(files.find([nothing]))
        assert failed.value.code == USAGE


def test_a_file_is_a_document_of_its_heading_with_an_id_of_its_path_and_tenant(folder):
    [made] = prepared(folder / "a.md", tenant="acme", access_level="internal", lang="pt")
    read = event(made)
    assert (read.event.title, read.event.kind, read.event.access_level, read.event.lang) == (
        "Férias", "markdown", "internal", "pt",
    )  # fmt: skip
    assert (read.envelope.tenant, read.event.uri) == ("acme", (folder / "a.md").as_posix())
    [again], [other] = prepared(folder / "a.md", tenant="acme"), prepared(folder / "a.md", tenant="globex")
    assert made.name == again.name != other.name
    assert made.name.startswith("a.md-")
    (folder / "sub" / "a.md").write_text("outro")
    assert prepared(folder / "sub" / "a.md", tenant="acme")[0].name != made.name


def test_a_pdf_is_sent_as_it_is_and_one_too_large_for_a_record_as_its_text(folder, monkeypatch):
    path = folder / "sub" / "b.pdf"
    [made] = prepared(path)
    assert base64.b64decode(event(made).event.data) == path.read_bytes()
    monkeypatch.setattr(documents, "LARGEST_DATA", 100)
    [made] = prepared(path)
    assert (event(made).event.kind, event(made).event.data) == ("markdown", None)
    assert event(made).event.text == "# Viagens\n\nO reembolso sai.\f"


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("a.md", b"", "document_empty"),
        ("a.md", "férias".encode("latin-1"), "document_encoding"),
        ("a.pdf", b"PK\x03\x04", "document_type_unknown"),
        ("a.pdf", pdf([[]]), "document_empty"),
        ("a.txt", b"a " * 1_100_000, "document_too_large"),
        ("a.md", b"---", "document_empty"),
        ("a.json", b'{"document_id": "x"}', "document_invalid"),
        ("a.json", b'{"question": "Qual o prazo?", "client_id": "web"}', "document_is_chat"),
        ("a.jsonl", b'{"role": "user", "content": "Oi"}\n', "document_is_chat"),
    ],
)
def test_what_cannot_be_remembered_is_left_out_with_its_code(tmp_path, name, data, code):
    (tmp_path / name).write_bytes(data)
    left_out = prepared(tmp_path / name)
    assert isinstance(left_out, Skipped)
    assert left_out.code == code
    assert left_out.why


def test_the_largest_document_fits_into_a_record(tmp_path):
    (tmp_path / "a.pdf").write_bytes(b"%PDF-" + b"x" * (documents.LARGEST_DATA - 5))

    class Any:
        async def read(self, kind: str, data: bytes) -> str:
            return "texto"

    found = FoundFile(tmp_path / "a.pdf", named=True)
    [made] = asyncio.run(files.prepare(found, "default", {}, Any())).records
    assert len(made.value) < DOCUMENTS_IN.max_bytes


def test_profiles_and_lines_of_documents_are_sent_as_they_are(tmp_path):
    profile = {"document_id": "p", "title": "Ana", "tipo": "profile", "profile": {"user_id": "ana"}}
    (tmp_path / "p.json").write_text(json.dumps(profile))
    text = {"document_id": "d", "title": "D", "text": "Um texto."}
    (tmp_path / "l.jsonl").write_text(f"{json.dumps(text)}\n\n{json.dumps(profile)}\n")
    assert [each.name for each in prepared(tmp_path / "p.json")] == ["p"]
    assert [each.name for each in prepared(tmp_path / "l.jsonl")] == ["d", "p"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("openapi.json", '{"openapi": "3.1.0", "info": {"title": "Orders"}}'),
        ("broken.json", '{"openapi": '),
        ("list.json", '["a", "b"]'),
        ("lines.jsonl", '{"level": "info"}\n{"level": "error"}\n'),
    ],
)
def test_json_that_is_neither_document_nor_message_is_text(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    [made] = prepared(tmp_path / name)
    read = event(made).event
    assert (read.kind, read.text, read.title) == ("text", text, name.partition(".")[0])


def test_only_what_changed_is_sent_again_and_what_was_refused_is(tmp_path):
    path = tmp_path / "a.md"
    path.write_text("Trinta dias.")
    stated = tmp_path / "d.json"
    stated.write_text(json.dumps({"document_id": "d", "title": "D", "text": "x", "created_at": "2026-01-01T00:00:00Z"}))
    known = KnownDocuments()
    [first], [whole] = prepared(path), prepared(stated)
    for offset, each in enumerate((first, whole)):
        known.note(Record(each.topic, 0, offset, 0, each.key, each.value, tuple(each.headers)))
    [again] = prepared(path)
    assert again.value != first.value  # its time
    assert known.has(again, as_it_is=False)
    assert known.has(whole, as_it_is=True)
    stated.write_text(stated.read_text().replace("2026-01-01", "2026-01-02"))
    assert not known.has(prepared(stated)[0], as_it_is=True)
    assert not known.has(prepared(path, tenant="acme")[0], as_it_is=False)
    assert not known.has(prepared(path, access_level="internal")[0], as_it_is=False)
    path.write_text("Vinte dias.")
    assert not known.has(prepared(path)[0], as_it_is=False)
    place = tuple((f"__streams.errors.{name}", text) for name, text in zip(
        ("topic", "partition", "offset"), (b"documents.in", b"0", b"0"), strict=True
    ))  # fmt: skip
    known.forget(Record("dead-letters.ingestion", 0, 0, 0, first.key, first.value, place))
    assert not known.has(again, as_it_is=False)


@pytest.mark.parametrize(
    ("words", "said"),
    [(("--access", "secret"), "'secret' is not one of 'public'"), (("--lang", "fr"), "'fr' is not one of 'pt', 'en'")],
)
def test_a_wrong_access_or_language_is_said_once_and_named(folder, words, said):
    ended = dry_run(str(folder), *words)
    assert ended.exit_code == USAGE
    assert words[0] in ended.stderr
    assert said in " ".join(ended.stderr.replace("│", " ").split())


def test_an_empty_folder_is_named_with_what_could_be_in_it(tmp_path):
    ended = dry_run(str(tmp_path))
    assert isinstance(ended.exception, CommandFailed)
    assert str(ended.exception).startswith(f"no file is in {tmp_path}; put some there whose name ends in .md ")
    assert ended.exception.code == FAILURE


def test_a_dry_run_says_what_would_be_sent_and_why_not_the_rest(folder, monkeypatch):
    monkeypatch.setattr(run, "DocumentProcess", Reader)
    ended = dry_run(str(folder), "--tenant", "acme", "--json")
    assert ended.exit_code == OK
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [Path(line["path"]).name for line in lines[:-1]] == ["c.png", "a.md", "b.pdf"]
    assert lines[0]["skipped"] == "document_type_unknown"
    assert (lines[-1]["documents"], lines[-1]["skipped"], lines[-1]["dry_run"]) == (2, 1, True)


def test_a_file_that_is_named_has_its_name_as_id_and_one_of_a_folder_its_place(folder, monkeypatch):
    monkeypatch.setattr(run, "DocumentProcess", Reader)
    (folder / "sub" / "a.md").write_text("# Outras\n\nDez dias.")
    [of_top, _, of_sub] = told(dry_run(str(folder), "--json"))
    assert of_top != of_sub
    named = [told(dry_run(str(folder / place), "--json")) for place in ("a.md", "sub/a.md")]
    assert named[0] == named[1] == [documents.id_of_file("a.md", "default")]
    assert told(dry_run(str(folder / "a.md"), "--json", "--tenant", "acme")) != named[0]


def test_a_file_that_is_there_by_its_place_stays_that_document(folder):
    path = folder / "a.md"
    options = run.IngestOptions("default", {"document_id": None}, None, False, False)
    known = KnownDocuments()
    assert run.IngestRun(options)._id_of(FoundFile(path, named=True), known) == documents.id_of_file("a.md", "default")
    [before] = prepared(path)
    known.note(Record(before.topic, 0, 0, 0, before.key, before.value, ()))
    options.ids.clear()
    assert run.IngestRun(options)._id_of(FoundFile(path, named=True), known) == before.name
    assert options.ids == {path: before.name}


def told(ended: Result) -> list[str]:
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    return [line["document_id"] for line in lines if "document_id" in line]


class Reader(Reading):
    def close(self) -> None:
        """Nothing to end."""


def test_a_named_file_that_is_left_out_is_a_failure_and_standard_input_is_a_document(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "DocumentProcess", Reader)
    (tmp_path / "a.md").write_text("")
    (tmp_path / "b.md").write_text("Um texto.")
    ended = dry_run(str(tmp_path / "a.md"), str(tmp_path / "b.md"))
    assert ended.exit_code == FAILURE
    assert "a.md  document_empty: it has" in ended.stderr or "a.md  document_empty: the doc" in ended.stderr
    assert "1 documents (" in ended.stdout
    ended = dry_run("-", "--json", said=b"# Da entrada\n\nUm texto.")
    assert ended.exit_code == OK
    assert json.loads(ended.stdout.splitlines()[0])["document_id"].startswith("stdin-")


def test_one_id_is_for_one_document(folder):
    ended = dry_run(str(folder), "--id", "x")
    assert isinstance(ended.exception, CommandFailed)
    assert "--id names one document" in str(ended.exception)
    assert ended.exception.code == USAGE
