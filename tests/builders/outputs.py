"""What commands print with `--json`, held against the schemas that are published for it."""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

JSON = "--json"


@cache
def validator(verb: str) -> Draft202012Validator:
    """That of a verb, closed: what is printed and not published is found, too."""
    from streams.edges.cli.outputs import schema_of

    return Draft202012Validator(_closed(schema_of(verb)))


def check_output(arguments: Sequence[str], stdout: str) -> None:
    """Raises `AssertionError` where a command that was asked for JSON printed what its verb's schema does not have."""
    if JSON not in arguments or not stdout.strip():
        return
    verb = verb_of(arguments)
    for shown in values(stdout):
        wrong = [f"{each.json_path}: {each.message[:300]}" for each in validator(verb).iter_errors(shown)]
        assert not wrong, f"fathom {verb} {JSON}: {wrong}"


def values(stdout: str) -> list[Any]:
    """The JSON values of an output, one a line."""
    return [json.loads(line) for line in stdout.splitlines()]


def verb_of(arguments: Sequence[str]) -> str:
    """The words that name a verb that is published."""
    from streams.edges.cli.outputs import OUTPUTS

    words = [each for each in arguments if not each.startswith("-")]
    starts = [words[at : at + count] for at in range(len(words)) for count in (2, 1)]
    found = [" ".join(each) for each in starts if " ".join(each) in OUTPUTS]
    assert found, f"fathom {' '.join(words[:2])} has no schema of its {JSON}"
    return found[0]


def _closed(node: Any) -> Any:
    if isinstance(node, list):
        return [_closed(each) for each in node]
    if not isinstance(node, dict):
        return node
    kept = {name: _closed(each) for name, each in node.items()}
    if isinstance(node.get("properties"), dict) and node.get("type") == "object":
        kept.setdefault("additionalProperties", False)
    return kept
