"""Every verb with `--json` has a schema of what it prints, and the schema says something."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from streams.edges.cli.main import LazyVerb, app
from streams.edges.cli.outputs import OUTPUTS, schema_of
from tests.builders.outputs import JSON, check_output


def verbs(command: Any, words: tuple[str, ...] = ()) -> Iterator[str]:
    """The verbs that take --json, by their words."""
    command = command.loaded() if isinstance(command, LazyVerb) else command
    if any(JSON in parameter.opts for parameter in command.params):
        yield " ".join(words)
    for name, each in getattr(command, "commands", {}).items():
        yield from verbs(each, (*words, name))


def test_every_verb_that_prints_json_has_a_schema_and_no_other():
    assert sorted(verbs(typer.main.get_command(app))) == sorted(OUTPUTS)


@pytest.mark.parametrize("verb", OUTPUTS)
def test_a_schema_says_what_is_printed(verb: str):
    schema = schema_of(verb)
    Draft202012Validator.check_schema(schema)
    assert not [each for each in ({"unknown": 1}, 1, "text", None, [1]) if Draft202012Validator(schema).is_valid(each)]


@pytest.mark.parametrize(
    "arguments",
    [
        ["assess", "Obrigada!"],
        ["config", "check"],
        ["config", "show"],
        ["docs"],
        ["docs", "commands"],
        ["schema", "diff", "0.1.0"],
        ["schema", "list"],
        ["schema", "output"],
        ["schema", "output", "lag"],
        ["schema", "show", "context.pack-assembled.v1"],
        ["tool", "list"],
    ],
)
def test_what_is_printed_without_a_broker_has_its_schema(arguments: list[str]):
    printed = CliRunner().invoke(app, [*arguments, JSON]).stdout
    assert printed
    check_output([*arguments, JSON], printed)


def test_a_field_that_is_not_published_is_noticed():
    with pytest.raises(AssertionError, match="fathom layout"):
        check_output(["layout", JSON], '{"layout": "split", "switched": false, "more": 1}')


def test_a_verb_without_json_has_no_schema():
    ended = CliRunner().invoke(app, ["schema", "output", "listt", "users"])
    assert "prints JSON" in str(ended.exception)
