"""The golden examples and the JSON Schemas: each says of the other, and both of the codec, what is true."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator

from deploy.docs.examples import EXAMPLES, Example, load
from schemas import codec
from schemas.base import Conversation, Event, Value, attributes_by_wire_name, entity_key
from schemas.codec import Undecodable
from schemas.items import ItemBase
from schemas.memory import EntryBase
from schemas.packs import ContextPack
from schemas.retrieval import JoinTicked
from schemas.topics import BY_NAME, TOPICS, Topic
from streams.stores.tokens import O200kTokens
from tests.builders.event_schemas import schema_of

GOLDEN = load()
EVENTS = [(event, topic) for topic in TOPICS for event in topic.events]
# What draft 7 and 2020-12 understand alike, so that AsyncAPI's tools read the same files as everybody else's.
SHARED_KEYWORDS = {
    *("$schema", "$id", "$ref", "$defs", "title", "description", "default", "type", "enum", "const", "format"),
    *(
        "properties",
        "required",
        "additionalProperties",
        "propertyNames",
        "items",
        "minItems",
        "maxItems",
        "anyOf",
        "oneOf",
    ),
    *("minimum", "maximum", "minLength", "maxLength"),
}

each_topic = pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
each_event = pytest.mark.parametrize(("event", "topic"), EVENTS, ids=[event.__name__ for event, _ in EVENTS])


def validator(event: type[Event], topic: Topic) -> Validator:
    return Draft202012Validator(schema_of(event, topic))


VALIDATORS = {event: validator(event, topic) for event, topic in EVENTS}


def values(of: Any) -> list[Any]:
    """A value and all values in it."""
    if isinstance(of, Value):
        return [of, *(found for name in type(of).model_fields for found in values(getattr(of, name)))]
    return [found for part in of for found in values(part)] if isinstance(of, tuple) else []


def examples(topic: Topic) -> list[Example]:
    return [one for one in GOLDEN if one.topic == topic]


ALL_VALUES = [value for example in GOLDEN for value in values(example.received().event)]


@each_event
def test_every_event_of_every_topic_has_an_example(event: type[Event], topic: Topic) -> None:
    assert [one.name for one in GOLDEN if one.topic == topic and type(one.received().event) is event]


def test_every_file_of_the_examples_is_one() -> None:
    found = {path.relative_to(EXAMPLES) for path in EXAMPLES.rglob("*") if path.is_file()}
    assert found == {Path(one.topic.name, f"{one.name}.json") for one in GOLDEN}


@each_topic
def test_an_example_decodes_and_encodes_back_to_the_same_bytes(topic: Topic) -> None:
    for one in examples(topic):
        assert codec.dump(one.received().event) == one.raw, one.name


@each_topic
def test_an_example_says_what_it_shows_and_nothing_unknown(topic: Topic) -> None:
    for one in examples(topic):
        content = json.loads((EXAMPLES / topic.name / f"{one.name}.json").read_text())
        assert set(content) == {"description", "headers", "key", "value"}, one.name
        assert len(one.description) > 20, one.name


@each_topic
def test_the_headers_of_an_example_are_those_its_envelope_makes(topic: Topic) -> None:
    for one in examples(topic):
        received = one.received()
        made = {name: text.decode() for name, text in codec.to_headers(received.envelope)}
        if topic.outside:
            assert {name: made.get(name) for name in one.headers} == one.headers, one.name
        else:
            assert made == one.headers, one.name
        assert received.envelope.type == received.event.TYPE, one.name


@each_topic
def test_the_key_of_an_example_says_whose_it_is(topic: Topic) -> None:
    for one in examples(topic):
        received = one.received()
        event, tenant = received.event, received.envelope.tenant
        if isinstance(event, JoinTicked):
            assert one.key == "", one.name  # time belongs to a partition, not to a conversation
        elif topic.key == "entity":
            assert one.key.startswith(entity_key(tenant, "")), one.name
            assert len(one.key.split("|")) == 2, one.name
        elif hasattr(event, "client_id"):
            assert one.key == received.conversation(event.client_id, event.conversation_id).key(), one.name
        else:
            assert Conversation.from_key(one.key).tenant == tenant, one.name


@each_topic
def test_an_example_is_valid_by_its_json_schema_and_by_no_other_of_its_topic(topic: Topic) -> None:
    for one in examples(topic):
        valid = [event for event in topic.events if VALIDATORS[event].is_valid(one.value)]
        assert valid == [type(one.received().event)], one.name


@each_event
def test_a_schema_asks_for_every_field_without_a_default_and_for_its_kind_of_value(
    event: type[Event], topic: Topic
) -> None:
    rules = VALIDATORS[event]
    fields = {wire: event.model_fields[name] for wire, name in attributes_by_wire_name(event).items()}
    needed = {name for name, field in fields.items() if field.is_required()}
    assert needed <= set(rules.schema["required"])
    missing = {name for error in rules.iter_errors({}) for name in error.validator_value}
    assert missing == set(rules.schema["required"])
    booleans = {name for name in needed if fields[name].annotation is bool}
    wrong = {name: "no" if name in booleans else True for name in needed}
    assert {error.path[0] for error in rules.iter_errors(wrong) if error.path} == needed


@each_event
def test_schema_and_codec_agree_on_a_field_that_nobody_knows(event: type[Event], topic: Topic) -> None:
    """Outside it is refused, inside it is a newer producer's and does no harm."""
    one = next(one for one in examples(topic) if type(one.received().event) is event)
    wider = Example(topic, one.name, "", one.headers, one.key, {**one.value, "unheard_of": [1]})
    valid = VALIDATORS[event].is_valid(wider.value)
    if topic.outside:
        assert not valid
        with pytest.raises(Undecodable, match=r"schema_invalid: .*unheard_of"):
            wider.received()
    else:
        assert valid
        assert wider.received().event == one.received().event


def test_a_newer_field_deep_inside_a_pack_does_no_harm() -> None:
    [pack] = [one for one in GOLDEN if one.name == "d3-claims-pt"]
    value = json.loads(pack.raw)
    value["claims"]["contradictions"][0]["unheard_of"] = 1
    newer = Example(pack.topic, pack.name, "", pack.headers, pack.key, value)
    assert newer.received().event == pack.received().event
    assert VALIDATORS[ContextPack].is_valid(value)


@each_event
def test_a_schema_is_valid_2020_12_and_uses_only_what_draft_7_knows_too(event: type[Event], topic: Topic) -> None:
    schema = VALIDATORS[event].schema
    Draft202012Validator.check_schema(schema)
    assert keywords(schema) <= SHARED_KEYWORDS


def keywords(schema: Any) -> set[str]:
    if isinstance(schema, list):
        return {found for part in schema for found in keywords(part)}
    if not isinstance(schema, dict):
        return set()
    named = [part for name in ("properties", "$defs") for part in schema.get(name, {}).values()]
    rest = [part for name, part in schema.items() if name not in ("properties", "$defs")]
    return {*schema, *keywords(named), *keywords(rest)}


@each_event
def test_a_schema_names_no_host_but_its_dialect(event: type[Event], topic: Topic) -> None:
    schema = VALIDATORS[event].schema
    assert schema["$id"] == f"{event.TYPE}.schema.json"
    assert "://" not in json.dumps({**schema, "$schema": ""})


@pytest.mark.parametrize("of", [ItemBase, EntryBase], ids=lambda of: of.__name__)
def test_every_kind_of_item_and_of_entry_is_shown_in_an_example(of: type[Value]) -> None:
    shown = {type(value) for value in ALL_VALUES}
    assert set(of.__subclasses__()) <= shown


def test_examples_are_in_both_languages_and_at_every_depth() -> None:
    packs = [one.received().event for one in GOLDEN if one.topic == BY_NAME["context-packs.out"]]
    assert {pack.lang for pack in packs} == {"pt", "en"}
    assert sorted(pack.depth_level for pack in packs) == ["D0", "D1", "D2", "D3", "D4"]
    [contested] = [pack for pack in packs if pack.depth_level == "D3"]
    assert contested.claims.user_claims
    assert contested.claims.system_claims
    assert contested.claims.contradictions


def test_the_examples_of_packs_keep_to_their_budget() -> None:
    for one in GOLDEN:
        if one.topic == BY_NAME["context-packs.out"]:
            tokens = O200kTokens().count(one.value["text"])
            assert tokens == one.value["total_tokens_estimated"] <= one.value["max_tokens"]


def test_a_loader_of_examples_reads_only_the_topics_it_is_asked_for() -> None:
    assert {one.topic.name for one in load(topics=[BY_NAME["memory.claims"]])} == {"memory.claims"}
