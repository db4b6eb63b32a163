"""`fathom assess` and `fathom eval predict`: what they print and write, and how they refuse what they cannot read."""

import gzip
import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from streams.edges.cli.main import app
from streams.edges.client.errors import USAGE, CommandFailed

TEXTS = {"a": "Hello!", "b": "como assim?", "c": "Who wrote Dom Casmurro?", "d": "Write a function for X"}
LABELS = {"a": "greeting", "b": "clarification", "c": "direct_question", "d": "other"}


def written(folder: Path, lines: list[str], name: str = "items.jsonl") -> Path:
    path = folder / name
    content = "\n".join(lines).encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def predict(source: Path, target: Path, task: str = "context_needs") -> str:
    asked = ["eval", "predict", task, "--input", str(source), "--output", str(target)]
    done = CliRunner().invoke(app, asked)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("name", ["items.jsonl", "items.jsonl.gz"])
def test_each_line_gets_its_prediction_in_order(tmp_path: Path, name: str) -> None:
    lines = [json.dumps({"id": key, "text": text}) for key, text in TEXTS.items()]
    target = tmp_path / "out.jsonl"
    predict(written(tmp_path, ["", *lines], name), target)
    made = [json.loads(line) for line in target.read_text().splitlines()]
    assert made == [{"id": key, "label": label} for key, label in LABELS.items()]


def test_gold_fields_are_not_read(tmp_path: Path) -> None:
    source = written(tmp_path, [json.dumps({"id": "a", "text": "Hello!", "label": "other", "intent": "x"})])
    predict(source, tmp_path / "out")
    assert json.loads((tmp_path / "out").read_text()) == {"id": "a", "label": "greeting"}


def test_a_dash_writes_to_stdout(tmp_path: Path) -> None:
    said = predict(written(tmp_path, ['{"id":"a","text":"Hello!"}']), Path("-"))
    assert json.loads(said.splitlines()[0]) == {"id": "a", "label": "greeting"}


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (['{"id":"a","text":"x"}', "{no json"], "line 2: no JSON"),
        (['["a"]'], "line 1: no JSON object"),
        (['{"id":"a"}'], "line 1: the field 'text' is missing"),
        (['{"text":"x"}'], "line 1: the field 'id' is missing"),
        (['{"id":"a","text":7}'], "line 1: the field 'text' is no text"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_left(tmp_path: Path, lines: list[str], says: str) -> None:
    target = tmp_path / "out"
    with pytest.raises(CommandFailed, match=says) as failed:
        predict(written(tmp_path, lines), target)
    assert failed.value.code == USAGE
    assert [path.name for path in tmp_path.iterdir()] == ["items.jsonl"]


def test_what_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match=r"absent cannot be read: No such file") as failed:
        predict(tmp_path / "absent", tmp_path / "out")
    assert failed.value.code == USAGE
    no_gzip = tmp_path / "items.gz"
    no_gzip.write_bytes(b"plain")
    with pytest.raises(CommandFailed, match=r"items\.gz cannot be read"):
        predict(no_gzip, tmp_path / "out")
    source = written(tmp_path, ['{"id":"a","text":"x"}'])
    with pytest.raises(CommandFailed, match="cannot be written"):
        predict(source, tmp_path / "no" / "out")


def test_an_unknown_task_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match=r"'context_need'; did you mean context_needs\?") as failed:
        predict(written(tmp_path, []), tmp_path / "out", "context_need")
    assert failed.value.code == USAGE


@pytest.mark.covers("S3-24")
def test_assess_says_what_to_do() -> None:
    asked = ["assess", "How should I structure the repository layer?"]
    said = CliRunner().invoke(app, asked).output
    assert "architectural: needs deep context" in said
    assert "do    deep_retrieval (tier deep)" in said
    assert "call  1. search_context" in said
    assert "call  2. check_conflicts" in said
    assert "skip  check_conflicts: Nothing is proposed" in CliRunner().invoke(app, ["assess", "Who pays?"]).output
    made = json.loads(CliRunner().invoke(app, [*asked, "--json"]).output)
    assert (made["query_type"], made["recommended_tier"]) == ("architectural", "deep")


def test_assess_takes_what_is_at_hand() -> None:
    asked = ["assess", "Qual o nome da função que valida CPF?", "--json"]
    assert json.loads(CliRunner().invoke(app, asked).output)["needs_deep_context"] is True
    at_hand = CliRunner().invoke(app, [*asked, "--available", "def valida_cpf(cpf): ..."])
    assert json.loads(at_hand.output)["needs_deep_context"] is False


def test_an_installed_package_says_where_the_evaluation_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("bench", "bench.evaluation", "bench.evaluation.command", "bench.evaluation.command.packs"):
        monkeypatch.setitem(sys.modules, name, None)
    refused = CliRunner().invoke(app, ["eval", "packs", "anything"]).exception
    assert isinstance(refused, CommandFailed)
    assert str(refused) == (
        "`fathom eval` is part of Fathom's repository, not of the installed package: clone the repository, run "
        "`make dev` in it, and use its .venv/bin/fathom"
    )
