"""Two names of one field: the one on the wire, which never changes, and the attribute, which is English."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from deploy.docs.examples import Example, load
from schemas import codec
from schemas.base import Value, attributes_by_wire_name
from schemas.codec import Undecodable
from schemas.items import Provenance
from schemas.learning import CorrectionSubmitted
from schemas.memory import KnowledgeRecorded
from schemas.tool_session import Done, ToolSession
from schemas.tools import ToolConfirmation
from schemas.topics import TOOLS_RESULTS_IN
from streams.registry import published
from tests.checkout import ROOT

RELEASED = [
    pytest.param(name, schema, id=f"{version} {name}")
    for version in published.released()
    for name, schema in published.read(version).items()
]
DONE = {"call_id": "c1", "nome_tool": "buscar", "sucesso": True, "at": "2026-03-02T09:00:00Z"}
# How a Portuguese word ends that no English one does, without its accents.
PORTUGUESE = re.compile(r"(?:cao|coes|dade|agem|mente|mento|encia|ancia|ado|ada|ido|ida|inho|eiro|eira)s?$")


def models(of: type[Value] = Value) -> Iterator[type[Value]]:
    """Every value of the language, near and far."""
    for sub in of.__subclasses__():
        if sub.__module__.startswith("schemas."):
            yield sub
            yield from models(sub)


MODELS = sorted(set(models()), key=lambda model: model.__name__)
RENAMED = [
    pytest.param(example, wire, name, id=f"{example.topic.name} {example.name} {wire}")
    for example in load()
    for wire, name in attributes_by_wire_name(type(example.received().event)).items()
    if wire != name and wire in example.value
]


def paths(schema: Any, whole: dict[str, Any], at: str = "$") -> Iterator[str]:
    """Where the schema has a field, by the names on the way to it; none of ours contains itself."""
    if "$ref" in schema:
        schema = whole["$defs"][schema["$ref"].rpartition("/")[2]]
    for name, field in schema.get("properties", {}).items():
        yield f"{at}.{name}"
        yield from paths(field, whole, f"{at}.{name}")
    for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from paths(part, whole, at)
    for part in (schema.get("items"), schema.get("additionalProperties")):
        if isinstance(part, dict):
            yield from paths(part, whole, f"{at}.*")


def fields_of(name: str) -> set[str]:
    schema = json.loads((ROOT / "schemas" / "json" / f"{name}.schema.json").read_text())
    return set(paths(schema, schema))


@pytest.mark.parametrize(("name", "schema"), RELEASED)
def test_every_field_of_a_release_has_its_name_still(name: str, schema: dict[str, Any]) -> None:
    """An optional field of another name would be read as absent, and nobody would hear of it."""
    assert set(paths(schema, schema)) - fields_of(name) == set()


def test_the_fields_of_a_schema_are_found_in_all_its_parts() -> None:
    found = fields_of(KnowledgeRecorded.TYPE)
    assert {"$.temas", "$.temas.*.nome", "$.entries.*.temas.*.nivel", "$.entries.*.profile.objectives.*.id"} <= found
    changed = KnowledgeRecorded.model_json_schema(by_alias=False)
    assert {"$.temas", "$.entries.*.temas.*.nivel"}.isdisjoint(paths(changed, changed))


def test_no_attribute_has_the_name_that_only_the_wire_has() -> None:
    """What was renamed once is renamed everywhere: a field that is called `texto` in Python is a mistake."""
    renamed = {wire for model in MODELS for wire, name in attributes_by_wire_name(model).items() if wire != name}
    foreign = renamed - {"data"}  # also an English word: the bytes of a document
    assert len(foreign) > 25
    assert {name for model in MODELS for name in model.model_fields} & foreign == set()


def test_no_attribute_ends_as_only_portuguese_words_do() -> None:
    words = {word for model in MODELS for name in model.model_fields for word in name.split("_")}
    assert sorted(word for word in words if PORTUGUESE.search(word)) == []
    assert all(PORTUGUESE.search(word) for word in ("descricao", "resultado", "quantidade"))


@pytest.mark.parametrize(("example", "wire", "name"), RENAMED)
def test_the_attribute_s_name_means_nothing_on_the_wire(example: Example, wire: str, name: str) -> None:
    """As any unknown field: refused outside, ignored inside, and what the wire calls it is missing or has no value."""
    event = example.received().event
    fields = {field: value for field, value in example.value.items() if field != wire}
    assert name not in fields
    given = Example(
        example.topic, example.name, "", example.headers, example.key, {**fields, name: example.value[wire]}
    )
    if type(event).model_fields[name].is_required():
        with pytest.raises(Undecodable, match=rf"schema_invalid: (.*; )?{wire}: Field required"):
            given.received()
    elif example.topic.outside:
        with pytest.raises(Undecodable, match=rf"schema_invalid: (.*; )?{name}: Extra inputs are not permitted"):
            given.received()
    else:
        without = Example(example.topic, example.name, "", example.headers, example.key, fields)
        assert outcome(given) == outcome(without)


def outcome(example: Example) -> bytes | str:
    try:
        return codec.dump(example.received().event)
    except Undecodable as refused:
        return str(refused)


def test_both_names_at_once_are_one_field_and_an_unknown_one() -> None:
    example = load(topics=[TOOLS_RESULTS_IN])[0]
    both = {**example.value, "tool_name": "outra"}
    with pytest.raises(Undecodable, match="schema_invalid: tool_name: Extra inputs are not permitted"):
        Example(example.topic, example.name, "", example.headers, example.key, both).received()


def test_json_is_written_and_read_by_the_names_of_the_wire_only() -> None:
    done = Done.model_validate_json(json.dumps(DONE))
    assert (done.tool_name, done.succeeded) == ("buscar", True)
    assert {**DONE, "args": {}, "linhas": []} == json.loads(done.model_dump_json()) == done.model_dump(mode="json")
    session = ToolSession(calls=(done,))
    assert ToolSession.model_validate_json(session.model_dump_json()) == session
    english = {"tool_name" if name == "nome_tool" else name: value for name, value in DONE.items()}
    with pytest.raises(ValidationError, match="nome_tool\n  Field required") as refused:
        Done.model_validate_json(json.dumps(english))
    assert "tool_name\n  Extra inputs are not permitted" in str(refused.value)
    with pytest.raises(ValidationError, match=r"calls\.0\.nome_tool\n  Field required"):
        ToolSession.model_validate_json(json.dumps({"calls": [english]}))


def test_python_makes_a_value_by_its_attributes_only() -> None:
    who = {"call_id": "c1", "client_id": "web", "session_id": "s1", "approved": True}
    assert ToolConfirmation(**who, user_id="ana").model_dump() == {**who, "usuario_id": "ana"}
    with pytest.raises(ValidationError, match="user_id\n  Field required"):
        ToolConfirmation(**who, usuario_id="ana")


def test_what_is_wrong_is_said_in_the_words_of_the_wire() -> None:
    with pytest.raises(ValidationError, match="tipo\n  Input should be 'factual', 'juridico' or 'formatacao'"):
        CorrectionSubmitted.model_validate_json('{"claim_id": "k", "texto": "x", "usuario_id": "u", "tipo": "y"}')


def test_a_field_without_an_alias_has_one_name() -> None:
    assert {name: name for name in Provenance.model_fields} == attributes_by_wire_name(Provenance)
