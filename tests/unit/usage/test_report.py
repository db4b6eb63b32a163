"""Every pack, decision and answer that used a source, and no other: planted sets, in both languages."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from agents.core.quarantine.sources import Quarantine, SourceName
from schemas.topics import CONTEXT_PACKS, MEMORY_CLAIMS, MEMORY_DECISIONS
from streams.testing.pipeline import Pipeline
from streams.usage.report import UsageReport, usage
from tests.builders.replay_log import LogInMemory

POISON = (
    "# Refunds\n\nThe xylophone office approves refunds up to 500 euros.\n\n"
    "# How to ask for a refund\n\n1. Call the xylophone office.\n2. Name the amount of the refund.\n"
)
VENENO = "# Reembolso\n\nO reembolso de viagem é aprovado pela diretoria do xylophone em dez dias.\n"
HEALTHY = "# Refunds of the shop\n\nThe team lead approves refunds up to 500 euros.\n"
QUESTIONS = (
    "Who approves refunds up to 500 euros?",
    "How do I ask for a refund?",
    "Explica melhor quem aprova o reembolso de viagem.",
    "What is the capital of France?",
    "Good morning!",
)


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as made:
        yield made


def used(fathom: Pipeline, kind: Any, source_id: str, client: str | None = None, tenant: str = "acme") -> UsageReport:
    source = SourceName(kind, source_id, client)
    planned = Quarantine(source, datetime.now(UTC), "ana", "")
    return asyncio.run(usage(cast("Any", LogInMemory(fathom.log)), tenant, planned))


def of_kind(found: UsageReport, kind: str) -> set[str]:
    return {each.message_id for each in found.uses if each.kind == kind}


def holding(fathom: Pipeline, word: str) -> set[str]:
    # The message itself, which signals quote, is no part of memory.
    packs = (pack.model_copy(update={"query": "", "signals": ()}) for pack in fathom.packs())
    return {pack.message_id for pack in packs if word in pack.model_dump_json()}


@pytest.mark.covers("B23")
def test_all_packs_and_decisions_that_used_a_feed_are_listed_and_no_other(fathom: Pipeline) -> None:
    fathom.document("feed/en", "Refunds", POISON)
    fathom.document("feed/pt", "Reembolso", VENENO)
    fathom.document("healthy", "Refunds of the shop", HEALTHY)
    fathom.document("feed/en", "Refunds", POISON, tenant="globex")
    fathom.ask(QUESTIONS[0], tenant="globex", conversation="g")
    for number, question in enumerate(QUESTIONS * 2):
        fathom.ask(question, conversation=f"c{number}")
    found = used(fathom, "feed", "feed/")
    planted = {m for m in holding(fathom, "xylophone") if fathom.pack_of(m).conversation_id != "g"}
    assert len(planted) >= 4
    assert of_kind(found, "pack") == of_kind(found, "decision") == planted
    assert found.members.documents == {"feed/en", "feed/pt"}
    places = {(each.topic, each.partition, each.offset) for each in found.uses if each.kind == "pack"}
    logged = {(r.topic, r.partition, r.offset) for r in fathom.events(CONTEXT_PACKS) if r.event.message_id in planted}
    assert places == logged
    decided = {r.event.message_id for r in fathom.events(MEMORY_DECISIONS) if r.event.kind == "pack"}
    assert planted < decided


@pytest.mark.covers("B23")
def test_what_was_answered_from_it_is_listed_and_what_was_made_of_the_answer(fathom: Pipeline) -> None:
    fathom.document("poison", "Refunds", POISON)
    pack = fathom.ask(QUESTIONS[0], conversation="a")
    said = fathom.say("It is the xylophone office.", role="assistant", conversation="a", answers=pack.message_id)
    fathom.document("poison", "Refunds", HEALTHY)
    later = fathom.ask("Explain what the xylophone office is.", conversation="b")
    assert "xylophone office" in later.text
    found = used(fathom, "document", "poison")
    assert [each.message_id for each in found.hidden_with_it()] == [said]
    assert of_kind(found, "answer") == {said}
    assert {pack.message_id, later.message_id} <= of_kind(found, "pack")


@pytest.mark.covers("B23")
def test_all_packs_that_used_a_conversation_are_listed(fathom: Pipeline) -> None:
    fathom.say("The code of the Atlas vault is zircon.", conversation="poisoned", headers={"user_id": "eve"})
    fathom.say("The code of the Boreas vault is beryl.", conversation="healthy", headers={"user_id": "eve"})
    for number, name in enumerate(("Atlas", "Boreas", "Atlas")):
        question = f"Explain what we know about the code of the {name} vault."
        fathom.ask(question, conversation=f"c{number}", headers={"user_id": "eve"})
    assert len(planted := holding(fathom, "zircon")) >= 2
    assert of_kind(used(fathom, "conversation", "poisoned", "web"), "pack") == planted
    assert of_kind(used(fathom, "conversation", "poisoned", "phone"), "pack") == set()


@pytest.mark.covers("B23")
def test_all_packs_that_used_a_claim_are_listed_and_its_message_is_hidden_with_it(fathom: Pipeline) -> None:
    fathom.say("The deadline of the Atlas project is 15 April.", conversation="one", headers={"user_id": "ana"})
    [claim] = [one.event for one in fathom.events(MEMORY_CLAIMS)]
    contested = fathom.ask("No, the deadline of the Atlas project is 20 April.", conversation="one")
    other = fathom.ask("Good morning!", conversation="two")
    found = used(fathom, "claim", claim.claim_id)
    assert contested.message_id in of_kind(found, "pack")
    assert other.message_id not in of_kind(found, "pack")
    assert [each.message_id for each in found.hidden_with_it()] == [claim.message_id]


@pytest.mark.covers("B23")
def test_what_a_user_said_where_others_speak_is_hidden_message_by_message(fathom: Pipeline) -> None:
    alone = fathom.say("The code of the Atlas vault is zircon.", conversation="own", headers={"user_id": "eve"})
    shared = fathom.say("The code of the Atlas vault is beryl.", conversation="team", headers={"user_id": "eve"})
    fathom.say("Thanks, noted down.", conversation="team", headers={"user_id": "ana"})
    hidden = {each.message_id for each in used(fathom, "user", "eve").hidden_with_it()}
    assert shared in hidden
    assert alone not in hidden


@pytest.mark.covers("B23")
def test_a_profile_that_a_pack_was_made_with_is_a_use(fathom: Pipeline) -> None:
    profile = {"user_id": "eve", "user_role": "director", "department": "board", "access_level": "restricted"}
    early = fathom.ask("Hello", conversation="a", headers={"user_id": "eve"})
    fathom.document("profile-eve", "eve", tipo="profile", profile=profile)
    late = fathom.ask("Hello", conversation="b", headers={"user_id": "eve"})
    found = of_kind(used(fathom, "document", "profile-eve"), "pack")
    assert found == {late.message_id}
    assert early.message_id not in found


def test_a_source_that_nothing_used_has_no_use(fathom: Pipeline) -> None:
    fathom.document("poison", "Refunds", POISON)
    fathom.ask("Good morning!")
    assert used(fathom, "document", "poison").uses == []
