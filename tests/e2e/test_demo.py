"""`fathom demo` on a system that runs already."""

import json

from tests.e2e.conftest import Up
from tests.e2e.processes import fathom


def test_as_json_it_is_one_object_per_message_with_both_sides_of_the_comparison(up: Up):
    ended = fathom("demo", "--json", "--lang", "en", "--broker", up.bootstrap)
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    messages, summary = [line for line in lines if line["event"] == "message"], lines[-1]
    assert len(messages) == summary["messages"] == summary["packs"] == 15
    compared = [line["comparison"] for line in messages if line["comparison"]]
    assert len(compared) == summary["equal_answers"]["questions"] == 14
    for message in messages:
        assert message["pack"]["text"]
    both = [each for each in compared if each["pack"]["holds"] and each["rival"]["holds"]]
    assert summary["equal_answers"]["tokens"] == sum(each["pack"]["tokens"] for each in both)
    assert summary["equal_answers"]["tokens_of_rival"] == sum(each["rival"]["tokens"] for each in both)
    [call] = [line["made"] for line in lines if line["event"] == "call"]
    assert (call["status"], call["erro_codigo"]) == ("error", "contexto_ausente")
