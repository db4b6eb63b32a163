"""Whom a record is about, by its headers, its value and its key."""

import json

import pytest

from schemas.topics import TOPICS
from streams.encryption.subjects import rule_of, subjects_of

KEY = b"default|web|c1"
ANA = ("user_id", b"ana")


def of(topic: str, value: object, *headers: tuple[str, bytes], key: bytes | None = KEY) -> tuple[str, ...]:
    return subjects_of(topic, key, json.dumps(value).encode(), [("tenant", b"acme"), *headers])


@pytest.mark.parametrize(
    ("topic", "value", "headers", "expected"),
    [
        ("messages.in", {"content": "x", "client_id": "web"}, [ANA], ("acme|ana",)),
        ("messages.in", {"content": "x", "client_id": "web"}, [("ce_userid", b"ana")], ("acme|ana",)),
        ("messages.in", {"content": "x", "client_id": "web"}, [], ("acme|web",)),
        ("conversation.turns", {"user_id": "ana", "client_id": "web"}, [], ("acme|ana",)),
        ("conversation.turns", {"user_id": "ana"}, [("user_id", b"bot")], ("acme|ana", "acme|bot")),
        ("packs.partial", {"items": [{"meta": {"user_id": "bia"}}]}, [ANA], ("acme|ana", "acme|bia")),
        ("memory.summaries", {"user_id": "ana", "quoted_users": ["b", "e"]}, [], ("acme|ana", "acme|b", "acme|e")),
        ("memory.corrections", {"usuario_id": "a b"}, [], ("acme|a%20b",)),
        ("dead-letters.depth", {"content": "no event"}, [], ("acme|web",)),
        ("context-packs.out.replay.1", {"user_id": "ana"}, [], ("acme|ana",)),
        ("tools.calls.in", {"args": {"user_id": "77"}, "client_id": "web"}, [ANA], ("acme|ana",)),
    ],
)  # fmt: skip
def test_a_record_is_about_its_sender_and_all_whom_it_names(topic, value, headers, expected):
    assert of(topic, value, *headers) == expected


@pytest.mark.parametrize(
    ("topic", "value"),
    [
        ("documents.in", {"document_id": "d", "text": "x"}),
        ("memory.knowledge", {"document_id": "d"}),
        ("dead-letters.ingestion", {"document_id": "d"}),
        ("audit.heads", {"number": 1}),
        ("memory.erasures", {"user_id": "ana", "client_id": "web"}),
        ("messages.in", {"conversation_id": "c1", "client_id": "web", "forgotten": True, "user_id": "ana"}),
    ],
)
def test_documents_have_no_owner_and_wishes_to_forget_stay_readable(topic, value):
    assert of(topic, value, ANA) == ()


def test_a_profile_is_about_the_one_whose_it_is():
    assert of("documents.in", {"profile": {"user_id": "bia"}}, ANA, key=b"acme|profile-bia") == ("acme|bia",)


def test_the_audit_of_an_erasure_stays_readable_and_that_of_anything_else_does_not():
    def audit(kind: str) -> tuple[str, ...]:
        value = b'{"kind":"%b","id":"1","actor":"ana"}' % kind.encode()
        return subjects_of("memory.decisions", b"acme|x", value, [("tenant", b"acme"), ANA])

    assert [audit(kind) for kind in ("erasure", "subject-erasure", "tool")] == [(), (), ("acme|ana",)]


def test_nobodys_words_are_taken_for_a_field():
    said = 'I typed {"user_id":"bia"} and "client_id":"phone"'
    assert of("conversation.turns", {"content": said, "user_id": "ana"}) == ("acme|ana",)
    assert of("assessments.in", {"query": said}, key=b"acme|r1") == ()


def test_bytes_that_are_no_json_are_about_the_client_of_their_key():
    assert subjects_of("messages.in", KEY, b"\xff\xfe", [("tenant", b"acme")]) == ("acme|web",)
    assert subjects_of("messages.in", None, b'"user_id":"\xff"', []) == ()


def test_every_topic_of_people_has_a_rule_that_protects_it():
    nobody = {topic.name for topic in TOPICS if rule_of(topic.name) == "nobody"}
    assert nobody == {"audit.heads", "memory.erasures"}
