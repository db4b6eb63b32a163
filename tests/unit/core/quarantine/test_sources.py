"""Which sources are quarantined, and what belongs to them."""

from datetime import UTC, datetime

import pytest

from agents.core.quarantine.sources import Quarantines
from schemas.base import PUBLIC_TENANT
from schemas.envelope import Envelope, Received
from schemas.learning import QuarantineChanged, QuarantinedMessage

AT = datetime(2026, 3, 1, tzinfo=UTC)


def changed(kind: str, source_id: str, tenant: str = "acme", **fields: object) -> Received[QuarantineChanged]:
    stated = {"state": "quarantined", "asked_by": "ana", "issued_at": AT, **fields}
    event = QuarantineChanged(source_kind=kind, source_id=source_id, **stated)
    envelope = Envelope("e", event.TYPE, "urn:test", AT, tenant, "e")
    return Received(event, envelope, "k", "memory.quarantines", 0, 0, 0)


def quarantines(*events: Received[QuarantineChanged]) -> Quarantines:
    found = Quarantines()
    for event in events:
        found.apply(event)
    return found


def test_nothing_is_hidden_without_a_quarantine() -> None:
    assert not quarantines().hidden("acme")


@pytest.mark.covers("B23")
def test_a_document_is_hidden_by_its_id_and_by_its_feed() -> None:
    hidden = quarantines(changed("document", "notes.md"), changed("feed", "wiki/")).hidden("acme")
    assert hidden.has_document("notes.md")
    assert hidden.has_document("wiki/start.md")
    assert not hidden.has_document("notes.md-2")
    assert not hidden.has_document("my-wiki/start.md")


def test_without_a_feed_no_document_begins_with_one() -> None:
    assert not quarantines(changed("document", "notes.md")).hidden("acme").has_document("other.md")


@pytest.mark.covers("B23")
def test_a_conversation_is_hidden_with_its_client_only() -> None:
    hidden = quarantines(changed("conversation", "c1", client_id="web")).hidden("acme")
    assert hidden.has_conversation("web", "c1")
    assert not hidden.has_conversation("phone", "c1")
    # Passages of an earlier version name no client.
    assert hidden.has_conversation(None, "c1")


def test_users_messages_and_claims_are_hidden_by_their_ids() -> None:
    hidden = quarantines(changed("user", "eve"), changed("message", "m1"), changed("claim", "k1")).hidden("acme")
    assert hidden.has_user("eve")
    assert hidden.has_id("m1")
    assert hidden.has_id("k1")
    assert not hidden.has_id("eve")


@pytest.mark.covers("B23")
def test_a_stretch_of_a_conversation_is_hidden_with_a_message_in_it() -> None:
    answer = QuarantinedMessage(message_id="m7", client_id="web", conversation_id="c1", seq=7)
    hidden = quarantines(changed("document", "d", messages=(answer,))).hidden("acme")
    assert hidden.has_id("m7")
    assert hidden.is_within("web", "c1", 7, 9)
    assert hidden.is_within("web", "c1", 3, 7)
    assert not hidden.is_within("web", "c1", 8, 9)
    assert not hidden.is_within("phone", "c1", 7, 9)


@pytest.mark.covers("B23")
def test_lifted_it_hides_nothing_and_what_came_with_it_neither() -> None:
    answer = QuarantinedMessage(message_id="m7", client_id="web", conversation_id="c1", seq=7)
    found = quarantines(changed("document", "d"), changed("document", "d", messages=(answer,)))
    assert found.hidden("acme").has_id("m7")
    assert [each.since for each in found.of("acme")] == [AT]
    found.apply(changed("document", "d", state="lifted"))
    assert not found.hidden("acme")
    assert found.of("acme") == ()


@pytest.mark.covers("B23")
def test_one_tenant_hides_nothing_of_another_and_the_shared_one_hides_from_all() -> None:
    found = quarantines(changed("document", "d"), changed("document", "law", PUBLIC_TENANT))
    assert found.hidden("acme").documents == {"d", "law"}
    assert found.hidden("globex").documents == {"law"}
    assert [str(each.source) for each in found.of("globex")] == []


def test_a_replaced_log_is_in_force_at_once() -> None:
    found = quarantines(changed("document", "d"))
    assert found.hidden("acme")
    found.replace(quarantines(changed("document", "e")))
    assert found.hidden("acme").documents == {"e"}


def test_a_conversation_names_its_client_and_nothing_else_does() -> None:
    with pytest.raises(ValueError, match="client_id"):
        changed("conversation", "c1")
    with pytest.raises(ValueError, match="client_id"):
        changed("document", "d", client_id="web")
