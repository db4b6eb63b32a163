"""The language: names, keys, ids, and the fields that the contract fixes."""

import dataclasses
import re
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.base import Conversation, Event, derive, entity_key, printable_id
from schemas.chat import AskPayload, ChatMessage
from schemas.depth import DepthClassified, RequestOptions
from schemas.items import ItemBase
from schemas.memory import ClaimAsserted, PackDecision
from schemas.packs import ContextPack
from schemas.topics import (
    CORRECTIONS_IN,
    DOCUMENTS_IN,
    FEEDBACK_IN,
    MESSAGES_IN,
    NAME,
    TOPICS,
    Topic,
    dead_letter_topic,
)
from tests.builders.event_schemas import schema_of
from tests.builders.examples import examples

CE_TYPE = re.compile(r"[a-z]+\.[a-z]+(-[a-z]+)*\.v[1-9][0-9]*")
PACK = schema_of(ContextPack, next(topic for topic in TOPICS if ContextPack in topic.events))
QUICK = settings(max_examples=examples(150), deadline=None, derandomize=True, database=None)

ids = st.text("aB7:|%_.~-/é日😀", min_size=1, max_size=4)


def subclasses(of: type[Any]) -> set[type[Any]]:
    """All of them, near and far."""
    return {found for sub in of.__subclasses__() for found in {sub, *subclasses(sub)}}


# A benchmark's own are on topics of its own.
EVENTS = sorted(
    (event for event in subclasses(Event) if event.TYPE and not event.__module__.startswith("bench.")),
    key=lambda event: event.TYPE,
)


# --- names ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_topic_names_are_dots_and_hyphens(topic: Topic) -> None:
    assert NAME.fullmatch(topic.name)


@pytest.mark.parametrize(
    "name", ["messages_in", "messages", "Messages.in", "messages..in", ".in", "messages.", "a.b-", "a b.c", "a.b\n"]
)
def test_a_topic_with_another_kind_of_name_cannot_be_made(name: str) -> None:
    with pytest.raises(ValueError, match="dots and hyphens"):
        dataclasses.replace(TOPICS[0], name=name)


def test_a_dead_letter_topic_is_named_after_its_stage() -> None:
    assert dead_letter_topic("retrieval-claims") == "dead-letters.retrieval-claims"
    assert NAME.fullmatch(dead_letter_topic("depth"))


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.__name__)
def test_an_event_type_says_domain_what_happened_and_major_version(event: type[Event]) -> None:
    assert CE_TYPE.fullmatch(event.TYPE)


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.__name__)
def test_every_event_is_on_exactly_one_topic(event: type[Event]) -> None:
    assert [topic.name for topic in TOPICS if event in topic.events] != []
    assert sum(event in topic.events for topic in TOPICS) == 1


def test_no_two_events_share_a_type_and_no_two_topics_a_name() -> None:
    assert len({event.TYPE for event in EVENTS}) == len(EVENTS)
    assert len({topic.name for topic in TOPICS}) == len(TOPICS)


# --- keys and ids -------------------------------------------------------------------------------------------------


@pytest.mark.covers("CF-61", "AC-46")
def test_ids_that_only_look_alike_joined_have_different_keys() -> None:
    one = Conversation(tenant="t", client_id="a:b", conversation_id="c")
    other = Conversation(tenant="t", client_id="a", conversation_id="b:c")
    assert one.key() == "t|a%3Ab|c"
    assert other.key() == "t|a|b%3Ac"


@pytest.mark.covers("CF-61")
@QUICK
@given(st.tuples(ids, ids, ids), st.tuples(ids, ids, ids))
def test_different_conversations_have_different_keys_and_a_key_gives_back_its_conversation(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    first, second = conversation(*one), conversation(*other)
    assert (first.key() == second.key()) == (one == other)
    assert Conversation.from_key(first.key()) == first
    assert first.key().count("|") == 2


def conversation(tenant: str, client_id: str, conversation_id: str) -> Conversation:
    return Conversation(tenant=tenant, client_id=client_id, conversation_id=conversation_id)


@pytest.mark.parametrize("key", ["", "a|b", "a|b|c|d", "||", "a| |c", "a|b|%0A"])
def test_what_is_no_conversation_key_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match=r"three parts|printable"):
        Conversation.from_key(key)


@QUICK
@given(st.tuples(ids, ids), st.tuples(ids, ids))
def test_different_entities_have_different_keys(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert (entity_key(*one) == entity_key(*other)) == (one == other)


@QUICK
@given(st.lists(st.text("a|:1", max_size=3), max_size=4), st.lists(st.text("a|:1", max_size=3), max_size=4))
def test_derived_ids_are_equal_only_for_equal_lists_of_parts(one: list[str], other: list[str]) -> None:
    assert (derive(*one) == derive(*other)) == (one == other)


def test_a_derived_id_stays_the_same_from_release_to_release() -> None:
    assert derive("messages.in:4:40") == "c79bafcf-9a3e-5673-9584-c4a23f0a083d"


@pytest.mark.parametrize("text", ["", " a", "a ", "a\nb", "\u200b", "a\u2028", "\x00", "x" * 257, "\u00a0"])
def test_ids_that_a_person_could_not_tell_apart_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="printable"):
        printable_id(text)


@pytest.mark.parametrize("text", ["a", "a b", "ação/7|x", "x" * 256])
def test_printable_ids_are_taken_as_they_are(text: str) -> None:
    assert printable_id(text) == text


# --- fields that the contract fixes ----------------------------------------------------------------------------------


@pytest.mark.covers("S1-30")
def test_the_ask_payload_has_exactly_its_four_fields() -> None:
    assert set(AskPayload.model_fields) == {"question", "conversation_id", "nickname", "client_id"}


@pytest.mark.covers("CF-57")
def test_a_chat_message_has_its_own_ids_and_what_an_assistant_may_report() -> None:
    assert set(ChatMessage.model_fields) == {
        *("message_id", "role", "content", "conversation_id", "client_id", "created_at", "answers", "pack_id"),
        *("status", "intent", "entity", "results", "legacy_answer", "narrator_failed", "unroutable", "pack"),
    } | set(RequestOptions.model_fields)


@pytest.mark.covers("S0-79")
def test_a_decision_has_the_ten_fields_of_the_audit() -> None:
    strings = {"type": "array", "items": {"type": "string"}}
    schema = schema_of(PackDecision, next(topic for topic in TOPICS if PackDecision in topic.events))
    ten = {name: schema["properties"][name] for name in TEN}
    assert set(TEN) <= set(schema["required"])
    assert (ten["detected_signals"], ten["sources_retrieved"]) == (strings, strings)
    assert ten["tokens_used"] == ten["latency_ms"] == {"type": "integer"}
    assert ten["created_at"]["format"] == "date-time"
    assert {"type": "null"} in ten["query_profile_used"]["anyOf"]


TEN = (
    *("id", "conversation_id", "message_id", "detected_signals", "depth_level", "query_profile_used"),
    *("sources_retrieved", "tokens_used", "latency_ms", "created_at"),
)


def field(name: str, of: str | None = None) -> Any:
    """The schema of a field of the pack or of one of its parts, references resolved."""
    return resolved((PACK["$defs"][of] if of else PACK)["properties"][name])


def resolved(schema: Any) -> Any:
    kinds = [kind for kind in schema.get("anyOf", [schema]) if kind != {"type": "null"}]
    assert len(kinds) == 1
    return PACK["$defs"][kinds[0]["$ref"].rpartition("/")[2]] if "$ref" in kinds[0] else kinds[0]


def list_of(name: str, of: str) -> str:
    """What a field is a list of."""
    schema = field(name, of)
    assert schema["type"] == "array"
    items: str = resolved(schema["items"])["title"]
    return items


@pytest.mark.covers("S0-49")
def test_a_pack_says_its_depth_level() -> None:
    assert "depth_level" in PACK["required"]
    assert field("depth_level")["enum"] == ["D0", "D1", "D2", "D3", "D4"]


@pytest.mark.covers("S0-50")
def test_a_pack_says_its_query_profile_or_null() -> None:
    assert "query_profile_used" in PACK["required"]
    assert PACK["properties"]["query_profile_used"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}


@pytest.mark.covers("S0-51")
def test_a_pack_says_how_many_tokens_it_is() -> None:
    assert "total_tokens_estimated" in PACK["required"]
    assert field("total_tokens_estimated")["type"] == "integer"


@pytest.mark.covers("S0-52")
def test_a_pack_always_has_a_working_set() -> None:
    assert "working_set" in PACK["required"]
    assert field("working_set")["title"] == "WorkingSetSection"
    assert list_of("recent_messages", "WorkingSetSection") == "MessageItem"
    assert field("session_summary", "WorkingSetSection") == {"type": "string"}


@pytest.mark.covers("S0-53")
def test_a_pack_may_have_an_episodic_section() -> None:
    assert "episodic" not in PACK["required"]
    assert field("episodic")["title"] == "EpisodicSection"
    assert list_of("conversation_summaries", "EpisodicSection") == "ConversationSummary"
    assert list_of("relevant_events", "EpisodicSection") == "TimePoint"


@pytest.mark.covers("S0-54")
def test_a_pack_may_have_a_semantic_section() -> None:
    assert "semantic" not in PACK["required"]
    assert field("semantic")["title"] == "SemanticSection"
    assert list_of("concepts", "SemanticSection") == "Concept"
    assert list_of("knowledge_chunks", "SemanticSection") == "Chunk"
    assert list_of("definitions", "SemanticSection") == "Knowledge"


@pytest.mark.covers("S0-55")
def test_a_pack_may_have_claims() -> None:
    assert "claims" not in PACK["required"]
    assert field("claims")["title"] == "ClaimsSection"
    assert list_of("user_claims", "ClaimsSection") == list_of("system_claims", "ClaimsSection") == "ClaimItem"
    assert list_of("contradictions", "ClaimsSection") == "Contradiction"


@pytest.mark.covers("S0-56")
def test_a_pack_may_have_a_procedural_section() -> None:
    assert "procedural" not in PACK["required"]
    assert field("procedural")["title"] == "ProceduralSection"
    assert list_of("relevant_processes", "ProceduralSection") == "Process"
    assert list_of("playbook_steps", "ProceduralSection") == "Step"


@pytest.mark.covers("S0-57")
def test_a_pack_always_says_who_asks() -> None:
    assert "persona_context" in PACK["required"]
    assert field("persona_context")["title"] == "PersonaContext"
    for name in ("user_role", "department", "access_level"):
        assert field(name, "PersonaContext")["type"] == "string"
    assert list_of("current_objectives", "PersonaContext") == "Objective"


@pytest.mark.covers("S0-58")
def test_a_pack_says_what_the_model_is_told() -> None:
    assert "llm_instructions" in PACK["required"]
    assert field("llm_instructions") == {"type": "array", "items": {"type": "string"}}


@pytest.mark.covers("S0-74")
@pytest.mark.parametrize("item", sorted(subclasses(ItemBase), key=lambda item: item.__name__))
def test_no_item_can_be_made_without_a_source_a_time_and_a_reason(item: type[ItemBase]) -> None:
    required = {name for name, field in item.model_fields.items() if field.is_required()}
    assert {"provenance", "recorded_at", "reason"} <= required
    assert "access_level" in item.model_fields


@pytest.mark.covers("CF-74")
def test_a_claim_is_asserted_contested_superseded_confirmed_or_retracted() -> None:
    assert field("status", "ClaimItem")["enum"] == ["asserted", "contested", "superseded", "confirmed", "retracted"]


def test_the_depth_levels_of_a_pack_and_of_a_classification_are_the_same() -> None:
    topic = next(topic for topic in TOPICS if DepthClassified in topic.events)
    assert schema_of(DepthClassified, topic)["$defs"]["DepthLevel"] == PACK["$defs"]["DepthLevel"]


def test_an_error_of_validation_says_nothing_of_what_was_said() -> None:
    with pytest.raises(ValidationError) as refused:
        ClaimAsserted.model_validate({"text": "o salário da Ana é 9000"})
    # Such an error may end in a log, with its traceback.
    assert "salário" not in str(refused.value)
    assert "claim_id" in str(refused.value)


@pytest.mark.parametrize(
    ("topic", "value"),
    [
        (MESSAGES_IN, {"message_id": "m", "role": "user", "content": "x", "conversation_id": "c", "client_id": "w"}),
        (DOCUMENTS_IN, {"document_id": "d", "title": "t", "text": "x"}),
        (DOCUMENTS_IN, {"document_id": "d", "deleted": True}),
        (CORRECTIONS_IN, {"claim_id": "c", "texto": "x", "usuario_id": "u", "tipo": "factual"}),
        (FEEDBACK_IN, {"message_id": "m", "pack_id": "p", "conversation_id": "c", "client_id": "w", "rating": 3}),
    ],
)
def test_a_time_without_a_zone_from_outside_is_utc(topic: Topic, value: dict[str, object]) -> None:
    def read(stated: str) -> datetime:
        return topic.adapter.validate_json(
            orjson.dumps({**value, "created_at": stated}), by_alias=True, by_name=False
        ).created_at

    assert read("2026-03-02T09:00:00.5").isoformat() == "2026-03-02T09:00:00.500000+00:00"
    assert read("2026-03-02T09:00:00-03:00") == datetime(2026, 3, 2, 12, tzinfo=UTC)
    with pytest.raises(ValidationError):
        read("yesterday")
