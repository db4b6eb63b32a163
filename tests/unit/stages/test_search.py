"""Searches on their topics: what the pack of the same question has, and nothing of it remembered."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from schemas.base import entity_key
from schemas.packs import ContextPack
from schemas.retrieval import SearchMade
from schemas.topics import SEARCHES_IN, SEARCHES_OUT
from streams.testing.pipeline import EPOCH, Pipeline

REFUNDS = "# Refunds\n\nThe team lead approves refunds up to 500 euros.\n\n# Travel\n\nTrips are booked by the office."
QUESTION = "Who approves refunds?"
SECTIONS = ("episodic", "semantic", "claims", "procedural")


@pytest.fixture
def fathom() -> Iterator[Pipeline]:
    with Pipeline() as pipeline:
        pipeline.document("policy", "Policy", REFUNDS)
        pipeline.document("manual", "Manual", "# Refunds\n\nRefunds of the shop are approved by its manager.")
        pipeline.say("My manager Rosa approves the refunds of our shop.", conversation="c1", headers={"user_id": "ana"})
        pipeline.say("Noted.", role="assistant", conversation="c1", headers={"user_id": "ana"})
        pipeline.say("The refunds of the hotel are approved by Otto.", conversation="c2", headers={"user_id": "ana"})
        pipeline.say("My refunds code is 7731.", conversation="c3", headers={"user_id": "ben"})
        pipeline.clock.advance(60)
        yield pipeline


def sent(fathom: Pipeline, value: dict[str, Any], *, tenant: str = "acme", user: str | None = "ana") -> None:
    value = {"request_id": f"r{len(fathom.log.of(SEARCHES_IN.name))}", "client_id": "web", **value}
    headers = {"tenant": tenant, **({"user_id": user} if user else {})}
    fathom.publish(SEARCHES_IN, value, headers, entity_key(tenant, str(value["request_id"])).encode())


def searched(fathom: Pipeline, query: str = QUESTION, *, tenant: str = "acme", user: str = "ana", **fields: Any) -> Any:
    before = {received.event.request_id for received in fathom.events(SEARCHES_OUT)}
    sent(fathom, {"query": query, **fields}, tenant=tenant, user=user)
    [made] = [each.event for each in fathom.events(SEARCHES_OUT) if each.event.request_id not in before]
    assert isinstance(made, SearchMade)
    return made


def of_pack(pack: ContextPack) -> set[str]:
    sections = [getattr(pack, name) for name in SECTIONS]
    found = [item for section in sections if section for _, items in section for item in items]
    return {item.id for item in found if getattr(item, "message_id", None) != pack.message_id}


def ids(made: SearchMade) -> set[str]:
    return {result.id for result in made.results}


@pytest.mark.parametrize(
    "question",
    [
        QUESTION,
        "Quem aprova os reembolsos?",
        "Explain in detail how refunds are approved in the shop and in the hotel",
        "No, that is wrong: refunds are approved by the director",
        "What did I say about Otto?",
        "refunds hotel",
    ],
)
def test_the_results_are_the_evidence_of_a_pack_of_a_new_conversation(fathom: Pipeline, question: str) -> None:
    made = searched(fathom, question)
    pack = fathom.ask(question, conversation="new", headers={"user_id": "ana"}, look_up="always", max_tokens=2000)
    assert (ids(made), made.evidence, made.lang) == (of_pack(pack), pack.evidence, pack.lang)
    assert [result.score for result in made.results] == sorted((r.score for r in made.results), reverse=True)


@pytest.mark.parametrize(
    ("said", "query", "found"),
    [
        ("My locker code is 12.", "locker code", True),
        ("The code of my locker is 12.", "What is the code of my locker?", True),
        ("O código do meu armário é 12.", "código do armário", True),
        ("Meu endereço de entrega é rua das Flores 12.", "endereço de entrega", True),
        ("My phone number is 555-1212.", "my sister's phone number", False),
        ("Meu telefone é 555-1212.", "telefone da minha irmã", False),
    ],
)
def test_a_fact_of_ones_own_is_found_by_the_words_of_what_it_is_about(
    fathom: Pipeline, said: str, query: str, found: bool
) -> None:
    fathom.say(said, conversation="c4", headers={"user_id": "eva"})
    fathom.clock.advance(60)
    made = searched(fathom, query, user="eva", kind="claim")
    assert ["12" in result.text for result in made.results] == [True] * found


def test_what_is_found_says_where_it_comes_from(fathom: Pipeline) -> None:
    made = searched(fathom)
    [document] = [result for result in made.results if result.document_id == "policy"]
    [turn, *_] = [result for result in made.results if result.kind == "turn"]
    assert (document.document_id, document.title[:6]) == ("policy", "Policy")
    assert "team lead" in document.text
    assert turn.conversation_id in ("c1", "c2")
    assert (turn.role, turn.client_id) == ("user", "web")
    assert turn.message_id is not None
    assert turn.text.startswith(("My manager", "The refunds of the hotel"))
    assert all(result.reason and result.tokens and result.number for result in made.results)
    assert f"[{document.number}] Policy" in made.text
    assert "## Answer" not in made.text


def test_a_search_leaves_no_trace(fathom: Pipeline) -> None:
    before = {tp: len(records) for tp, records in fathom.log.records.items() if records}
    searched(fathom)
    searched(fathom, "I moved to Lisbon and my code is 4")
    after = {tp: len(records) for tp, records in fathom.log.records.items() if records}
    assert {tp.topic for tp in after if after[tp] != before.get(tp)} == {SEARCHES_IN.name, SEARCHES_OUT.name}


def test_limit_bounds_results_and_text(fathom: Pipeline) -> None:
    all_found, one = searched(fathom), searched(fathom, limit=1)
    assert len(all_found.results) > 1
    assert [each.id for each in one.results] == [all_found.results[0].id]
    assert one.text.count("[1]") == 1
    assert "[2]" not in one.text


@pytest.mark.parametrize("kind", ["document", "turn"])
def test_kind_narrows_what_is_found(fathom: Pipeline, kind: str) -> None:
    assert {result.kind for result in searched(fathom, kind=kind).results} == {kind}


def test_claims_are_a_kind(fathom: Pipeline) -> None:
    fathom.say("My favourite colour is green.", conversation="c4", headers={"user_id": "ana"})
    made = searched(fathom, "What is my favourite colour?", kind="claim")
    [claim] = made.results
    assert (claim.kind, claim.conversation_id, claim.claim_id) == ("claim", "c4", claim.id)
    assert "green" in claim.text


def test_processes_are_found_where_they_are_asked_for(fathom: Pipeline) -> None:
    steps = "# How to deploy the service\n\n1. Build the image\n2. Run the tests\n3. Tag the release\n"
    fathom.document("howto", "Deploying", steps)
    [process] = searched(fathom, "how to deploy the service", kind="process").results
    assert (process.kind, process.text.splitlines()[0]) == ("process", "1. Build the image")


def test_events_are_a_kind(fathom: Pipeline) -> None:
    for said in ("On 14 March 2026 we visit the dentist.", "I like tea.", "My office is on the third floor."):
        fathom.say(said, conversation="c5", headers={"user_id": "ana"})
    [event] = searched(fathom, "What is on 14 March 2026?", kind="event").results
    assert (event.kind, "dentist" in event.text, event.message_id is not None) == ("event", True, True)


def test_a_document_is_searched_alone(fathom: Pipeline) -> None:
    made = searched(fathom, document_id="manual")
    assert {(result.kind, result.document_id) for result in made.results} == {("document", "manual")}
    assert searched(fathom, document_id="none").evidence == "none"


def test_a_conversation_is_searched_alone(fathom: Pipeline) -> None:
    made = searched(fathom, conversation_id="c2")
    assert {result.conversation_id for result in made.results} == {"c2"}


def test_what_few_have_is_found_among_many(fathom: Pipeline) -> None:
    for number in range(80):
        fathom.say(f"Refunds are approved by department {number}.", conversation="many", headers={"user_id": "ana"})
    made = searched(fathom, "refunds approved", conversation_id="c2", kind="turn")
    assert {result.conversation_id for result in made.results} == {"c2"}


def test_time_narrows_what_is_found(fathom: Pipeline) -> None:
    between = EPOCH + timedelta(seconds=30)
    fathom.say("Refunds are approved by Carla.", conversation="c6", headers={"user_id": "ana"})
    late = searched(fathom, since=between.isoformat())
    assert {result.conversation_id for result in late.results} == {"c6"}
    early = searched(fathom, until=between.isoformat())
    assert early.results
    assert "c6" not in {result.conversation_id for result in early.results}


def test_nobody_is_given_what_another_user_said(fathom: Pipeline) -> None:
    fathom.say("My favourite colour is green.", conversation="c4", headers={"user_id": "ana"})
    for query in ("What is my refunds code?", "refunds code 7731", "What is my favourite colour?"):
        for kind in (None, "turn", "claim", "summary"):
            narrowed = {"kind": kind} if kind else {}
            made = searched(fathom, query, user="eve", **narrowed)
            assert not [each for each in made.results if each.kind != "document"]
            own = searched(fathom, query, user="ana", conversation_id="c3", **narrowed)
            assert own.results == ()
    assert "7731" in searched(fathom, "What is my refunds code?", user="ben").text


def test_nobody_is_given_what_another_tenant_has(fathom: Pipeline) -> None:
    made = searched(fathom, tenant="beta")
    assert (made.results, made.evidence, made.degraded) == ((), "none", False)
    assert searched(fathom, tenant="beta", document_id="policy").results == ()


def test_a_quarantined_document_is_not_found(fathom: Pipeline) -> None:
    fathom.quarantine("document", "policy")
    assert "policy" not in {result.document_id for result in searched(fathom).results}


def test_rights_count(fathom: Pipeline) -> None:
    fathom.document("secret", "Secret", "# Bonuses\n\nBonuses are paid in May.", access_level="restricted")
    assert searched(fathom, "When are bonuses paid?").evidence == "none"
    profile = {"user_id": "ana", "user_role": "lead", "department": "HR", "access_level": "restricted"}
    fathom.document("p1", "Profile", tipo="profile", profile=profile)
    found = searched(fathom, "When are bonuses paid?")
    assert [result.document_id for result in found.results] == ["secret"]
    assert "lead" not in found.text


def test_nothing_is_none(fathom: Pipeline) -> None:
    made = searched(fathom, "How tall is the Eiffel tower?")
    assert (made.results, made.evidence, made.degraded, made.missing) == ((), "none", False, ())


def test_a_search_without_a_user_is_one_of_its_client(fathom: Pipeline) -> None:
    fathom.say("The garage code is 12.", conversation="c7")
    sent(fathom, {"query": "garage code", "request_id": "alone", "kind": "turn"}, user=None)
    made = fathom.one(SEARCHES_OUT, request_id="alone")
    assert (made.user_id, [result.conversation_id for result in made.results]) == ("web", ["c7"])


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"query": " "}, "query: there is no text in it"),
        ({"query": "x", "limit": 0}, "limit: Input should be greater than or equal to 1"),
        ({"query": "x", "limit": 51}, "limit: Input should be less than or equal to 50"),
        ({"query": "x", "depth": "D2"}, "depth"),
        ({"query": "x", "kind": "poem"}, "kind: Input should be 'document'"),
        ({"query": "x", "since": "2025-02-01T00:00:00Z", "until": "2025-01-01T00:00:00Z"}, "since is after until"),
        ({}, "query: Field required"),
    ],
)
def test_what_is_no_search_is_a_dead_letter_that_says_why(
    fathom: Pipeline, value: dict[str, Any], sentence: str
) -> None:
    sent(fathom, value)
    assert fathom.log.of(SEARCHES_OUT.name) == []
    [letter] = fathom.log.of("dead-letters.search")
    assert sentence in " ".join(text.decode(errors="replace") for _, text in letter.headers)


def test_a_redelivered_search_has_the_same_results(fathom: Pipeline) -> None:
    sent(fathom, {"query": QUESTION, "request_id": "again"})
    sent(fathom, {"query": QUESTION, "request_id": "again"})
    first, second = (received.event for received in fathom.events(SEARCHES_OUT))
    assert first.model_copy(update={"latency_ms": 0.0}) == second.model_copy(update={"latency_ms": 0.0})
