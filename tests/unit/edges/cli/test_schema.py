"""`fathom schema`: schemas written and compared, values checked, and a registry with Confluent's interface."""

import json
from collections.abc import Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote

import pytest
from typer.testing import CliRunner

from streams.edges.cli.main import app
from streams.edges.client.errors import CHECK, DOWN, OK, USAGE, CommandFailed
from streams.registry import published
from streams.registry.published import PUBLISHED
from tests.builders.event_schemas import schema_of

MESSAGE = {"message_id": "m1", "role": "user", "content": "Olá", "conversation_id": "c1", "client_id": "web"}


def told(*words: str, given: str | None = None) -> tuple[int, str]:
    """Exit code and stdout; raises what ends the command otherwise."""
    done = CliRunner().invoke(app, ["schema", *words], input=given)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout


class Registry(BaseHTTPRequestHandler):
    """As much of Confluent's interface as is asked of it; it finds the subject that it `refuses` incompatible."""

    subjects: dict[str, list[str]]
    rules: dict[str, str]
    users: list[str | None]
    refuses: str = ""

    def do_GET(self) -> None:
        versions = self.subjects.get(self._subject(2))
        if versions:
            return self._answer(HTTPStatus.OK, {"schema": versions[-1]})
        return self._answer(HTTPStatus.NOT_FOUND, {"error_code": 40401, "message": "Subject not found."})

    def do_PUT(self) -> None:
        self.rules[self._subject(2)] = self._body()["compatibility"]
        self._answer(HTTPStatus.OK, {"compatibility": "x"})

    def do_POST(self) -> None:
        self.users.append(self.headers.get("authorization"))
        body = self._body()
        if self.path.startswith("/compatibility/"):
            return self._answer(HTTPStatus.OK, {"is_compatible": self._subject(3) != self.refuses})
        subject = self._subject(2)
        assert body["schemaType"] == "JSON"
        self.subjects.setdefault(subject, []).append(body["schema"])
        return self._answer(HTTPStatus.OK, {"id": len(self.subjects)})

    def _subject(self, part: int) -> str:
        return unquote(self.path.split("/")[part])

    def _body(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers["content-length"])))

    def _answer(self, status: HTTPStatus, body: dict[str, Any]) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(autouse=True)
def _schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "schema_of", schema_of)


@pytest.fixture
def registry() -> Iterator[tuple[str, type[Registry]]]:
    own = type("Own", (Registry,), {"subjects": {}, "rules": {}, "users": []})
    server = HTTPServer(("127.0.0.1", 0), own)
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", own
    server.shutdown()
    thread.join()
    server.server_close()


def test_what_is_written_is_what_a_later_version_is_compared_with(tmp_path: Path):
    code, said = told("gen", "--out", str(tmp_path / "schemas"))
    assert (code, said) == (OK, f"{len(PUBLISHED)} schemas are in {tmp_path}/schemas\n")
    assert told("diff", str(tmp_path / "schemas")) == (OK, f"0 changes since {tmp_path}/schemas break a rule\n")
    file = tmp_path / "schemas" / "chat.message-received.v1.schema.json"
    earlier = json.loads(file.read_text())
    assert json.loads(told("show", "chat.message-received.v1")[1]) == earlier
    # Of a version in which the field was there and `mood`, which is none of ours, too.
    earlier["properties"]["mood"] = {"type": "string"}
    file.write_text(json.dumps(earlier))
    code, said = told("diff", str(tmp_path / "schemas"), "--json")
    assert (code, json.loads(said)) == (CHECK, {
        "event": "chat.message-received.v1", "path": "mood", "change": "field removed", "breaks": "backward",
        "allowed": False,
    })  # fmt: skip
    (tmp_path / "schemas" / "gone.v1.schema.json").write_text("{}")
    assert "gone.v1" in told("diff", str(tmp_path / "schemas"))[1]


def test_values_are_read_as_the_topic_reads_them():
    lines = [MESSAGE, {**MESSAGE, "role": "robot"}, {**MESSAGE, "history": []}]
    code, said = told("check", "--topic", "messages.in", "--json", given="\n".join(map(json.dumps, lines)) + "\n{\n")
    assert code == CHECK
    assert [(each["line"], each["code"]) for each in map(json.loads, said.splitlines())] == [
        (2, "unknown_role"), (3, "context_field_not_allowed"), (4, "not_json"),
    ]  # fmt: skip
    assert told("check", "--topic", "messages.in", given=json.dumps(MESSAGE)) == (
        OK, "1 of 1 values are right for messages.in\n",
    )  # fmt: skip


def test_a_registry_gets_what_it_has_not_got(registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    url, kept = registry
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login ana password example\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    subject = "context-packs.out-context.pack-assembled.v1"
    only = ("publish", "--registry", url, "--topic", "context-packs.out")
    assert told(*only, "--dry-run")[1].split() == [subject, "would", "be", "registered"]
    assert kept.subjects == {}
    assert told(*only)[1].split() == [subject, "registered", "as", "1"]
    assert told(*only) == (OK, f"{subject:<64}unchanged\n")
    assert (kept.rules, [*kept.subjects]) == ({subject: "FULL_TRANSITIVE"}, [subject])
    assert kept.users[0].startswith("Basic ")
    code, _ = told("publish", "--registry", url)
    assert (code, kept.subjects.keys()) == (OK, {each.subject for each in PUBLISHED})
    assert kept.rules["messages.in-chat.message-received.v1"] == "BACKWARD_TRANSITIVE"


def test_what_a_registry_refuses_is_said_and_the_rest_is_registered(registry):
    url, kept = registry
    kept.refuses = "messages.in-chat.message-received.v1"
    code, said = told("publish", "--registry", url, "--topic", "messages.in", "--json")
    outcomes = {each["subject"]: each["outcome"] for each in map(json.loads, said.splitlines())}
    assert code == CHECK
    assert outcomes.pop(kept.refuses).startswith("refused: incompatible")
    assert all(each.startswith("registered") for each in outcomes.values())
    assert kept.refuses not in kept.subjects


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (("show", "chat.message"), "there is no event chat.message; did you mean chat.", USAGE),
        (("check", "--topic", "message.in"), "there is no topic message.in; did you mean messages.in?", USAGE),
        (("diff", "0.0.1"), "no .schema.json files, and no version of 0.1.0", USAGE),
        (("publish", "--registry", "http://127.0.0.1:1"), "the registry does not answer: http://127.0.0.1:1", DOWN),
        (("publish", "--registry", "localhost:8081"), "write the registry's URL, as http://localhost:8081", USAGE),
    ],
)
def test_a_slip_is_one_sentence(words: tuple[str, ...], said: str, code: int) -> None:
    with pytest.raises(CommandFailed, match=r"^[^\n]*$") as failed:
        told(*words)
    assert said in str(failed.value)
    assert failed.value.code == code
